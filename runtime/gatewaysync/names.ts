/**
 * Every name that more than one part of the product, or a user, relies on. The group stands for the specification's `svc.example/`.
 */
export const group = 'clustersync.io'
export const version = 'v1alpha1'
export const apiVersion = `${group}/${version}`

export const gatewaySyncKind = { kind: 'GatewaySync', plural: 'gatewaysyncs', singular: 'gatewaysync', short: 'gs' } as const
export const syncReportKind = { kind: 'SyncReport', plural: 'syncreports', singular: 'syncreport', short: 'sr' } as const

/** Annotations that a user sets on a gateway pod; `injected` is ours. */
export const podAnnotations = {
  inject: `${group}/inject`,
  gatewaySync: `${group}/gateway-sync`,
  profile: `${group}/profile`,
  gatewayName: `${group}/gateway-name`,
  dataVolume: `${group}/data-volume`,
  injected: `${group}/injected`,
} as const

/** The label that injection writes, so that the controller watches by selector instead of every pod. */
export const agentPodLabel = `${group}/agent`

/** The label of pods that may reach the metrics port where a NetworkPolicy restricts it. */
export const metricsReaderLabel = { key: `${group}/metrics-reader`, value: 'true' } as const

/** The namespace label that permits injection when `webhook.namespaceSelector.requireLabel` is true. */
export const injectionNamespaceLabel = { key: `${group}/injection`, value: 'enabled' } as const

/** The annotations by which a push asks for a ref; the receiver writes all of them in one merge patch. */
export const requestAnnotations = {
  ref: `${group}/requested-ref`,
  at: `${group}/requested-at`,
  by: `${group}/requested-by`,
  id: `${group}/request-id`,
  specRef: `${group}/requested-spec-ref`,
  /** Requests that this one overtook before they were answered: `<id>=<ref>`, separated by spaces. */
  superseded: `${group}/earlier-requests`,
} as const

/** Permits the deletions of one commit that exceed `maxDeletions`; the value is the commit hash. */
export const confirmDeletionsAnnotation = `${group}/confirm-deletions`

/** Permits one commit to undo local changes although `drift` is `hold`; the value is the commit hash. */
export const confirmOverwritesAnnotation = `${group}/confirm-overwrites`

/** By which somebody asks for what was changed on gateways: when, which names the request; who asks; one gateway or pod, else all. */
export const captureAnnotations = {
  at: `${group}/capture-requested-at`,
  by: `${group}/capture-requested-by`,
  gateway: `${group}/capture-gateway`,
} as const

/** By which somebody asks to read what was changed on gateways: a text that names the request; one gateway or pod, else all. */
export const changesAnnotations = { at: `${group}/changes-requested-at`, gateway: `${group}/changes-gateway` } as const

/** By which somebody acts on a staged rollout: what is asked for, who asks, and when, so that the same can be asked again. */
export const rolloutAnnotations = {
  action: `${group}/rollout-action`,
  by: `${group}/rollout-action-by`,
  at: `${group}/rollout-action-at`,
} as const

/** Lets one commit reach all gateways at once, whatever spec.rollout says; the value is the commit hash. */
export const skipStagesAnnotation = `${group}/skip-stages`

/** The verb on GatewaySyncs that whoever writes that annotation needs. */
export const skipStagesVerb = 'skip-stages'

/** Annotations of the Lease. */
export const leaseAnnotations = {
  /** Where the replica that leads serves delivery to the others, `address:port`. */
  address: `${group}/delivery-address`,
  /** The holder's promise: within how many milliseconds it renews the Lease once somebody asks whether it is alive. */
  answersWithinMs: `${group}/answers-within-ms`,
  /** The replica that asks whether the holder is alive; the next renewal removes it. */
  askedBy: `${group}/asked-by`,
} as const

export const agentContainerName = 'cluster-sync-agent'
/** Of a gateway pod, as the vendor's chart names it. */
export const gatewayContainerName = 'gateway'

/** TCP ports of the containers, before any installation value; an agent serves probes and metrics on `agent`. */
export const ports = {
  receiver: 9444,
  admission: 9443,
  metrics: 8443,
  probes: 8081,
  delivery: 9445,
  statusPage: 8444,
  agent: 8083,
} as const

/** The audience and lifetime of the token by which an agent proves to delivery which pod it is. */
export const deliveryToken = { audience: `${group}/delivery`, expirySeconds: 3600 } as const

/** The folder in a gateway's data directory that holds our manifest, journal, staging area and lock. */
export const engineFolder = '.cluster-sync'

/** The field manager of the controller. */
export const fieldManager = 'cluster-sync-operator'
/** The field manager of the command line, so that an audit can tell people from the controller. */
export const cliFieldManager = 'cluster-sync-cli'
/** That of the status page, which writes in the name of somebody who is logged in. */
export const pageFieldManager = 'cluster-sync-status-page'

/**
 * Node's options in every container of ours: the heap stays below the container's limit, because git and buffers need a part of it. The other
 * flags are set in the image.
 */
export const nodeOptions = '--max-old-space-size-percentage=60'
