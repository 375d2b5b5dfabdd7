/**
 * Defines all metrics: one table that the registry, the documentation, the alerts and the dashboards share. Names end in the unit; labels
 * come from closed sets or are a resource's own name, never a ref, a commit or a URL. Pure.
 */
export type MetricType = 'gauge' | 'counter' | 'histogram' | 'summary'

/** `help` is shown by Prometheus and in docs/reference/operations.md. */
export type Metric = {
  type: MetricType
  help: string
  labels?: readonly string[]
  /** Upper bounds of a histogram, in the unit of its name. */
  buckets?: readonly number[]
}

const object = ['namespace', 'name'] as const

/** From a reconcile that changes nothing to one that waits for a slow API server. */
const quick = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]
/** From a cached answer to a large first fetch. */
const slow = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300]

/** One series per GatewaySync and value of the further labels; removed with the object. */
export const objectMetrics = {
  clustersync_ready: { type: 'gauge', help: '1 when every gateway runs exactly the desired commit and configuration', labels: object },
  clustersync_condition: { type: 'gauge', help: '1 while a condition of the GatewaySync is True', labels: [...object, 'type'] },
  clustersync_gateways: { type: 'gauge', help: 'gateways by state', labels: [...object, 'state'] },
  clustersync_outdated_agents: { type: 'gauge', help: 'gateways whose agent is too old for the spec', labels: object },
  clustersync_findings: { type: 'gauge', help: 'findings of validation by severity', labels: [...object, 'severity'] },
  clustersync_published_info: {
    type: 'gauge',
    help: '1 once a commit is published; the label shows whether its signature was verified',
    labels: [...object, 'verified'],
  },
  clustersync_published_timestamp_seconds: { type: 'gauge', help: 'when the current commit was published', labels: object },
  clustersync_source_checked_timestamp_seconds: { type: 'gauge', help: 'when the git host was last queried', labels: object },
  clustersync_rollout_state: { type: 'gauge', help: '1 for the current state of the staged rollout', labels: [...object, 'state'] },
  clustersync_rollout_stage: { type: 'gauge', help: 'number of the current stage, from 1; 0 if there is none', labels: object },
  clustersync_rollout_failed_gateways: {
    type: 'gauge',
    help: 'gateways of all stages that failed in the current or last rollout',
    labels: object,
  },
  clustersync_rollout_started_timestamp_seconds: { type: 'gauge', help: 'when the current or last rollout began', labels: object },
} as const satisfies Record<string, Metric>

/** Of each process, controller and agent; read at each scrape. */
export const nodeMetrics = {
  process_start_time_seconds: { type: 'gauge', help: 'when the process started' },
  process_cpu_seconds_total: { type: 'counter', help: 'processor time of the process, without its children' },
  process_resident_memory_bytes: { type: 'gauge', help: 'memory of the process that is in use, without its children' },
  nodejs_heap_size_total_bytes: { type: 'gauge', help: 'heap that the process has allocated' },
  nodejs_heap_size_used_bytes: { type: 'gauge', help: 'used heap' },
  nodejs_external_memory_bytes: { type: 'gauge', help: 'memory of buffers outside the heap' },
} as const satisfies Record<string, Metric>

/** Counted and timed by the controller. */
export const processMetrics = {
  clustersync_build_info: { type: 'gauge', help: '1, with the version of the controller', labels: ['version'] },
  clustersync_leader: { type: 'gauge', help: '1 while this replica holds the Lease' },
  clustersync_reconcile_total: { type: 'counter', help: 'reconciles of GatewaySyncs', labels: ['outcome', 'reason'] },
  clustersync_reconcile_duration_seconds: { type: 'histogram', help: 'duration of a reconcile', buckets: quick },
  clustersync_queue_depth: { type: 'gauge', help: 'GatewaySyncs that wait for a reconcile' },
  clustersync_limiter_waiting: {
    type: 'gauge',
    help: 'work items waiting for a shared resource, for the 20 namespaces that used it the most',
    labels: ['resource', 'namespace'],
  },
  clustersync_limiter_used_seconds_total: {
    type: 'counter',
    help: 'use of a shared resource by a namespace, in resource-seconds (1 is the whole resource for one second), for the 20 namespaces that used it the most',
    labels: ['resource', 'namespace'],
  },
  clustersync_queue_wait_seconds: {
    type: 'histogram',
    help: 'how long a GatewaySync waited for its reconcile once it was due',
    buckets: quick,
  },
  clustersync_watch_restarts_total: {
    type: 'counter',
    help: 'watches that failed, and were resumed from their last position or listed again',
    labels: ['kind', 'from'],
  },
  clustersync_relist_differences_total: {
    type: 'counter',
    help: 'changes that a list found but the watch before it missed; a value above 0 indicates a bug',
    labels: ['kind'],
  },
  clustersync_event_loop_delay_seconds: {
    type: 'histogram',
    help: 'delay of a timer of one second',
    buckets: quick,
  },
  clustersync_agents: {
    type: 'gauge',
    help: 'agents by their version compared with that of the leading controller: same, older, newer or unknown',
    labels: ['skew'],
  },
  clustersync_source_requests_total: { type: 'counter', help: 'calls to git hosts, including fetches', labels: ['outcome', 'reason'] },
  clustersync_source_request_duration_seconds: { type: 'histogram', help: 'duration of a call to a git host', buckets: slow },
  clustersync_source_fetched_bytes_total: { type: 'counter', help: 'bytes that fetches added to mirrors' },
  clustersync_source_volume_used_bytes: {
    type: 'gauge',
    help: 'space used by mirrors and reserved for running fetches',
  },
  clustersync_source_volume_limit_bytes: { type: 'gauge', help: 'space that all mirrors together may use' },
  clustersync_signature_checks_total: {
    type: 'counter',
    help: 'signature checks of commits and tags by outcome',
    labels: ['outcome'],
  },
  clustersync_push_to_applied_seconds: {
    type: 'histogram',
    help: 'time from the receipt of a push until every gateway ran its commit',
    buckets: slow,
  },
  clustersync_publish_to_applied_seconds: {
    type: 'histogram',
    help: 'time from the publication of a commit until every gateway ran it',
    buckets: slow,
  },
  clustersync_receiver_requests_total: {
    type: 'counter',
    help: 'calls to the webhook receiver by outcome and kind of event',
    labels: ['outcome', 'source'],
  },
  clustersync_receiver_ignored_total: {
    type: 'counter',
    help: 'authenticated calls to the webhook receiver that changed nothing, by the reason of the response',
    labels: ['reason'],
  },
  clustersync_receiver_open: { type: 'gauge', help: '1 while the webhook receiver accepts calls without authentication' },
  clustersync_watched_namespaces_forbidden: {
    type: 'gauge',
    help: 'namespaces in watchNamespaces that do not exist, or that the controller has no permission to list; the others are served',
  },
  clustersync_admission_requests_total: {
    type: 'counter',
    help: 'admission reviews; failed: this replica was not ready yet, or failed unexpectedly',
    labels: ['outcome'],
  },
  clustersync_admission_duration_seconds: { type: 'histogram', help: 'duration of an admission review', buckets: quick },
  clustersync_delivery_requests_total: { type: 'counter', help: 'content requests from agents', labels: ['route', 'code'] },
  clustersync_delivery_sent_bytes_total: { type: 'counter', help: 'content sent to agents' },
  clustersync_delivery_open_streams: { type: 'gauge', help: 'open response streams to agents' },
  clustersync_notifications_total: {
    type: 'counter',
    help: 'messages to git hosts and receivers by outcome of each attempt: sent, retried or dropped',
    labels: ['type', 'outcome'],
  },
  clustersync_captures_total: {
    type: 'counter',
    help: 'captured changes of gateways by outcome: Pushed, Nothing, Refused, or Failed and retried',
    labels: ['outcome'],
  },
  clustersync_certificate_issued_timestamp_seconds: { type: 'gauge', help: 'when the served certificate became valid' },
  clustersync_certificate_expiry_timestamp_seconds: { type: 'gauge', help: 'when the served certificate expires' },
} as const satisfies Record<string, Metric>

/** Written by each agent itself, without a library: runtime/agent/metrics.ts. */
export const agentMetrics = {
  clustersync_agent_build_info: { type: 'gauge', help: '1, with the version of the agent', labels: ['version'] },
  clustersync_agent_phase: { type: 'gauge', help: '1 for the current phase of the gateway', labels: ['phase'] },
  clustersync_agent_cycles_total: { type: 'counter', help: 'sync cycles by outcome', labels: ['outcome'] },
  clustersync_agent_consecutive_failures: { type: 'gauge', help: 'number of consecutive failed cycles' },
  clustersync_agent_last_success_timestamp_seconds: {
    type: 'gauge',
    help: 'when a sync cycle last ended with the published commit applied; absent before the first',
  },
  clustersync_agent_step_duration_seconds: { type: 'summary', help: 'duration of the steps of cycles, with any outcome', labels: ['step'] },
  clustersync_agent_files_total: { type: 'counter', help: 'files written or removed', labels: ['operation'] },
  clustersync_agent_written_bytes_total: { type: 'counter', help: 'bytes written to the data directory' },
  clustersync_agent_drifted_files: { type: 'gauge', help: 'managed files that were changed locally' },
  clustersync_agent_scans_total: { type: 'counter', help: 'requested scans by outcome', labels: ['outcome'] },
  clustersync_agent_gateway_state: {
    type: 'gauge',
    help: '1 for the state of the gateway at the last query',
    labels: ['state'],
  },
  clustersync_agent_open_designers: { type: 'gauge', help: 'Designer sessions that the gateway reported at the last query' },
} as const satisfies Record<string, Metric>

export type ObjectMetric = keyof typeof objectMetrics
export type ProcessMetric = keyof typeof processMetrics
export type NodeMetric = keyof typeof nodeMetrics
export type AgentMetric = keyof typeof agentMetrics
