/**
 * Where the configuration comes from: `spec.git`. Pure.
 */
import * as v from 'valibot'
import { ref, secretKeyRef, secretName, secretRefHolder, text } from './fields.ts'
import { rule } from './rule.ts'

/** Options that differ between a cluster and one machine. */
export type SpecOptions = {
  /** Accept a path or a `file:` URL as the repository: only in the standalone runner and in tests. */
  allowLocal: boolean
}

const remoteRepositoryPattern = /^(https?:\/\/[^\s]+|ssh:\/\/[^\s]+|[A-Za-z0-9_][A-Za-z0-9_.-]*@[A-Za-z0-9][A-Za-z0-9.-]*:[^\s]+)$/
const remoteRepositoryCel =
  "self.matches('^(https?://[^\\\\s]+|ssh://[^\\\\s]+|[A-Za-z0-9_][A-Za-z0-9_.-]*@[A-Za-z0-9][A-Za-z0-9.-]*:[^\\\\s]+)$')"

function repository({ allowLocal }: SpecOptions) {
  const base = v.pipe(
    text(2048),
    rule(
      'must not hold a password or token; use spec.git.auth',
      "!self.matches('^https?://[^/@]*@')",
      (value) => !/^https?:\/\/[^/@]*@/i.test(value),
    ),
    v.description('https://…, ssh://…, git@host:path, or http://… without credentials.'),
  )
  if (allowLocal) return base
  return v.pipe(
    base,
    rule('must be an https, http or ssh URL, or git@host:path', remoteRepositoryCel, (value) => remoteRepositoryPattern.test(value)),
  )
}

const auth = v.pipe(
  v.object({
    token: v.optional(v.pipe(secretRefHolder, v.description('Access token for https.'))),
    sshKey: v.optional(
      v.pipe(
        v.object({
          secretRef: secretKeyRef,
          knownHosts: v.optional(secretRefHolder),
          insecureIgnoreHostKey: v.optional(v.boolean(), false),
        }),
        v.description('Private key for ssh. Host keys are checked unless insecureIgnoreHostKey is true.'),
      ),
    ),
    githubApp: v.optional(
      v.pipe(
        v.object({
          appId: v.pipe(v.number(), v.integer(), v.minValue(1)),
          installationId: v.pipe(v.number(), v.integer(), v.minValue(1)),
          privateKeySecretRef: secretKeyRef,
          apiBaseURL: v.optional(v.pipe(v.string(), v.maxLength(2048), v.regex(/^https:\/\/[^\s]+$/, 'must be an https URL'))),
        }),
        v.description('GitHub App installation.'),
      ),
    ),
  }),
  rule(
    'at most one of token, sshKey and githubApp',
    '[has(self.token), has(self.sshKey), has(self.githubApp)].filter(x, x).size() <= 1',
    (value) => [value.token, value.sshKey, value.githubApp].filter((kind) => kind !== undefined).length <= 1,
  ),
)

/** The schema of `spec.git`. */
export function gitSpec(options: SpecOptions) {
  return v.pipe(
    v.object({
      repo: repository(options),
      ref,
      auth: v.optional(v.pipe(auth, v.description('At most one kind of credentials.'))),
      caBundle: v.optional(v.pipe(secretRefHolder, v.description('Private certificate authority of the git host, PEM.'))),
      allowedRefs: v.optional(
        v.pipe(
          v.array(text(255)),
          v.maxLength(64),
          v.description(
            'Glob patterns of refs that a request may ask for. Default: any branch or tag, no hash, no other namespace of refs.',
          ),
        ),
      ),
      verify: v.optional(
        v.pipe(
          v.object({
            mode: v.picklist(['Commit', 'Tag', 'TagAndCommit']),
            secretRef: v.object({ name: secretName }),
          }),
          v.description('Publish only what one of these PGP or SSH keys signed.'),
        ),
      ),
    }),
    rule(
      'credentials are not sent over http; use https or ssh',
      "!self.repo.lowerAscii().startsWith('http://') || !has(self.auth) || !(has(self.auth.token) || has(self.auth.sshKey) || has(self.auth.githubApp))",
      (value) => !value.repo.toLowerCase().startsWith('http://') || value.auth === undefined || Object.keys(value.auth).length === 0,
    ),
  )
}
