/**
 * Defines names shared by several parts of the product or used by users.
 */
export const group = 'clustersync.io'
export const version = 'v1alpha1'
export const apiVersion = `${group}/${version}`

export const gatewaySyncKind = { kind: 'GatewaySync', plural: 'gatewaysyncs', singular: 'gatewaysync', short: 'gs' } as const
export const syncReportKind = { kind: 'SyncReport', plural: 'syncreports', singular: 'syncreport', short: 'sr' } as const

/** Annotations that a user sets on a gateway pod; injection sets `injected`. */
export const podAnnotations = {
  inject: `${group}/inject`,
  gatewaySync: `${group}/gateway-sync`,
  profile: `${group}/profile`,
  gatewayName: `${group}/gateway-name`,
  dataVolume: `${group}/data-volume`,
  injected: `${group}/injected`,
} as const

/** As long as the name of a pod. Prometheus queries repeat the name, and stages compare it with globs. */
export const maxGatewayNameLength = 253

/** Returns the gateway's name in reports, branches and templates: the pod annotation, shortened, else the pod name. */
export function gatewayNameOf({ name, annotations }: { name: string; annotations: Readonly<Record<string, string>> }): string {
  const named = annotations[podAnnotations.gatewayName]
  return named === undefined || named === '' ? name : named.slice(0, maxGatewayNameLength).toWellFormed()
}

/** The label that injection writes, so that the controller watches by selector instead of every pod. */
export const agentPodLabel = `${group}/agent`

/** The label of pods that may reach the metrics port when a NetworkPolicy restricts it. */
export const metricsReaderLabel = { key: `${group}/metrics-reader`, value: 'true' } as const

/** The namespace label that permits injection when `webhook.namespaceSelector.requireLabel` is true. */
export const injectionNamespaceLabel = { key: `${group}/injection`, value: 'enabled' } as const

/** The annotations that request a ref; the receiver writes all of them in one merge patch. */
export const requestAnnotations = {
  ref: `${group}/requested-ref`,
  at: `${group}/requested-at`,
  by: `${group}/requested-by`,
  id: `${group}/request-id`,
  specRef: `${group}/requested-spec-ref`,
  /** The announced move, `<hash before>..<hash after>`: until the git host serves it, the request is pending. */
  move: `${group}/requested-move`,
  /** Unanswered requests that this one superseded: `<id>=<ref>`, separated by spaces. */
  superseded: `${group}/earlier-requests`,
} as const

/** The kinds of events that become requests; the receiver writes them as `requested-by`. A person or program writes another name there. */
export const requestingEvents = ['push', 'tag-push', 'release', 'notification', 'promotion', 'generic'] as const

/** The tag events among them. */
export const tagEvents = ['tag-push', 'release'] as const satisfies readonly (typeof requestingEvents)[number][]

/** Permits the deletions of one commit that exceed `maxDeletions`; the value is the commit hash. */
export const confirmDeletionsAnnotation = `${group}/confirm-deletions`

/** Permits one commit to undo local changes although `drift` is `Hold`; the value is the commit hash. */
export const confirmOverwritesAnnotation = `${group}/confirm-overwrites`

/** Request a capture: time (identifies the request), requester, and one gateway or pod (default: all). */
export const captureAnnotations = {
  at: `${group}/capture-requested-at`,
  by: `${group}/capture-requested-by`,
  gateway: `${group}/capture-gateway`,
} as const

/** Request a report of local changes: an id, and one gateway or pod (default: all). */
export const changesAnnotations = { at: `${group}/changes-requested-at`, gateway: `${group}/changes-gateway` } as const

/** Act on a staged rollout: action, requester, and time, so that an action can be repeated. */
export const rolloutAnnotations = {
  action: `${group}/rollout-action`,
  by: `${group}/rollout-action-by`,
  at: `${group}/rollout-action-at`,
} as const

/** Lets one commit reach all gateways at once, regardless of spec.rollout; the value is the commit hash. */
export const skipStagesAnnotation = `${group}/skip-stages`

/** The permission (verb on GatewaySyncs) required to write that annotation. */
export const skipStagesVerb = 'skip-stages'

/** Annotations of the Lease. */
export const leaseAnnotations = {
  /** Where the leading replica serves content to the others, `address:port`. */
  address: `${group}/delivery-address`,
  /** The holder's promise: how many milliseconds it takes to renew the Lease when asked whether it is alive. */
  answersWithinMs: `${group}/answers-within-ms`,
  /** The replica that requests a sign of life of the holder; the next renewal removes it. */
  askedBy: `${group}/asked-by`,
} as const

export const agentContainerName = 'cluster-sync-agent'
/** The name of the gateway's container in the vendor's chart. */
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

/** The audience and lifetime of the token with which an agent authenticates its pod to the content server. */
export const deliveryToken = { audience: `${group}/delivery`, expirySeconds: 3600 } as const

/** The folder in a gateway's data directory for the manifest, journal, staging area and lock. */
export const engineFolder = '.cluster-sync'

/** The field manager of the controller. */
export const fieldManager = 'cluster-sync-operator'
/** The field manager of the command line, so that audits can distinguish people from the controller. */
export const cliFieldManager = 'cluster-sync-cli'
/** The field manager of the status page, which writes on behalf of a logged-in user. */
export const pageFieldManager = 'cluster-sync-status-page'

/**
 * Node's options in every container: the heap stays below the container's limit, because git and buffers need a part of it. The other flags
 * are set in the image.
 */
export const nodeOptions = '--max-old-space-size-percentage=60'
