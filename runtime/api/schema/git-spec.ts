/**
 * Defines the source of the configuration: `spec.git`. Pure.
 */
import * as v from 'valibot'
import { commitStatus } from './commit-status.ts'
import {
  ambiguousPathPattern,
  hasAmbiguousPath,
  ipv4HostPattern,
  numericHostPattern,
  parseRepositoryUrl,
  repositoryUrlPattern,
} from './repository-url.ts'
import { fewPieces, ref, refPattern, secretKeyRef, secretName, secretRefHolder, text, isSet, listSet, rule } from './fields.ts'
import { isVersionRange } from '../followed-ref.ts'
/** Options that differ between cluster and standalone mode. */
export type SpecOptions = {
  /** Accepts a path or a `file:` URL as the repository: only in the standalone runner and in tests. */
  allowLocal: boolean
}

function repository({ allowLocal }: SpecOptions) {
  const base = v.pipe(
    text(2048),
    rule(
      'must not contain a user, password or token; use spec.git.auth',
      "!self.matches('^https?://[^/]*@')",
      (value) => !/^https?:\/\/[^/]*@/.test(value),
    ),
    v.description('URL of the repository: https://…, ssh://…, git@host:path, or http://… without credentials. Redirects are not followed.'),
  )
  if (allowLocal) return base
  return v.pipe(
    base,
    rule(
      'must be an https, http or ssh URL without a query or fragment, or git@host:path',
      `self.matches(${celText(repositoryUrlPattern)}) && (!self.matches(${celText(numericHostPattern)}) || self.matches(${celText(ipv4HostPattern)}))`,
      (value) => hasAmbiguousPath(value) || parseRepositoryUrl(value) !== undefined,
    ),
    rule(
      'must not contain a . or .. segment or a percent-encoded . / or \\',
      `!self.matches(${celText(ambiguousPathPattern)})`,
      (value) => !hasAmbiguousPath(value),
    ),
  )
}

const celText = (pattern: string): string => `'${pattern.replaceAll('\\', '\\\\')}'`

const secretHolder = v.object({ secretRef: v.pipe(v.object({ name: secretName }), v.description('A Secret in the same namespace.')) })

const sshKey = v.pipe(
  v.object({
    secretRef: v.pipe(secretKeyRef, v.description('Key of a Secret in the same namespace that contains the private key.')),
    passphrase: v.optional(v.pipe(secretRefHolder, v.description('Passphrase of an encrypted private key.'))),
    knownHosts: v.optional(v.pipe(secretRefHolder, v.description('Host keys of the git host, in the format of ssh-keyscan.'))),
    insecureIgnoreHostKey: v.optional(
      v.pipe(
        v.boolean(),
        v.description('Accepts any host key. An attacker on the network can then impersonate the git host; use it for trials only.'),
      ),
      false,
    ),
  }),
  rule(
    'knownHosts is required unless insecureIgnoreHostKey is true',
    'has(self.knownHosts) || (has(self.insecureIgnoreHostKey) && self.insecureIgnoreHostKey)',
    (value) => value.knownHosts !== undefined || value.insecureIgnoreHostKey,
  ),
  v.description('Private key for SSH and the accepted host keys.'),
)

const githubApp = v.pipe(
  v.object({
    appId: v.pipe(v.number(), v.integer(), v.minValue(1), v.description('ID of the GitHub App, as shown on its settings page.')),
    installationId: v.pipe(
      v.number(),
      v.integer(),
      v.minValue(1),
      v.description('ID of the installation: the number at the end of the URL of its settings page.'),
    ),
    privateKeySecretRef: v.pipe(secretKeyRef, v.description('Private key of the GitHub App in PEM.')),
    apiBaseURL: v.optional(
      v.pipe(
        v.string(),
        v.maxLength(2048),
        v.regex(/^https:\/\/[A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]{1,5})?(\/[A-Za-z0-9._~/-]*)?$/, 'must be an https URL'),
        v.description('API URL of GitHub Enterprise Server, https://<host>/api/v3. Defaults to the API of github.com.'),
      ),
    ),
  }),
  v.description('GitHub App that is installed on the repository. The controller requests and renews its tokens.'),
)

/** The kinds of credentials; at most one is given. */
export const gitAuthKinds = ['token', 'basic', 'clientCertificate', 'sshKey', 'githubApp'] as const

/** Credentials of a git host. */
export const gitAuth = v.pipe(
  v.object({
    token: v.optional(v.pipe(secretRefHolder, v.description('Access token for HTTPS, for any git host.'))),
    basic: v.optional(
      v.pipe(secretHolder, v.description('User name and password for HTTPS, from the keys username and password of a Secret.')),
    ),
    clientCertificate: v.optional(
      v.pipe(secretHolder, v.description('Client certificate for HTTPS, from the keys tls.crt and tls.key of a Secret.')),
    ),
    sshKey: v.optional(sshKey),
    githubApp: v.optional(githubApp),
  }),
  rule(
    'at most one of token, basic, clientCertificate, sshKey and githubApp may be set',
    `[${gitAuthKinds.map((kind) => `has(self.${kind})`).join(', ')}].filter(x, x).size() <= 1`,
    (value) => gitAuthKinds.filter((kind) => value[kind] !== undefined).length <= 1,
  ),
)

/** The credentials that the API of a host accepts as well as git. */
const apiKinds = ['token', 'basic', 'githubApp'] as const

const celHas = (named: readonly string[]): string => `has(self.auth) && (${named.map((kind) => `has(self.auth.${kind})`).join(' || ')})`

const verify = v.object({
  mode: v.pipe(
    v.picklist(['Commit', 'Tag', 'TagAndCommit']),
    v.description('What must be signed: the commit, the annotated tag that the ref names, or both.'),
  ),
  secretRef: v.pipe(
    v.object({ name: secretName }),
    v.description('Secret with the trusted public keys. Each data entry contains PGP or SSH keys.'),
  ),
})

/** What is followed; at most one of them is given. */
const refFields = {
  ref: v.optional(
    v.pipe(
      ref,
      v.description('Branch, tag, refs/… name, full commit hash, or HEAD for the default branch of the repository. Defaults to HEAD.'),
    ),
  ),
  semver: v.optional(
    v.pipe(
      text(128),
      v.check(isVersionRange, 'must be a SemVer range such as ">=1.2 <2" or "~1.4", with at most 8 ||'),
      v.description(
        'SemVer range, such as >=1.2 <2, with at most 8 alternatives (||). The tag with the highest version in the range is followed.',
      ),
    ),
  ),
  tagPattern: v.optional(
    v.pipe(
      refPattern,
      v.maxLength(200),
      v.regex(/^\S+$/, 'must not contain a space'),
      v.description('Glob pattern, such as plant-*. The matching tag with the highest name is followed; plant-10 is higher than plant-9.'),
    ),
  ),
}

/** How the git host is reached. */
const accessFields = {
  auth: v.optional(v.pipe(gitAuth, v.description('Credentials for a private repository. Set exactly one of its fields.'))),
  caBundle: v.optional(
    v.pipe(
      secretRefHolder,
      v.description('PEM-encoded CA certificates for verifying the git host, instead of the CA certificates of the system.'),
    ),
  ),
  proxy: v.optional(
    v.pipe(
      secretHolder,
      v.description(
        'Secret whose key url contains the URL of the proxy for the git host, http://[user:password@]host:port. Defaults to the value source.proxy.',
      ),
    ),
  ),
}

/** The schema of `spec.git`. */
export function gitSpec(options: SpecOptions) {
  return v.pipe(
    v.object({
      repo: repository(options),
      ...refFields,
      ...accessFields,
      allowedRefs: v.optional(
        v.pipe(
          v.array(refPattern),
          v.maxLength(64),
          isSet(),
          listSet(),
          fewPieces('ref'),
          v.description(
            'Glob patterns of the refs that webhooks and other requests may select. Defaults to all branches and tags; commit hashes and other refs are refused.',
          ),
        ),
      ),
      verify: v.optional(v.pipe(verify, v.description('Publishes only commits that are signed with one of these PGP or SSH keys.'))),
      commitStatus: v.optional(
        v.pipe(
          commitStatus,
          v.description('Reports a commit status to the git host: whether the commit was refused, and how many gateways run it.'),
        ),
      ),
    }),
    rule(
      'at most one of ref, semver and tagPattern may be set',
      '[has(self.ref), has(self.semver), has(self.tagPattern)].filter(x, x).size() <= 1',
      (value) => [value.ref, value.semver, value.tagPattern].filter((member) => member !== undefined).length <= 1,
    ),
    rule(
      'credentials are not sent over http; use https or ssh',
      `!self.repo.startsWith('http://') || !(${celHas(gitAuthKinds)})`,
      (value) => !value.repo.startsWith('http://') || kindsOf(value.auth).length === 0,
    ),
    rule(
      'an https repository does not accept sshKey; use the ssh URL of the repository',
      `!self.repo.startsWith('https://') || !(${celHas(['sshKey'])})`,
      (value) => !value.repo.startsWith('https://') || !kindsOf(value.auth).includes('sshKey'),
    ),
    rule(
      'commitStatus requires its own secretRef, or an auth with token, basic or githubApp',
      `!has(self.commitStatus) || has(self.commitStatus.secretRef) || (${celHas(apiKinds)})`,
      (value) =>
        value.commitStatus === undefined ||
        value.commitStatus.secretRef !== undefined ||
        apiKinds.some((kind) => kindsOf(value.auth).includes(kind)),
    ),
    rule(
      'an ssh repository requires auth.sshKey',
      `self.repo.matches('^https?://') || (${celHas(['sshKey'])})`,
      (value) => !isSshRepository(value.repo) || kindsOf(value.auth).includes('sshKey'),
    ),
  )
}

function kindsOf(given: v.InferOutput<typeof gitAuth> | undefined): (typeof gitAuthKinds)[number][] {
  return gitAuthKinds.filter((kind) => given?.[kind] !== undefined)
}

/** Whether a repository is reached over ssh. */
export function isSshRepository(repo: string): boolean {
  return parseRepositoryUrl(repo)?.protocol === 'ssh'
}
