/**
 * Where the configuration comes from: `spec.git`. Pure.
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
import { ref, refPattern, secretKeyRef, secretName, secretRefHolder, text } from './fields.ts'
import { rule } from './rule.ts'

/** Options that differ between a cluster and one machine. */
export type SpecOptions = {
  /** Accept a path or a `file:` URL as the repository: only in the standalone runner and in tests. */
  allowLocal: boolean
}

function repository({ allowLocal }: SpecOptions) {
  const base = v.pipe(
    text(2048),
    rule(
      'must not hold a user, password or token; use spec.git.auth',
      "!self.matches('^https?://[^/]*@')",
      (value) => !/^https?:\/\/[^/]*@/.test(value),
    ),
    v.description('URL of the repository: https://…, ssh://… or git@host:path, and http://… without credentials. No redirect is followed.'),
  )
  if (allowLocal) return base
  return v.pipe(
    base,
    rule(
      'must be an https, http or ssh URL without query and fragment, or git@host:path',
      `self.matches(${celText(repositoryUrlPattern)}) && (!self.matches(${celText(numericHostPattern)}) || self.matches(${celText(ipv4HostPattern)}))`,
      (value) => hasAmbiguousPath(value) || parseRepositoryUrl(value) !== undefined,
    ),
    rule(
      'must hold no . or .. segment and no percent-encoded . / or \\',
      `!self.matches(${celText(ambiguousPathPattern)})`,
      (value) => !hasAmbiguousPath(value),
    ),
  )
}

const celText = (pattern: string): string => `'${pattern.replaceAll('\\', '\\\\')}'`

const secretHolder = v.object({ secretRef: v.pipe(v.object({ name: secretName }), v.description('A Secret in the same namespace.')) })

const sshKey = v.pipe(
  v.object({
    secretRef: v.pipe(secretKeyRef, v.description('The private key: a key of a Secret in the same namespace.')),
    passphrase: v.optional(v.pipe(secretRefHolder, v.description('Passphrase of the private key, if it has one.'))),
    knownHosts: v.optional(v.pipe(secretRefHolder, v.description('Host keys of the git host, as ssh-keyscan prints them.'))),
    insecureIgnoreHostKey: v.optional(
      v.pipe(
        v.boolean(),
        v.description('Accepts any host key: somebody between the controller and the git host can then pose as the host. For trials.'),
      ),
      false,
    ),
  }),
  rule(
    'needs knownHosts; insecureIgnoreHostKey: true goes without',
    'has(self.knownHosts) || (has(self.insecureIgnoreHostKey) && self.insecureIgnoreHostKey)',
    (value) => value.knownHosts !== undefined || value.insecureIgnoreHostKey,
  ),
  v.description('Private key for ssh, and the host keys that the git host may show.'),
)

const githubApp = v.pipe(
  v.object({
    appId: v.pipe(v.number(), v.integer(), v.minValue(1), v.description("App ID, as the App's page at GitHub shows it.")),
    installationId: v.pipe(
      v.number(),
      v.integer(),
      v.minValue(1),
      v.description("Number at the end of the address of the installation's page at GitHub."),
    ),
    privateKeySecretRef: v.pipe(secretKeyRef, v.description('Private key of the App, PEM.')),
    apiBaseURL: v.optional(
      v.pipe(
        v.string(),
        v.maxLength(2048),
        v.regex(/^https:\/\/[A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]{1,5})?(\/[A-Za-z0-9._~/-]*)?$/, 'must be an https URL'),
        v.description('API of GitHub Enterprise Server, https://<host>/api/v3. Default: the API of github.com.'),
      ),
    ),
  }),
  v.description('A GitHub App that is installed for the repository; its tokens are fetched and renewed by the controller.'),
)

/** The kinds of credentials; at most one is given. */
export const gitAuthKinds = ['token', 'basic', 'clientCertificate', 'sshKey', 'githubApp'] as const

/** Credentials of a git host. */
export const gitAuth = v.pipe(
  v.object({
    token: v.optional(v.pipe(secretRefHolder, v.description('Access token for https, of any git host.'))),
    basic: v.optional(v.pipe(secretHolder, v.description('User and password for https: the keys username and password of a Secret.'))),
    clientCertificate: v.optional(
      v.pipe(secretHolder, v.description('Client certificate for https: the keys tls.crt and tls.key of a Secret.')),
    ),
    sshKey: v.optional(sshKey),
    githubApp: v.optional(githubApp),
  }),
  rule(
    'at most one of token, basic, clientCertificate, sshKey and githubApp',
    `[${gitAuthKinds.map((kind) => `has(self.${kind})`).join(', ')}].filter(x, x).size() <= 1`,
    (value) => gitAuthKinds.filter((kind) => value[kind] !== undefined).length <= 1,
  ),
)

/** What a host's API takes as git does. */
const apiKinds = ['token', 'basic', 'githubApp'] as const

const celHas = (named: readonly string[]): string => `has(self.auth) && (${named.map((kind) => `has(self.auth.${kind})`).join(' || ')})`

/** The schema of `spec.git`. */
export function gitSpec(options: SpecOptions) {
  return v.pipe(
    v.object({
      repo: repository(options),
      ref,
      auth: v.optional(v.pipe(gitAuth, v.description('Credentials of a private repository, of one kind.'))),
      caBundle: v.optional(
        v.pipe(
          secretRefHolder,
          v.description(
            'Certificates, PEM, of the authorities that may vouch for the git host. They take the place of those of the system.',
          ),
        ),
      ),
      proxy: v.optional(
        v.pipe(
          secretHolder,
          v.description(
            'Proxy on the way to the git host: the key url of a Secret, http://[user:password@]host:port. Default: the value source.proxy.',
          ),
        ),
      ),
      allowedRefs: v.optional(
        v.pipe(
          v.array(refPattern),
          v.maxLength(64),
          v.description(
            'Glob patterns of the refs that a push or another request may ask for. Default: any branch or tag; no hashes, no other refs.',
          ),
        ),
      ),
      verify: v.optional(
        v.pipe(
          v.object({
            mode: v.pipe(
              v.picklist(['Commit', 'Tag', 'TagAndCommit']),
              v.description('What must be signed: the commit, the annotated tag that ref names, or both.'),
            ),
            secretRef: v.pipe(
              v.object({ name: secretName }),
              v.description('Secret with the public keys; each key of its data is a file of PGP or SSH keys.'),
            ),
          }),
          v.description('Publish only commits that one of these PGP or SSH keys has signed.'),
        ),
      ),
      commitStatus: v.optional(
        v.pipe(
          commitStatus,
          v.description('Tells the git host of each wanted commit whether it was refused and how many gateways run it.'),
        ),
      ),
    }),
    rule(
      'credentials are not sent over http; use https or ssh',
      `!self.repo.startsWith('http://') || !(${celHas(gitAuthKinds)})`,
      (value) => !value.repo.startsWith('http://') || kindsOf(value.auth).length === 0,
    ),
    rule(
      'an https repository takes no sshKey; write the ssh URL of the repository',
      `!self.repo.startsWith('https://') || !(${celHas(['sshKey'])})`,
      (value) => !value.repo.startsWith('https://') || !kindsOf(value.auth).includes('sshKey'),
    ),
    rule(
      'commitStatus needs a secretRef of its own, or an auth of kind token, basic or githubApp',
      `!has(self.commitStatus) || has(self.commitStatus.secretRef) || (${celHas(apiKinds)})`,
      (value) =>
        value.commitStatus === undefined ||
        value.commitStatus.secretRef !== undefined ||
        apiKinds.some((kind) => kindsOf(value.auth).includes(kind)),
    ),
    rule(
      'an ssh repository needs auth.sshKey',
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
