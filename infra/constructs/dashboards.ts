/**
 * Two Grafana dashboards over the controller's figures: the fleet, and one GatewaySync. Pure.
 */
import type { ObjectMetric, ProcessMetric } from '../../runtime/metrics/table.ts'

type Dashboard = Record<string, unknown>
/** Every expression is made of names of the metrics table, so that a renamed metric does not compile. */
type Known = ObjectMetric | ProcessMetric

export function dashboards(): Record<string, Dashboard> {
  return { 'cluster-sync-fleet.json': fleet(), 'cluster-sync-gatewaysync.json': detail() }
}

function fleet(): Dashboard {
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
      graph('Questions to git hosts by reason', `sum by (reason) (rate(${metric('clustersync_source_fetch_total')}[5m]))`, '{{reason}}'),
      graph('Pushes by outcome', `sum by (outcome) (rate(${metric('clustersync_receiver_requests_total')}[5m]))`, '{{outcome}}'),
      graph('Passes by reason', `sum by (reason) (rate(${metric('clustersync_reconcile_total')}[5m]))`, '{{reason}}'),
      stat('Certificate ends in', `min(${metric('clustersync_certificate_expiry_timestamp_seconds')}) - time()`, 's'),
    ],
  )
}

function detail(): Dashboard {
  const of = (name: Known): string => `${metric(name)}{namespace="$namespace", name="$name"}`
  const label = (name: string, query: string) => ({ name, type: 'query', query: { query, refId: name }, datasource, refresh: 2 })
  const variables = [
    label('namespace', `label_values(${metric('clustersync_ready')}, namespace)`),
    label('name', `label_values(${metric('clustersync_ready')}{namespace="$namespace"}, name)`),
  ]
  return dashboard('clustersync-gatewaysync', 'Cluster Sync: one GatewaySync', variables, [
    stat('Ready', `max(${of('clustersync_ready')})`),
    stat('Published', `time() - max(${of('clustersync_published_timestamp_seconds')})`, 's'),
    stat('Git host asked', `time() - max(${of('clustersync_source_checked_timestamp_seconds')})`, 's'),
    graph('Gateways by state', `sum by (state) (${of('clustersync_gateways')})`, '{{state}}'),
    graph('Conditions', `max by (type) (${of('clustersync_condition')})`, '{{type}}'),
    graph('Findings', `max by (severity) (${of('clustersync_findings')})`, '{{severity}}'),
  ])
}

const datasource = { type: 'prometheus', uid: '${datasource}' }

function metric(name: Known): string {
  return name
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

/** Three panels a row. */
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
