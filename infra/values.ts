/**
 * What an installation can be told: every key of the specification's section 2.1 with its type, default and meaning, and our own
 * additions. The one source of the TypeScript type, the validation and the documentation. Pure.
 */
import * as v from 'valibot'

const text = (description: string, initial: string) => v.optional(v.pipe(v.string(), v.description(description)), initial)
const flag = (description: string, initial: boolean) => v.optional(v.pipe(v.boolean(), v.description(description)), initial)
const port = (description: string, initial: number) =>
  v.optional(
    v.pipe(
      v.number(),
      v.integer(),
      v.minValue(1, 'must be from 1 to 65535'),
      v.maxValue(65_535, 'must be from 1 to 65535'),
      v.description(description),
    ),
    initial,
  )
const strings = (description: string) => v.optional(v.pipe(v.record(v.string(), v.string()), v.description(description)), {})
const anything = (description: string) => v.optional(v.pipe(v.record(v.string(), v.unknown()), v.description(description)), {})
const items = (description: string) => v.optional(v.pipe(v.array(v.record(v.string(), v.unknown())), v.description(description)), [])
const quantityPattern = /^[0-9]+(?:\.[0-9]+)?(?:m|k|Ki|M|Mi|G|Gi|T|Ti)?$/
const quantity = (description: string, initial: string) =>
  v.optional(v.pipe(v.string(), v.regex(quantityPattern, 'must be a quantity such as 100m or 128Mi'), v.description(description)), initial)
const duration = (description: string) =>
  v.optional(
    v.pipe(v.string(), v.regex(/^(?:[0-9]+(?:ms|s|m|h))*$/, 'must be empty or a duration such as 30s'), v.description(description)),
    '',
  )
const pullPolicy = v.picklist(['Always', 'IfNotPresent', 'Never'])
const references = (description: string) =>
  v.optional(v.pipe(v.array(v.strictObject({ name: v.string() })), v.description(description)), [])

const image = (repository: string, what: string) => ({
  repository: text(`Image of the ${what}.`, repository),
  tag: text('Empty: the version of this package.', ''),
})
const monitor = (what: string) =>
  v.optional(
    v.strictObject({
      enabled: flag(`Creates ${what}.`, false),
      labels: strings('Extra labels.'),
      interval: duration("Scrape interval; empty: the monitoring system's default."),
      scrapeTimeout: duration("Scrape timeout; empty: the monitoring system's default."),
    }),
    {},
  )
const secretRef = (key: string, what: string) =>
  v.optional(
    v.strictObject({ name: text(`Name of an existing Secret that holds the ${what}.`, ''), key: text('Key inside that Secret.', key) }),
    {},
  )

export const valuesSchema = v.strictObject({
  replicaCount: v.optional(
    v.pipe(v.number(), v.integer(), v.minValue(1), v.description('Controller replicas; one leads, others take over fast.')),
    1,
  ),
  image: v.optional(
    v.strictObject({
      ...image('clustersync/controller', 'controller'),
      pullPolicy: v.optional(v.pipe(pullPolicy, v.description('Image pull policy.')), 'IfNotPresent'),
    }),
    {},
  ),
  imagePullSecrets: references('Credentials for private registries.'),
  nameOverride: text('Overrides the chart name in resource names.', ''),
  fullnameOverride: text('Overrides the full release name.', ''),
  agentImage: v.optional(v.strictObject(image('clustersync/agent', 'agent')), {}),
  leaderElection: v.optional(v.strictObject({ enabled: flag('Disable only for single-replica development.', true) }), {}),
  resources: v.optional(
    v.strictObject({
      requests: v.optional(v.strictObject({ cpu: quantity('CPU request.', '10m'), memory: quantity('Memory request.', '64Mi') }), {}),
      limits: v.optional(v.strictObject({ cpu: quantity('CPU limit.', '500m'), memory: quantity('Memory limit.', '128Mi') }), {}),
    }),
    {},
  ),
  nodeSelector: strings('Node selector of the controller pod.'),
  tolerations: items('Tolerations of the controller pod.'),
  podAnnotations: strings('Extra annotations of the controller pod.'),
  podLabels: strings('Extra labels of the controller pod.'),
  affinity: anything('Affinity of the controller pod.'),
  controller: v.optional(
    v.strictObject({
      logDevMode: v.optional(
        v.pipe(
          v.picklist(['true', 'false'], 'must be the string "true" or "false"'),
          v.description('"true": readable logs, nothing filtered.'),
        ),
        'false',
      ),
    }),
    {},
  ),
  certManager: v.optional(v.strictObject({ enabled: flag('Certificates by cert-manager; else the controller issues its own.', true) }), {}),
  metrics: v.optional(
    v.strictObject({
      enabled: flag('Creates the metrics Service.', true),
      service: v.optional(
        v.strictObject({
          type: v.optional(
            v.pipe(v.picklist(['ClusterIP', 'NodePort', 'LoadBalancer']), v.description('Type of the metrics Service.')),
            'ClusterIP',
          ),
          port: port('Port of the metrics Service.', 8443),
        }),
        {},
      ),
    }),
    {},
  ),
  serviceMonitor: monitor('a ServiceMonitor for the controller'),
  podMonitor: monitor('a PodMonitor for agents'),
  grafanaDashboard: v.optional(
    v.strictObject({
      enabled: flag('Creates a ConfigMap with dashboards.', false),
      namespace: text("Its namespace; empty: the release's.", ''),
      labels: strings('Merged over grafana_dashboard: "1"; that key set to "" removes it.'),
      annotations: strings('Annotations of the ConfigMap.'),
    }),
    {},
  ),
  networkPolicy: v.optional(
    v.strictObject({ enabled: flag('Restricts ingress to the metrics port; every other enabled port stays open.', false) }),
    {},
  ),
  webhook: v.optional(
    v.strictObject({
      enabled: flag('Injects agents.', true),
      port: port('Port of the admission server.', 9443),
      namespaceSelector: v.optional(
        v.strictObject({ requireLabel: flag('Only namespaces labelled clustersync.io/injection=enabled.', false) }),
        {},
      ),
      failurePolicy: v.optional(
        v.pipe(v.picklist(['Fail', 'Ignore']), v.description('Fail: a pod that asked waits for its agent.')),
        'Fail',
      ),
      timeoutSeconds: v.optional(
        v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(30), v.description('How long the API server waits.')),
        5,
      ),
    }),
    {},
  ),
  rbac: v.optional(
    v.strictObject({
      autoBindAgent: v.optional(v.strictObject({ enabled: flag("Binds gateway pods' ServiceAccounts to the agents' role.", true) }), {}),
    }),
    {},
  ),
  webhookReceiver: v.optional(
    v.strictObject({
      enabled: flag('Starts the push receiver and creates its Service.', false),
      port: port('Port of the receiver.', 9444),
      hmac: v.optional(v.strictObject({ secret: text('Inline HMAC secret.', ''), secretRef: secretRef('webhook-secret', 'HMAC key') }), {}),
      token: v.optional(v.strictObject({ secret: text('Inline bearer token.', ''), secretRef: secretRef('webhook-token', 'token') }), {}),
      ingress: v.optional(
        v.strictObject({
          enabled: flag('Creates an Ingress for the receiver.', false),
          ingressClassName: text("Empty: the cluster's default.", ''),
          annotations: strings('Annotations of the Ingress.'),
          hosts: v.optional(
            v.pipe(
              v.array(
                v.strictObject({
                  host: v.string(),
                  paths: v.array(v.strictObject({ path: v.string(), pathType: v.picklist(['Prefix', 'Exact', 'ImplementationSpecific']) })),
                }),
              ),
              v.description('Entries {host, paths: [{path, pathType}]}.'),
            ),
            [],
          ),
          tls: v.optional(
            v.pipe(
              v.array(v.strictObject({ secretName: v.string(), hosts: v.array(v.string()) })),
              v.description('Entries {secretName, hosts}.'),
            ),
            [],
          ),
        }),
        {},
      ),
    }),
    {},
  ),
  delivery: v.optional(v.strictObject({ port: port('Port at which agents fetch content.', 9445) }), {}),
  source: v.optional(
    v.strictObject({
      storage: v.optional(
        v.strictObject({
          sizeLimit: quantity('Size of the volume for mirrors.', '2Gi'),
          existingClaim: text('A PersistentVolumeClaim instead of an emptyDir.', ''),
        }),
        {},
      ),
      allowedHosts: v.optional(v.pipe(v.array(v.string()), v.description('Git hosts that repositories may be on; empty: any.')), []),
    }),
    {},
  ),
  watchNamespaces: v.optional(v.pipe(v.array(v.string()), v.description('Namespaces to work in; empty: all.')), []),
  agent: v.optional(
    v.strictObject({
      resources: anything('Resources of agents; default: requests 10m and 64Mi, limit 256Mi.'),
      allowImageOverride: flag('Whether a GatewaySync may name another agent image.', false),
    }),
    {},
  ),
  serviceAccount: v.optional(v.strictObject({ annotations: strings("Annotations of the controller's ServiceAccount.") }), {}),
  priorityClassName: text('Priority class of the controller pod.', ''),
})

/** Values as a user writes them, and with every default. */
export type ValuesInput = v.InferInput<typeof valuesSchema>
export type Values = v.InferOutput<typeof valuesSchema>

export type CheckedValues = { values: Values; warnings: string[] }

/** Throws an Error whose message names every key that is wrong, one a line. */
export function checkValues(input: unknown): CheckedValues {
  const parsed = v.safeParse(valuesSchema, input)
  if (!parsed.success) throw new Error(parsed.issues.map(issueLine).join('\n'))
  const values = parsed.output
  const errors = impossible(values)
  if (errors.length > 0) throw new Error(errors.join('\n'))
  return { values, warnings: withoutEffect(values) }
}

function issueLine(issue: v.BaseIssue<unknown>): string {
  const where = v.getDotPath(issue) ?? 'values'
  if (issue.type !== 'strict_object' || issue.expected !== 'never') return `${where}: ${issue.message}`
  const parent = where.split('.').slice(0, -1)
  const known = keysAt(parent)
  const nearest = nearestTo(where.split('.').at(-1) ?? '', known)
  return `${where}: unknown key${nearest === undefined ? `; there are: ${known.join(', ')}` : `; did you mean ${[...parent, nearest].join('.')}?`}`
}

/** The keys that the schema has at a path. */
function keysAt(path: readonly string[]): string[] {
  let at: unknown = valuesSchema
  for (const name of path) at = entriesOf(at)?.[name]
  return Object.keys(entriesOf(at) ?? {}).toSorted()
}

function entriesOf(schema: unknown): Record<string, unknown> | undefined {
  const { wrapped, entries } = schema as { wrapped?: unknown; entries?: Record<string, unknown> }
  return entries ?? (wrapped === undefined ? undefined : entriesOf(wrapped))
}

/** The known key that takes the fewest edits to reach, if they are few. */
function nearestTo(key: string, known: readonly string[]): string | undefined {
  const ranked = known
    .map((name) => ({ name, edits: distance(key.toLowerCase(), name.toLowerCase()) }))
    .toSorted((a, b) => a.edits - b.edits)
  const [best] = ranked
  return best !== undefined && best.edits <= Math.max(2, Math.floor(key.length / 3)) ? best.name : undefined
}

function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (const [i, letter] of Array.from(a).entries()) {
    const next = [i + 1]
    for (const [j, other] of Array.from(b).entries())
      next.push(Math.min((row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1, (row[j] ?? 0) + (letter === other ? 0 : 1)))
    row = next
  }
  return row.at(-1) ?? 0
}

/** Combinations that cannot work. */
function impossible(values: Values): string[] {
  const { webhookReceiver: receiver, replicaCount, leaderElection, serviceMonitor, metrics, webhook, delivery } = values
  const errors: string[] = []
  if (receiver.ingress.enabled && receiver.ingress.hosts.length === 0)
    errors.push('webhookReceiver.ingress.hosts: an Ingress needs at least one host')
  if (receiver.ingress.enabled && !receiver.enabled) errors.push('webhookReceiver.enabled: an Ingress without a receiver leads nowhere')
  if (!leaderElection.enabled && replicaCount > 1)
    errors.push(`leaderElection.enabled: ${replicaCount} replicas without leader election would all write; set replicaCount: 1`)
  if (serviceMonitor.enabled && !metrics.enabled) errors.push('metrics.enabled: a ServiceMonitor needs the metrics Service')
  const used = [
    ['webhook.port', webhook.enabled ? webhook.port : undefined],
    ['webhookReceiver.port', receiver.enabled ? receiver.port : undefined],
    ['metrics.service.port', metrics.enabled ? metrics.service.port : undefined],
    ['delivery.port', delivery.port],
    ['the probes', 8081],
  ] as const
  for (const [index, [name, value]] of used.entries()) {
    const twin = used.slice(0, index).find(([, other]) => value !== undefined && other === value)
    if (twin !== undefined) errors.push(`${name}: port ${value ?? ''} is also that of ${twin[0]}`)
  }
  return errors
}

/** What is set and does nothing, or less than one might think. */
function withoutEffect(values: Values): string[] {
  const { serviceMonitor, podMonitor, webhookReceiver: receiver, webhook, replicaCount, grafanaDashboard } = values
  const warnings: string[] = []
  for (const [name, { enabled, labels, interval }] of Object.entries({ serviceMonitor, podMonitor })) {
    if (!enabled && (Object.keys(labels).length > 0 || interval !== ''))
      warnings.push(`${name}: its settings have no effect while ${name}.enabled is false`)
  }
  if (!grafanaDashboard.enabled && Object.keys(grafanaDashboard.labels).length > 0)
    warnings.push('grafanaDashboard.labels: no effect while grafanaDashboard.enabled is false')
  for (const [name, { secret, secretRef: ref }] of Object.entries({ hmac: receiver.hmac, token: receiver.token })) {
    if (secret !== '' && ref.name !== '') warnings.push(`webhookReceiver.${name}.secret: ignored, because secretRef is set`)
    else if (secret !== '')
      warnings.push(`webhookReceiver.${name}.secret: becomes a Secret in the manifests; do not commit them, or use secretRef`)
  }
  if (receiver.enabled && [receiver.hmac, receiver.token].every(({ secret, secretRef: ref }) => secret === '' && ref.name === '')) {
    warnings.push('webhookReceiver: neither hmac nor token is configured; anyone who reaches the receiver may push')
  }
  if (webhook.enabled && webhook.failurePolicy === 'Fail' && replicaCount === 1) {
    warnings.push('webhook.failurePolicy: with one replica, gateway pods that ask for an agent wait while the controller restarts')
  }
  return warnings
}
