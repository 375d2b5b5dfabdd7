/**
 * Defines the source of the configuration when it is an OCI artifact: `spec.oci`. Pure.
 */
import * as v from 'valibot'
import { digestPattern } from '../artifact-revision.ts'
import { isVersionRange } from '../followed-ref.ts'
import { secretName, secretRefHolder, text, rule } from './fields.ts'
import type { gitSpec } from './git-spec.ts'
import { artifactUrlPattern, ipv4HostPattern, numericHostPattern, parseArtifactUrl } from './repository-url.ts'
const celText = (pattern: string): string => `'${pattern.replaceAll('\\', '\\\\')}'`

const secretHolder = v.object({ secretRef: v.pipe(v.object({ name: secretName }), v.description('A Secret in the same namespace.')) })

const url = v.pipe(
  text(2048),
  rule(
    'must be oci://registry/repository, without a user, tag or digest',
    `self.matches(${celText(artifactUrlPattern)}) && (!('ssh' + self.substring(3)).matches(${celText(numericHostPattern)}) || ('ssh' + self.substring(3)).matches(${celText(ipv4HostPattern)}))`,
    (value) => value.startsWith('oci://') && parseArtifactUrl(value) !== undefined,
  ),
  v.description('URL of the repository in the registry: oci://<registry>/<repository>.'),
)

const auth = v.pipe(
  v.object({
    dockerConfig: v.optional(
      v.pipe(secretHolder, v.description('A Secret of type kubernetes.io/dockerconfigjson with credentials for the registry.')),
    ),
    basic: v.optional(v.pipe(secretHolder, v.description('User name and password, from the keys username and password of a Secret.'))),
  }),
  rule(
    'at most one of dockerConfig and basic may be set',
    '!(has(self.dockerConfig) && has(self.basic))',
    ({ dockerConfig, basic }) => dockerConfig === undefined || basic === undefined,
  ),
)

const verify = v.object({
  secretRef: v.pipe(
    v.object({ name: secretName }),
    v.description('Secret with the trusted public keys. Each data entry is a PEM-encoded public key, as written by cosign.'),
  ),
})

/** The schema of `spec.oci`. */
export const ociSpec = v.pipe(
  v.object({
    url,
    tag: v.optional(
      v.pipe(
        v.string(),
        v.regex(/^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$/, 'must be a tag of at most 128 letters, digits, ., _ and -'),
        v.description('Tag to follow. Defaults to latest.'),
      ),
    ),
    semver: v.optional(
      v.pipe(
        text(128),
        v.check(isVersionRange, 'must be a SemVer range such as ">=1.2 <2" or "~1.4", with at most 8 ||'),
        v.description('SemVer range, such as >=1.2 <2. The tag with the highest version in the range is followed.'),
      ),
    ),
    digest: v.optional(
      v.pipe(
        v.string(),
        v.regex(digestPattern, 'must be sha256: and 64 lower-case hex digits'),
        v.description('Digest of the manifest, sha256:…, which pins one artifact.'),
      ),
    ),
    insecure: v.optional(
      v.pipe(v.boolean(), v.description('Uses http, for a registry without TLS. Credentials and proxies are not supported.')),
      false,
    ),
    auth: v.optional(v.pipe(auth, v.description('Credentials for a private repository. Set exactly one of its fields.'))),
    caBundle: v.optional(
      v.pipe(
        secretRefHolder,
        v.description('PEM-encoded CA certificates for verifying the registry, instead of the CA certificates of the system.'),
      ),
    ),
    proxy: v.optional(
      v.pipe(
        secretHolder,
        v.description(
          'Secret whose key url contains the URL of the proxy for the registry, http://[user:password@]host:port. Defaults to the value source.proxy.',
        ),
      ),
    ),
    verify: v.optional(v.pipe(verify, v.description('Publishes only artifacts that are signed by cosign with one of these keys.'))),
  }),
  rule(
    'at most one of tag, semver and digest may be set',
    '[has(self.tag), has(self.semver), has(self.digest)].filter(x, x).size() <= 1',
    ({ tag, semver, digest }) => [tag, semver, digest].filter((member) => member !== undefined).length <= 1,
  ),
  rule(
    'insecure cannot be combined with auth, caBundle or proxy',
    '!(has(self.insecure) && self.insecure) || !(has(self.auth) || has(self.caBundle) || has(self.proxy))',
    ({ insecure, ...more }) => !insecure || (more.auth === undefined && more.caBundle === undefined && more.proxy === undefined),
  ),
)

type OciSpec = v.InferOutput<typeof ociSpec>
/** How the registry of an artifact is reached, and what verifies the artifact. */
export type ArtifactAccess = Pick<OciSpec, 'auth' | 'caBundle' | 'proxy' | 'verify'>
/** The source of a GatewaySync: a git repository, or an artifact in the same terms. `oci` is set only for an artifact. */
export type SourceSpec = v.InferOutput<ReturnType<typeof gitSpec>> & { oci?: ArtifactAccess }

/** Returns what an artifact is followed by, in the terms of `spec.git`: the tag, range or digest as the ref of the repository. */
export function sourceOfArtifact({
  url: text,
  insecure,
  tag,
  semver,
  digest,
}: Pick<OciSpec, 'url' | 'tag' | 'semver' | 'digest'> & { insecure?: boolean | undefined }): {
  repo: string
  ref?: string
  semver?: string
} {
  const repo = insecure === true ? text.replace('oci://', 'oci+http://') : text
  return { repo, ...(semver === undefined ? { ref: digest ?? tag ?? 'latest' } : { semver }) }
}

/** Returns the source of a valid spec, which names exactly one. */
export function sourceOf(git: SourceSpec | undefined, oci: OciSpec | undefined): SourceSpec {
  if (git !== undefined || oci === undefined) return git as SourceSpec
  const { auth: credentials, caBundle, proxy, verify: trust } = oci
  return { ...sourceOfArtifact(oci), oci: { auth: credentials, caBundle, proxy, verify: trust } }
}
