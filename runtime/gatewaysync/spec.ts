/**
 * What a user may ask for: the one source of the GatewaySync spec's TypeScript types, run-time validation and CRD schema. Pure.
 */
import * as v from 'valibot'
import { crd, rule } from './rule.ts'
import { isRefName } from './values.ts'

/** Options that differ between a cluster and one machine. */
export type SpecOptions = {
  /** Accept a path or a `file:` URL as the repository: only in the standalone runner and in tests. */
  allowLocal: boolean
}

const text = (max: number) => v.pipe(v.string(), v.minLength(1, 'must not be empty'), v.maxLength(max))

const secretName = v.pipe(text(253), v.description('Name of a Secret in the same namespace.'))
const secretKey = v.pipe(text(253), v.description('Key inside the Secret.'))
const secretKeyRef = v.object({ name: secretName, key: secretKey })
const secretRefHolder = v.object({ secretRef: secretKeyRef })

const durationPattern = /^([0-9]{1,6}([.][0-9]{1,9})?(ms|s|m|h))+$/
const minimumInterval = Temporal.Duration.from({ seconds: 5 })

/** A duration such as `60s`, `5m` or `1h30m`, in milliseconds; undefined when it is not one. */
export function durationMs(value: string): number | undefined {
  if (!durationPattern.test(value)) return undefined
  const unitMs = new Map([
    ['ms', 1],
    ['s', 1000],
    ['m', 60_000],
    ['h', 3_600_000],
  ])
  const parts = value.matchAll(/([0-9]+(?:[.][0-9]+)?)(ms|s|m|h)/g)
  return parts.reduce((total, [, number, unit = '']) => total + Number(number) * (unitMs.get(unit) ?? 0), 0)
}

const celDuration = "'^([0-9]{1,6}([.][0-9]{1,9})?(ms|s|m|h))+$'"

const interval = v.pipe(
  v.string(),
  v.maxLength(16),
  v.regex(durationPattern, 'must be a duration such as 60s, 5m or 1h30m'),
  rule(
    'must be at least 5s',
    `!self.matches(${celDuration}) || duration(self) >= duration('5s')`,
    (value) => (durationMs(value) ?? Infinity) >= minimumInterval.total('milliseconds'),
  ),
  v.description('A duration such as 60s, 5m or 1h30m; at least 5s.'),
)

/** A path relative to the repository or to the gateway's data directory. */
const path = v.pipe(
  v.string(),
  v.maxLength(1024),
  rule(
    'must be relative, use / and hold no .. segment',
    "!self.startsWith('/') && !self.contains('\\\\') && !('/' + self + '/').contains('/../')",
    (value) => !value.startsWith('/') && !value.includes('\\') && !`/${value}/`.includes('/../'),
  ),
)

const ref = v.pipe(
  text(255),
  rule(
    'must be a branch, a tag, a refs/… name or a full commit hash that git accepts',
    "!self.startsWith('-') && !self.startsWith('/') && !self.endsWith('/') && !self.endsWith('.') && !self.contains('..') && !self.contains('//') && !self.contains('@{') && self != '@' && !self.matches('[\\\\x00-\\\\x20\\\\x7f~^:?*\\\\[\\\\\\\\]') && !self.matches('(^|/)[.]') && !self.matches('[.]lock(/|$)')",
    isRefName,
  ),
  v.description('Branch, tag, refs/… name or full commit hash.'),
)

const glob = v.pipe(text(512), v.description('Glob relative to the mapping source; ** crosses folders.'))

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

function git(options: SpecOptions) {
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

const polling = v.object({
  enabled: v.optional(v.pipe(v.boolean(), v.description('When false, only webhooks and other requests cause syncs.')), true),
  interval: v.optional(interval, '60s'),
})

const webhook = v.object({
  hmac: v.optional(secretRefHolder),
  token: v.optional(secretRefHolder),
})

const gateway = v.object({
  port: v.optional(
    v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(65535), v.description('Default 8088, or 8043 when tls is true.')),
  ),
  tls: v.optional(v.boolean(), false),
  caBundle: v.optional(v.pipe(secretRefHolder, v.description('Certificate authority of the gateway, PEM.'))),
  api: v.optional(
    v.pipe(
      v.object({ secretName, secretKey: v.optional(secretKey, 'apiKey') }),
      v.description('API key, name:secret, sent as X-Ignition-API-Token.'),
    ),
  ),
})

const vars = v.pipe(
  v.record(v.pipe(v.string(), v.regex(/^[A-Za-z_][A-Za-z0-9_]{0,62}$/, 'must be a variable name')), v.pipe(v.string(), v.maxLength(4096))),
  v.maxEntries(128),
  v.description('Variables for templates and patches, used as vars.<name>.'),
)

const percentOrNumber = /^(100|[0-9]{1,2})%$/
const maxDeletions = v.pipe(
  v.union([v.pipe(v.string(), v.maxLength(8)), v.pipe(v.number(), v.integer(), v.minValue(0))]),
  rule(
    'must be a percentage such as 50% or a number of files',
    "type(self) == int ? self >= 0 : string(self).matches('^(100|[0-9]{1,2})%$')",
    (value) => typeof value === 'number' || percentOrNumber.test(value),
  ),
  crd({ 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }], type: undefined, maxLength: 8 }),
  v.description('More deletions than this stop with MassDeletion until confirmed; applied above 10 deletions.'),
)

const syncPeriod = v.pipe(v.number(), v.integer(), v.minValue(5), v.maxValue(3600), v.description('Seconds between two looks for drift.'))
const excludePatterns = v.pipe(v.array(glob), v.maxLength(64))
const designerSessionPolicy = v.pipe(v.picklist(['proceed', 'wait', 'fail']), v.description('What to do while a Designer session is open.'))
const drift = v.pipe(v.picklist(['report', 'restore']), v.description('What to do about local changes of owned files.'))
const prune = v.pipe(
  v.picklist(['owned', 'all', 'none']),
  v.description('What may be deleted: files that this operator wrote, every file of the folder, or nothing.'),
)
const startPolicy = v.pipe(
  v.picklist(['block', 'start']),
  v.description('Whether a gateway waits for its first good sync before it starts.'),
)

const defaults = v.object({
  excludePatterns: v.optional(excludePatterns, []),
  vars: v.optional(vars, {}),
  syncPeriod: v.optional(syncPeriod, 30),
  designerSessionPolicy: v.optional(designerSessionPolicy, 'proceed'),
  dryRun: v.optional(v.pipe(v.boolean(), v.description('Plan and report, write nothing.')), false),
  paused: v.optional(v.pipe(v.boolean(), v.description('Write nothing; checking and acknowledging go on.')), false),
  drift: v.optional(drift, 'report'),
  prune: v.optional(prune, 'owned'),
  maxDeletions: v.optional(maxDeletions, '50%'),
  startPolicy: v.optional(startPolicy, 'block'),
})

const patch = v.object({
  file: v.pipe(text(512), v.description('Glob of the files to patch, relative to the mapping destination.')),
  set: v.pipe(
    v.record(text(512), v.pipe(v.string(), v.maxLength(4096))),
    v.maxEntries(64),
    v.description(
      'JSONPath (RFC 9535; a bare name means $.name) to new value, which may be a template. The type of the replaced value stays.',
    ),
  ),
})

const mapping = v.object({
  source: v.pipe(path, v.minLength(1, 'must not be empty'), v.description('Folder or file in the repository; may be a template.')),
  destination: v.pipe(
    path,
    v.minLength(1, 'must not be empty'),
    v.description("Path below the gateway's data directory; may be a template."),
  ),
  type: v.optional(v.picklist(['dir', 'file']), 'dir'),
  required: v.optional(v.pipe(v.boolean(), v.description('When false, an absent source leaves the destination alone.')), true),
  template: v.optional(v.pipe(v.boolean(), v.description('Render every file of this mapping with LiquidJS.')), false),
  prune: v.optional(prune),
  excludePatterns: v.optional(excludePatterns),
  patches: v.optional(v.pipe(v.array(patch), v.maxLength(32))),
})

const collections = v.object({
  root: v.pipe(path, v.minLength(1, 'must not be empty'), v.description('Folder in the repository that holds one folder per collection.')),
  mode: v.optional(v.pipe(text(255), v.description('Deployment mode, or auto: what the gateway itself is started with.')), 'auto'),
})

const profile = v.pipe(
  v.object({
    collections: v.optional(collections),
    mappings: v.optional(v.pipe(v.array(mapping), v.maxLength(64))),
    excludePatterns: v.optional(excludePatterns),
    vars: v.optional(vars),
    syncPeriod: v.optional(syncPeriod),
    designerSessionPolicy: v.optional(designerSessionPolicy),
    dryRun: v.optional(v.boolean()),
    paused: v.optional(v.boolean()),
    drift: v.optional(drift),
    prune: v.optional(prune),
    maxDeletions: v.optional(maxDeletions),
    startPolicy: v.optional(startPolicy),
  }),
  rule(
    'a profile needs collections or mappings',
    'has(self.collections) || has(self.mappings)',
    (value) => value.collections !== undefined || value.mappings !== undefined,
  ),
)

const profileName = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/
const profiles = v.pipe(
  v.record(v.string(), profile),
  v.minEntries(1, 'at least one profile is needed'),
  v.maxEntries(32),
  rule(
    'profile names are lower-case letters, digits and -, at most 63',
    "self.all(k, k.matches('^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'))",
    (value) => Object.keys(value).every((name) => profileName.test(name)),
  ),
)

const sync = v.object({
  defaults: v.optional(v.pipe(defaults, v.description('Settings of every profile that does not set them itself.')), {}),
  profiles: v.pipe(profiles, v.description('What goes where; a pod chooses by annotation, default "default".')),
})

const validation = v.object({
  policy: v.optional(
    v.pipe(v.picklist(['Enforce', 'Warn', 'Off']), v.description('Enforce keeps the last good commit when a check finds an error.')),
    'Enforce',
  ),
  rules: v.optional(
    v.pipe(
      v.record(v.pipe(v.string(), v.regex(/^[a-z0-9-]{1,63}$/)), v.picklist(['error', 'warning', 'off'])),
      v.maxEntries(64),
      v.description('Severity per rule of docs/rules.md.'),
    ),
    {},
  ),
})

const quantity = v.pipe(
  v.union([v.pipe(v.string(), v.maxLength(32)), v.pipe(v.number(), v.integer(), v.minValue(0))]),
  crd({
    'x-kubernetes-int-or-string': true,
    anyOf: [{ type: 'integer' }, { type: 'string' }],
    type: undefined,
    pattern: '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$',
  }),
)
const quantities = v.pipe(v.record(v.string(), quantity), v.maxEntries(16))

const agent = v.object({
  image: v.optional(
    v.pipe(
      v.object({
        repository: v.optional(text(512)),
        tag: v.optional(text(128)),
        pullPolicy: v.optional(v.picklist(['Always', 'IfNotPresent', 'Never'])),
      }),
      v.description('Taken only where the installation value agent.allowImageOverride permits it.'),
    ),
  ),
  resources: v.optional(v.object({ requests: v.optional(quantities), limits: v.optional(quantities) })),
  imagePullSecrets: v.optional(v.pipe(v.array(v.object({ name: secretName })), v.maxLength(16))),
})

/** The schema of `spec`. Parsing applies the same defaults as the API server does. */
export function gatewaySyncSpec(options: SpecOptions) {
  return v.object({
    git: v.pipe(git(options), v.description('Where the configuration comes from.')),
    polling: v.optional(v.pipe(polling, v.description('How often the git host is asked.')), {}),
    webhook: v.optional(v.pipe(webhook, v.description("Replaces the operator's global pair for this resource; either suffices."))),
    gateway: v.optional(v.pipe(gateway, v.description("The gateway's own HTTP API.")), {}),
    sync: v.pipe(sync, v.description('Which folders go where.')),
    validation: v.optional(v.pipe(validation, v.description('Checks of resource collections before a commit is published.')), {}),
    agent: v.optional(v.pipe(agent, v.description('The injected container.'))),
    paused: v.optional(v.pipe(v.boolean(), v.description('Stops gateway writes only; fetching, checking and acknowledging go on.')), false),
  })
}

type SpecSchema = ReturnType<typeof gatewaySyncSpec>
/** A spec with every default applied. */
export type GatewaySyncSpec = v.InferOutput<SpecSchema>
/** A spec as a user writes it. */
export type GatewaySyncSpecInput = v.InferInput<SpecSchema>
export type GitSpec = GatewaySyncSpec['git']
export type SyncDefaults = GatewaySyncSpec['sync']['defaults']
export type Profile = GatewaySyncSpec['sync']['profiles'][string]
export type Mapping = NonNullable<Profile['mappings']>[number]
export type Collections = NonNullable<Profile['collections']>
export type GatewaySpec = GatewaySyncSpec['gateway']
