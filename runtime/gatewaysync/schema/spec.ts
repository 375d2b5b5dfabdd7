/**
 * What a user may ask for: the one source of the GatewaySync spec's TypeScript types, run-time validation and CRD schema. Pure.
 */
import * as v from 'valibot'
import { captureSpec } from './capture-spec.ts'
import { interval, secretKey, secretName, secretRefHolder, text } from './fields.ts'
import { gitSpec, isSshRepository, type SpecOptions } from './git-spec.ts'
import { rolloutSpec } from './rollout-spec.ts'
import { crd, rule } from './rule.ts'
import { syncSpec } from './sync-spec.ts'

const polling = v.object({
  enabled: v.optional(
    v.pipe(
      v.boolean(),
      v.description(
        'When false, only webhooks and other requests for this GatewaySync cause syncs, and one look when a controller begins to lead.',
      ),
    ),
    true,
  ),
  interval: v.optional(interval, '60s'),
})

const webhook = v.object({
  hmac: v.optional(v.pipe(secretRefHolder, v.description('Secret that signs the deliveries of a git host.'))),
  token: v.optional(v.pipe(secretRefHolder, v.description('Bearer token of other senders.'))),
})

/** The schema of `spec.gateway`. */
export const gatewaySettings = v.object({
  port: v.optional(
    v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(65535), v.description('Default 8088, or 8043 when tls is true.')),
  ),
  tls: v.optional(v.pipe(v.boolean(), v.description("Whether the gateway's HTTP API is served over TLS.")), false),
  caBundle: v.optional(v.pipe(secretRefHolder, v.description('Certificate authority of the gateway, PEM.'))),
  api: v.optional(
    v.pipe(
      v.object({ secretName, secretKey: v.optional(secretKey, 'apiKey') }),
      v.description('API key, name:secret, sent as X-Ignition-API-Token.'),
    ),
  ),
})

/** The schema of `spec.validation`. */
export const validationSettings = v.object({
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
        repository: v.optional(v.pipe(text(512), v.description('Registry and name of the image.'))),
        tag: v.optional(v.pipe(text(128), v.description('Tag of the image.'))),
        pullPolicy: v.optional(v.pipe(v.picklist(['Always', 'IfNotPresent', 'Never']), v.description('When the node pulls the image.'))),
      }),
      v.description('Taken only where the installation value agent.allowImageOverride permits it.'),
    ),
  ),
  resources: v.optional(
    v.pipe(
      v.object({
        requests: v.optional(v.pipe(quantities, v.description('What the scheduler keeps free for it.'))),
        limits: v.optional(v.pipe(quantities, v.description('What it may use at most.'))),
      }),
      v.description('Resources of the container, in place of those of the installation.'),
    ),
  ),
  imagePullSecrets: v.optional(
    v.pipe(
      v.array(v.object({ name: secretName })),
      v.maxLength(16),
      v.description('Secrets that the image is pulled with, beside those of the pod.'),
    ),
  ),
})

/** The schema of `spec`. Parsing applies the same defaults as the API server does. */
export function gatewaySyncSpec(options: SpecOptions) {
  return v.pipe(
    v.object({
      git: v.pipe(gitSpec(options), v.description('Where the configuration comes from.')),
      polling: v.optional(v.pipe(polling, v.description('How often the git host is asked.')), {}),
      webhook: v.optional(v.pipe(webhook, v.description("Replaces the operator's global pair for this resource; either suffices."))),
      gateway: v.optional(v.pipe(gatewaySettings, v.description("The gateway's own HTTP API.")), {}),
      sync: v.pipe(syncSpec, v.description('Which folders go where.')),
      validation: v.optional(v.pipe(validationSettings, v.description('Checks of resource collections before a commit is published.')), {}),
      rollout: v.optional(
        v.pipe(
          rolloutSpec,
          v.description('Gateways take a commit or a configuration in stages; absent: all at once. docs/rollout.md tells more.'),
        ),
      ),
      capture: v.optional(
        v.pipe(
          captureSpec,
          v.description(
            'What was changed on gateways becomes commits, on request or by itself; absent: agents hand on nothing. docs/capture.md tells more.',
          ),
        ),
      ),
      agent: v.optional(v.pipe(agent, v.description('The injected container.'))),
      paused: v.optional(
        v.pipe(v.boolean(), v.description('Stops gateway writes only; fetching, checking and acknowledging go on.')),
        false,
      ),
    }),
    rule(
      'capture sends credentials, which is not done over http; use https or ssh in git.repo',
      "!has(self.capture) || !self.git.repo.startsWith('http://')",
      ({ capture, git }) => capture === undefined || !git.repo.startsWith('http://'),
    ),
    rule(
      'capture.auth: an ssh repository needs sshKey, and an https repository takes none',
      "!has(self.capture) || self.git.repo.startsWith('http://') || self.git.repo.startsWith('https://') != has(self.capture.auth.sshKey)",
      ({ capture, git }) =>
        capture === undefined || git.repo.startsWith('http://') || isSshRepository(git.repo) === (capture.auth.sshKey !== undefined),
    ),
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
/** A page of the gateway, and what it answers with when all is well. */
export type HttpCheck = NonNullable<NonNullable<SyncDefaults['check']>['http']>
/** A query about a gateway, and the server that answers it. */
export type PrometheusCheck = NonNullable<NonNullable<SyncDefaults['check']>['prometheus']>
