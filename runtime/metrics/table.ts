/**
 * Which numbers exist: one table that the registry, the documentation, the alerts and the dashboards share. Names end in the unit; labels
 * come from closed sets or are a resource's own name, never a ref, a commit or a URL. Pure.
 */
export type MetricType = 'gauge' | 'counter' | 'histogram'

export type Metric = {
  type: MetricType
  help: string
  labels?: readonly string[]
  /** Upper bounds of a histogram, in the unit of its name. */
  buckets?: readonly number[]
}

const object = ['namespace', 'name'] as const

/** From a pass that touches nothing to one that waits for a slow API server. */
const quick = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]
/** From a cached answer to a large first fetch. */
const slow = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300]

/** One series for each GatewaySync and value of the further labels; they go with the object. */
export const objectMetrics = {
  clustersync_ready: { type: 'gauge', help: '1 when every gateway runs exactly the wanted commit and configuration', labels: object },
  clustersync_condition: { type: 'gauge', help: '1 while a condition of the GatewaySync is True', labels: [...object, 'type'] },
  clustersync_gateways: { type: 'gauge', help: 'gateways by state', labels: [...object, 'state'] },
  clustersync_outdated_agents: { type: 'gauge', help: 'gateways whose agent is too old for what is asked for', labels: object },
  clustersync_findings: { type: 'gauge', help: 'findings of the collection checks by severity', labels: [...object, 'severity'] },
  clustersync_published_info: {
    type: 'gauge',
    help: '1 once a commit is published, with whether its signature was verified',
    labels: [...object, 'verified'],
  },
  clustersync_published_timestamp_seconds: { type: 'gauge', help: 'when the present commit was published', labels: object },
  clustersync_source_checked_timestamp_seconds: { type: 'gauge', help: 'when the git host was last asked', labels: object },
} as const satisfies Record<string, Metric>

/** Counted and timed by one process. */
export const processMetrics = {
  clustersync_build_info: { type: 'gauge', help: '1, with the version of the controller', labels: ['version'] },
  clustersync_leader: { type: 'gauge', help: '1 while this replica holds the Lease' },
  clustersync_reconcile_total: { type: 'counter', help: 'passes over GatewaySyncs', labels: ['result', 'reason'] },
  clustersync_reconcile_duration_seconds: { type: 'histogram', help: 'duration of a pass', buckets: quick },
  clustersync_source_fetch_total: { type: 'counter', help: 'questions to git hosts, fetches included', labels: ['result', 'reason'] },
  clustersync_source_fetch_duration_seconds: { type: 'histogram', help: 'duration of a question to a git host', buckets: slow },
  clustersync_signature_checks_total: {
    type: 'counter',
    help: 'commits and tags whose signatures were checked, by what was found',
    labels: ['result'],
  },
  clustersync_push_to_applied_seconds: {
    type: 'histogram',
    help: 'from the receipt of a push until every gateway ran its commit',
    buckets: slow,
  },
  clustersync_publish_to_applied_seconds: {
    type: 'histogram',
    help: 'from the publication of a commit until every gateway ran it',
    buckets: slow,
  },
  clustersync_receiver_requests_total: {
    type: 'counter',
    help: 'calls to the push receiver by what became of them and what kind of event asked',
    labels: ['outcome', 'source'],
  },
  clustersync_receiver_open: { type: 'gauge', help: '1 while the push receiver accepts calls without authentication' },
  clustersync_watched_namespaces_forbidden: {
    type: 'gauge',
    help: 'namespaces of watchNamespaces that are gone or may not be listed; the others are served',
  },
  clustersync_admission_total: { type: 'counter', help: 'admission reviews', labels: ['outcome'] },
  clustersync_admission_duration_seconds: { type: 'histogram', help: 'duration of an admission review', buckets: quick },
  clustersync_delivery_requests_total: { type: 'counter', help: 'calls of agents for content', labels: ['route', 'status'] },
  clustersync_delivery_sent_bytes_total: { type: 'counter', help: 'content sent to agents' },
  clustersync_certificate_issued_timestamp_seconds: { type: 'gauge', help: 'when the served certificate became valid' },
  clustersync_certificate_expiry_timestamp_seconds: { type: 'gauge', help: 'when the served certificate ends' },
} as const satisfies Record<string, Metric>

/** Written by each agent itself, without a library: runtime/agent/metrics.ts. */
export const agentMetrics = {
  clustersync_agent_phase: { type: 'gauge', help: '1 for the phase that the gateway is in', labels: ['phase'] },
  clustersync_agent_cycles_total: { type: 'counter', help: 'sync cycles by outcome', labels: ['outcome'] },
  clustersync_agent_files_written_total: { type: 'counter', help: 'files put in place' },
  clustersync_agent_written_bytes_total: { type: 'counter', help: 'content put in place' },
  clustersync_agent_drifted_files: { type: 'gauge', help: 'owned files that were changed locally' },
} as const satisfies Record<string, Metric>

export type ObjectMetric = keyof typeof objectMetrics
export type ProcessMetric = keyof typeof processMetrics
