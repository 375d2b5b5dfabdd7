/**
 * Objects for Prometheus and Grafana: monitors select existing objects, and Grafana finds the dashboards.
 */
import t from 'tap'
import type { ValuesInput } from '../../../infra/values.ts'
import { matchObject } from '../../support/assertions.ts'
import { everything, fullname, type Kinds, objectsOf, one } from '../installed.ts'

void t.test('the ServiceMonitor selects the metrics Service, with the given timing', async (t) => {
  const objects = objectsOf(everything)
  const monitor = one(objects, 'ServiceMonitor')
  matchObject(t, monitor.metadata['labels'], { release: 'prometheus' })
  matchObject(
    t,
    monitor.spec.endpoints,
    [{ interval: '30s', scrapeTimeout: '10s', honorLabels: true }],
    "a GatewaySync's namespace is its own",
  )
  const selected = objects.filter(({ kind, metadata }) => {
    const labels = (metadata['labels'] ?? {}) as Record<string, string>
    return kind === 'Service' && Object.entries(monitor.spec.selector.matchLabels).every(([key, value]) => labels[key] === value)
  })
  t.strictSame(
    selected.map(({ metadata }) => metadata.name),
    [`${fullname}-metrics`],
  )
  t.equal((selected[0] as Kinds['Service']).spec.type, 'NodePort')
  t.notOk('interval' in one(objectsOf({ podMonitor: { enabled: true } }), 'PodMonitor').spec.podMetricsEndpoints[0])
  matchObject(t, monitor.spec.endpoints, [
    { authorization: { credentials: { name: 'scraper', key: 'token' } }, relabelings: [{ targetLabel: 'site' }] },
  ])
  t.notOk('bearerTokenFile' in (monitor.spec.endpoints[0] ?? {}), 'where a Secret is named, no file is')
  matchObject(t, one(objectsOf({ serviceMonitor: { enabled: true } }), 'ServiceMonitor').spec.endpoints, [{ bearerTokenFile: /token$/ }])
})

void t.test('agents are scraped everywhere or in the watched namespaces', async (t) => {
  const where = (values: ValuesInput): unknown =>
    one(objectsOf({ ...values, podMonitor: { enabled: true } }), 'PodMonitor').spec.namespaceSelector
  t.strictSame(where({}), { any: true })
  t.strictSame(where({ watchNamespaces: ['a', 'b'] }), { matchNames: ['a', 'b'] })
})

void t.test('dashboards have the default label unless it is removed', async (t) => {
  const labels = (values: ValuesInput): unknown => one(objectsOf(values), 'ConfigMap').metadata['labels']
  matchObject(t, labels({ grafanaDashboard: { enabled: true } }), { grafana_dashboard: '1' })
  matchObject(t, labels(everything), { folder: 'plant' })
  t.notOk('grafana_dashboard' in (labels(everything) as object))
  matchObject(t, one(objectsOf(everything), 'ConfigMap').metadata, { namespace: 'grafana', annotations: { a: 'b' } })
})
