/**
 * What Prometheus and Grafana are told: monitors select what exists, dashboards are found.
 */
import t from 'tap'
import type { ValuesInput } from '../../../infra/values.ts'
import { everything, fullname, type Kinds, objectsOf, one } from '../installed.ts'

void t.test('monitors select what exists: the metrics Service by its labels, timing only as given', async (t) => {
  const objects = objectsOf(everything)
  const monitor = one(objects, 'ServiceMonitor')
  t.match(monitor.metadata['labels'], { release: 'prometheus' })
  t.match(monitor.spec.endpoints, [{ interval: '30s', scrapeTimeout: '10s', honorLabels: true }], "a GatewaySync's namespace is its own")
  const selected = objects.filter(({ kind, metadata }) => {
    const labels = (metadata['labels'] ?? {}) as Record<string, string>
    return kind === 'Service' && Object.entries(monitor.spec.selector.matchLabels).every(([key, value]) => labels[key] === value)
  })
  t.same(
    selected.map(({ metadata }) => metadata.name),
    [`${fullname}-metrics`],
  )
  t.equal((selected[0] as Kinds['Service']).spec.type, 'NodePort')
  t.notOk('interval' in one(objectsOf({ podMonitor: { enabled: true } }), 'PodMonitor').spec.podMetricsEndpoints[0])
  t.match(monitor.spec.endpoints, [
    { authorization: { credentials: { name: 'scraper', key: 'token' } }, relabelings: [{ targetLabel: 'site' }] },
  ])
  t.notOk('bearerTokenFile' in (monitor.spec.endpoints[0] ?? {}), 'where a Secret is named, no file is')
  t.match(one(objectsOf({ serviceMonitor: { enabled: true } }), 'ServiceMonitor').spec.endpoints, [{ bearerTokenFile: /token$/ }])
})

void t.test('agents are scraped where they are: everywhere, or in the watched namespaces', async (t) => {
  const where = (values: ValuesInput): unknown =>
    one(objectsOf({ ...values, podMonitor: { enabled: true } }), 'PodMonitor').spec.namespaceSelector
  t.same(where({}), { any: true })
  t.same(where({ watchNamespaces: ['a', 'b'] }), { matchNames: ['a', 'b'] })
})

void t.test('dashboards: found by the usual label, unless that is set to nothing', async (t) => {
  const labels = (values: ValuesInput): unknown => one(objectsOf(values), 'ConfigMap').metadata['labels']
  t.match(labels({ grafanaDashboard: { enabled: true } }), { grafana_dashboard: '1' })
  t.match(labels(everything), { folder: 'plant' })
  t.notOk('grafana_dashboard' in (labels(everything) as object))
  t.match(one(objectsOf(everything), 'ConfigMap').metadata, { namespace: 'grafana', annotations: { a: 'b' } })
})
