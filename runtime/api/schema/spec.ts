/**
 * Defines the GatewaySync spec: the source of its TypeScript types, run-time validation and CRD schema. Pure.
 */
import * as v from 'valibot'
import { captureSpec } from './capture-spec.ts'
import { interval, secretKey, secretName, secretRefHolder, text, crd, listMap, rule } from './fields.ts'
import { gitSpec, isSshRepository, type SpecOptions } from './git-spec.ts'
import { ociSpec, sourceOf } from './oci-spec.ts'
import { rolloutSpec } from './rollout-spec.ts'
import { syncSpec } from './sync-spec.ts'

const polling = v.object({
  enabled: v.optional(
    v.pipe(
      v.boolean(),
      v.description(
        'Whether to poll the git host. If false, only webhooks and other requests trigger syncs; each new leader also checks once.',
      ),
    ),
    true,
  ),
  interval: v.optional(v.pipe(interval, v.description('Interval between polls, such as 60s, 5m or 1h30m. At least 5s.')), '60s'),
})

const webhook = v.object({
  hmac: v.optional(v.pipe(secretRefHolder, v.description('HMAC key with which the git host signs webhooks.'))),
  token: v.optional(v.pipe(secretRefHolder, v.description('Bearer token for other senders.'))),
  repo: v.optional(
    v.pipe(
      v.string(),
      v.minLength(1),
      v.maxLength(2048),
      v.description(
        'URL of the repository as it appears in webhooks, if it differs from spec.git.repo because of a mirror or an internal address.',
      ),
    ),
  ),
})

/** The schema of `spec.gateway`. */
export const gatewaySettings = v.object({
  port: v.optional(
    v.pipe(
      v.number(),
      v.integer(),
      v.minValue(1),
      v.maxValue(65535),
      v.description('Port of the gateway. Defaults to 8088, or to 8043 if tls is true.'),
    ),
  ),
  tls: v.optional(v.pipe(v.boolean(), v.description('Whether the gateway serves its HTTP API over TLS.')), false),
  caBundle: v.optional(v.pipe(secretRefHolder, v.description('PEM-encoded CA certificates for verifying the gateway.'))),
  api: v.optional(
    v.pipe(
      v.object({ secretName, secretKey: v.optional(secretKey, 'apiKey') }),
      v.description('API key of the gateway, <name>:<secret>, sent in the header X-Ignition-API-Token.'),
    ),
  ),
})

/** The schema of `spec.validation`. */
export const validationSettings = v.object({
  policy: v.optional(
    v.pipe(
      v.picklist(['Enforce', 'Warn', 'Off']),
      v.description(
        'Enforce refuses a commit with errors, Warn publishes it and reports the findings, Off skips validation. Quote "Off" in YAML: kubectl reads a plain Off as false.',
      ),
    ),
    'Enforce',
  ),
  rules: v.optional(
    v.pipe(
      v.record(v.pipe(v.string(), v.regex(/^[a-z0-9-]{1,63}$/)), v.picklist(['error', 'warning', 'off'])),
      v.maxEntries(64),
      v.description(
        'Severity of each rule, by its name. Quote "off" in YAML: kubectl reads a plain off as false. The rules are listed in docs/reference/rules.md.',
      ),
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
const quantities = v.pipe(
  v.record(v.string(), quantity),
  v.maxEntries(16),
  rule('resource names must have at most 253 characters', 'self.all(name, size(name) <= 253)', (value) =>
    Object.keys(value).every((name) => name.length <= 253),
  ),
)

const agent = v.object({
  image: v.optional(
    v.pipe(
      v.object({
        repository: v.optional(v.pipe(text(512), v.description('Registry and repository of the image.'))),
        tag: v.optional(v.pipe(text(128), v.description('Tag of the image.'))),
        pullPolicy: v.optional(v.pipe(v.picklist(['Always', 'IfNotPresent', 'Never']), v.description('Image pull policy.'))),
      }),
      v.description('Image of the agent; used only if the value agent.allowImageOverride permits it.'),
    ),
  ),
  resources: v.optional(
    v.pipe(
      v.object({
        requests: v.optional(v.pipe(quantities, v.description('Resource requests.'))),
        limits: v.optional(v.pipe(quantities, v.description('Resource limits.'))),
      }),
      v.description('Resources of the agent container. They replace those of the installation.'),
    ),
  ),
  imagePullSecrets: v.optional(
    v.pipe(
      v.array(v.object({ name: secretName })),
      v.maxLength(16),
      v.check((secrets) => new Set(secrets.map(({ name }) => name)).size === secrets.length, 'names must be unique'),
      listMap('name'),
      v.description('Secrets for pulling the image, in addition to those of the pod.'),
    ),
  ),
})

function specEntries(options: SpecOptions) {
  return {
    git: v.optional(v.pipe(gitSpec(options), v.description('The git repository that contains the configuration. Set either git or oci.'))),
    oci: v.optional(
      v.pipe(
        ociSpec,
        v.description(
          'The OCI artifact that contains the configuration, such as one pushed with flux push artifact. See docs/how-to/registries.md.',
        ),
      ),
    ),
    polling: v.optional(v.pipe(polling, v.description('Polling of the git host.')), {}),
    webhook: v.optional(
      v.pipe(
        webhook,
        v.description(
          'Keys that authenticate the webhooks of this GatewaySync, instead of those of the installation. Set hmac, token, or both.',
        ),
      ),
    ),
    gateway: v.optional(v.pipe(gatewaySettings, v.description('The HTTP API of the gateways.')), {}),
    sync: v.pipe(syncSpec, v.description('What is written to the gateways.')),
    validation: v.optional(
      v.pipe(validationSettings, v.description('Validation of resource collections before a commit is published.')),
      {},
    ),
    rollout: v.optional(
      v.pipe(
        rolloutSpec,
        v.description(
          'Rolls out commits and configurations in stages; by default all gateways update at once. See docs/how-to/rollout.md.',
        ),
      ),
    ),
    capture: v.optional(
      v.pipe(
        captureSpec,
        v.description(
          'Captures local changes of gateways as commits, on request or automatically. By default nothing is captured. See docs/how-to/capture.md.',
        ),
      ),
    ),
    agent: v.optional(v.pipe(agent, v.description('The injected agent container.'))),
    paused: v.optional(
      v.pipe(v.boolean(), v.description('Stops writes to gateways. Fetching, validation and request handling continue.')),
      false,
    ),
  }
}

/** The schema of `spec`. Parsing applies the same defaults as the API server does. */
export function gatewaySyncSpec(options: SpecOptions) {
  return v.pipe(
    v.object(specEntries(options)),
    rule(
      'exactly one of git and oci must be set',
      'has(self.git) != has(self.oci)',
      ({ git, oci }) => (git === undefined) !== (oci === undefined),
    ),
    rule(
      'capture requires a git repository to push to and cannot be combined with oci',
      '!(has(self.capture) && has(self.oci))',
      ({ capture, oci }) => capture === undefined || oci === undefined,
    ),
    rule(
      'webhook.repo is the repository of a git host and cannot be combined with oci',
      '!(has(self.oci) && has(self.webhook) && has(self.webhook.repo))',
      ({ webhook, oci }) => webhook?.repo === undefined || oci === undefined,
    ),
    rule(
      'capture sends credentials, so http is not allowed; use https or ssh in git.repo',
      "!has(self.capture) || !has(self.git) || !self.git.repo.startsWith('http://')",
      ({ capture, git }) => capture === undefined || git === undefined || !git.repo.startsWith('http://'),
    ),
    rule(
      'capture.auth: an ssh repository requires sshKey, and an https repository does not accept it',
      "!has(self.capture) || !has(self.git) || self.git.repo.startsWith('http://') || self.git.repo.startsWith('https://') != has(self.capture.auth.sshKey)",
      ({ capture, git }) =>
        capture === undefined ||
        git === undefined ||
        git.repo.startsWith('http://') ||
        isSshRepository(git.repo) === (capture.auth.sshKey !== undefined),
    ),
    // After the schema, all code uses one source in the terms of git; an artifact becomes one commit (runtime/git/oci).
    v.transform(({ git, ...spec }) => ({ ...spec, git: sourceOf(git, spec.oci) })),
  )
}

type SpecSchema = ReturnType<typeof gatewaySyncSpec>
/** A spec with every default applied. */
export type GatewaySyncSpec = v.InferOutput<SpecSchema>

/** A spec as a user writes it. */
export type GatewaySyncSpecInput = v.InferInput<SpecSchema>
export type SyncDefaults = GatewaySyncSpec['sync']['defaults']
export type Profile = GatewaySyncSpec['sync']['profiles'][string]
export type Mapping = NonNullable<Profile['mappings']>[number]
export type Collections = NonNullable<Profile['collections']>
export type GatewaySpec = GatewaySyncSpec['gateway']
/** `spec.capture` with its defaults. */
export type CaptureSpec = NonNullable<GatewaySyncSpec['capture']>
/** `spec.rollout` with its defaults. */
export type RolloutSpec = NonNullable<GatewaySyncSpec['rollout']>
/** One of its stages. */
export type Stage = RolloutSpec['stages'][number]
/** One of its windows. */
export type RolloutWindow = NonNullable<RolloutSpec['windows']>[number]
/** A page of the gateway, and the expected answer. */
export type HttpCheck = NonNullable<NonNullable<SyncDefaults['healthCheck']>['http']>
/** A query about a gateway, and the server that answers it. */
export type PrometheusCheck = NonNullable<NonNullable<SyncDefaults['healthCheck']>['prometheus']>

/** Returns the name of every `secretRef` of `spec.git` needed for reading, without duplicates. */
export function sourceSecretNames({ commitStatus: _commitStatus, ...git }: GatewaySyncSpec['git']): string[] {
  const names = new Set<string>()
  const poll = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    for (const [member, inner] of Object.entries(value)) {
      const isReference = /secretRef$/i.test(member) && typeof inner === 'object' && inner !== null && 'name' in inner
      if (isReference && typeof inner.name === 'string') names.add(inner.name)
      else poll(inner)
    }
  }
  poll(git)
  return [...names]
}
