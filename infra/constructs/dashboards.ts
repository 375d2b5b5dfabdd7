/**
 * Three Grafana dashboards: of the fleet and of one GatewaySync, with metrics of the controller, and of one gateway, with metrics of its
 * agent. Pure.
 */
import { agentContainerName } from '../../runtime/api/names.ts'
import type { AgentMetric, NodeMetric, ObjectMetric, ProcessMetric } from '../../runtime/telemetry/metrics/table.ts'

type Dashboard = {
  uid: string
  title: string
  templating: { list: object[] }
  panels: { id: number; type: string; title: string; fieldConfig: { defaults: { unit: string } }; targets: Target[] }[]
} & Record<string, unknown>
type Target = { refId: string; expr: string; legendFormat: string; datasource: object }

/** Expressions use only these names, so that renaming a metric is a compile error here. */
type Known = ObjectMetric | ProcessMetric | AgentMetric | NodeMetric

/** All dashboards by file name. */
export function dashboards(): Record<string, Dashboard> {
  return { 'cluster-sync-fleet.json': fleet(), 'cluster-sync-gatewaysync.json': detail(), 'cluster-sync-gateway.json': gateway() }
}

function fleet(): Dashboard {
  // Every Node process has metrics with these names; targets of the controller also expose clustersync_build_info.
  const ofController = (name: NodeMetric): string => `${metric(name)} * on (job, instance) group_left() ${metric('clustersync_build_info')}`
  return dashboard(
    'clustersync-fleet',
    'Cluster Sync: fleet',
    [],
    [
      stat('Not ready', `count(${metric('clustersync_ready')} == 0) or vector(0)`),
      stat('Gateways', `sum(${metric('clustersync_gateways')})`),
      stat('Leader', `max(${metric('clustersync_leader')})`),
      graph('Gateways by state', `sum by (state) (${metric('clustersync_gateways')})`, '{{state}}'),
      graph('Push to applied, 99th percentile', quantile('clustersync_push_to_applied_seconds'), '', 's'),
      graph('Agents by version', `max by (skew) (${metric('clustersync_agents')})`, '{{skew}}'),
      graph('Calls to git hosts by reason', rates('clustersync_source_requests_total', 'reason'), '{{reason}}'),
      graph('Duration of calls to git hosts, 99th percentile', quantile('clustersync_source_request_duration_seconds'), '', 's'),
      graph(
        'Mirror volume in use',
        `max(${metric('clustersync_source_volume_used_bytes')} / ${metric('clustersync_source_volume_limit_bytes')})`,
        '',
        'percentunit',
      ),
      graph('Pushes by outcome', rates('clustersync_receiver_requests_total', 'outcome'), '{{outcome}}'),
      graph('Admission by outcome', rates('clustersync_admission_requests_total', 'outcome'), '{{outcome}}'),
      graph(
        'Delivery to agents',
        `sum by (route, code) (rate(${metric('clustersync_delivery_requests_total')}[5m]))`,
        '{{route}} {{code}}',
      ),
      graph('Reconciles by reason', rates('clustersync_reconcile_total', 'reason'), '{{reason}}'),
      graph('Queue wait, 99th percentile', quantile('clustersync_queue_wait_seconds'), '', 's'),
      graph(
        'Failed watches',
        `sum by (kind, from) (increase(${metric('clustersync_watch_restarts_total')}[5m]))`,
        '{{kind}} from {{from}}',
      ),
      graph('Controller memory', ofController('process_resident_memory_bytes'), '{{pod}}', 'bytes'),
      graph('Event loop delay, 99th percentile', quantile('clustersync_event_loop_delay_seconds'), '', 's'),
      stat('Certificate expires in', `min(${metric('clustersync_certificate_expiry_timestamp_seconds')}) - time()`, 's'),
    ],
  )
}

function detail(): Dashboard {
  const of = (name: ObjectMetric): string => `${metric(name)}{namespace="$namespace", name="$name"}`
  const variables = [
    variable('namespace', `label_values(${metric('clustersync_ready')}, namespace)`),
    variable('name', `label_values(${metric('clustersync_ready')}{namespace="$namespace"}, name)`),
  ]
  return dashboard('clustersync-gatewaysync', 'Cluster Sync: one GatewaySync', variables, [
    stat('Ready', `max(${of('clustersync_ready')})`),
    stat('Published', `time() - max(${of('clustersync_published_timestamp_seconds')})`, 's'),
    stat('Last git check', `time() - max(${of('clustersync_source_checked_timestamp_seconds')})`, 's'),
    graph('Gateways by state', `sum by (state) (${of('clustersync_gateways')})`, '{{state}}'),
    graph('Conditions', `max by (type) (${of('clustersync_condition')})`, '{{type}}'),
    graph('Findings', `max by (severity) (${of('clustersync_findings')})`, '{{severity}}'),
  ])
}

/** Its metrics come from the PodMonitor, which adds the labels `namespace` and `pod`. */
function gateway(): Dashboard {
  const of = (name: AgentMetric | NodeMetric, part = ''): string =>
    `${metric(name)}${part}{namespace="$namespace", pod="$pod", container="${agentContainerName}"}`
  const variables = [
    variable('namespace', `label_values(${metric('clustersync_agent_phase')}, namespace)`),
    variable('pod', `label_values(${metric('clustersync_agent_phase')}{namespace="$namespace"}, pod)`),
  ]
  const meanStep = (part: string): string => `sum by (step) (rate(${of('clustersync_agent_step_duration_seconds', part)}[5m]))`
  return dashboard('clustersync-gateway', 'Cluster Sync: one gateway', variables, [
    stat('Last success', `time() - max(${of('clustersync_agent_last_success_timestamp_seconds')})`, 's'),
    stat('Consecutive failures', `max(${of('clustersync_agent_consecutive_failures')})`),
    stat('Files changed locally', `max(${of('clustersync_agent_drifted_files')})`),
    graph('Phase', `max by (phase) (${of('clustersync_agent_phase')})`, '{{phase}}'),
    graph('Gateway state', `max by (state) (${of('clustersync_agent_gateway_state')})`, '{{state}}'),
    graph('Open Designers', `max(${of('clustersync_agent_open_designers')})`, ''),
    graph('Cycles by outcome', `sum by (outcome) (rate(${of('clustersync_agent_cycles_total')}[5m]))`, '{{outcome}}'),
    graph('Mean step duration', `${meanStep('_sum')} / (${meanStep('_count')} > 0)`, '{{step}}', 's'),
    graph('Scans by outcome', `sum by (outcome) (increase(${of('clustersync_agent_scans_total')}[5m]))`, '{{outcome}}'),
    graph('Files by operation', `sum by (operation) (increase(${of('clustersync_agent_files_total')}[5m]))`, '{{operation}}'),
    graph('Agent memory', of('process_resident_memory_bytes'), '', 'bytes'),
    graph('Agent CPU', `rate(${of('process_cpu_seconds_total')}[5m])`, '', 'percentunit'),
  ])
}

const datasource = { type: 'prometheus', uid: '${datasource}' }

function metric(name: Known): string {
  return name
}

function variable(name: string, query: string): object {
  return { name, type: 'query', query: { query, refId: name }, datasource, refresh: 2 }
}

function rates(name: Extract<Known, `${string}_total`>, label: string): string {
  return `sum by (${label}) (rate(${name}[5m]))`
}

function quantile(name: Extract<Known, `${string}_seconds`>): string {
  return `histogram_quantile(0.99, sum by (le) (rate(${name}_bucket[15m])))`
}

type Panel = { kind: 'stat' | 'timeseries'; title: string; expr: string; legend: string; unit: string }

function stat(title: string, expr: string, unit = 'short'): Panel {
  return { kind: 'stat', title, expr, legend: '', unit }
}

function graph(title: string, expr: string, legend: string, unit = 'short'): Panel {
  return { kind: 'timeseries', title, expr, legend, unit }
}

/** Three panels per row. */
function dashboard(uid: string, title: string, variables: object[], panels: Panel[]): Dashboard {
  return {
    uid,
    title,
    schemaVersion: 39,
    timezone: 'browser',
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    templating: { list: [{ name: 'datasource', type: 'datasource', query: 'prometheus' }, ...variables] },
    panels: panels.map(({ kind, title, expr, legend, unit }, index) => ({
      id: index + 1,
      type: kind,
      title,
      datasource,
      gridPos: { x: (index % 3) * 8, y: Math.floor(index / 3) * 8, w: 8, h: 8 },
      fieldConfig: { defaults: { unit }, overrides: [] },
      targets: [{ refId: 'A', datasource, expr, legendFormat: legend }],
    })),
  }
}
