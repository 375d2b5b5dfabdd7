/**
 * What every object says of itself, and what single Services say besides.
 */
import t from 'tap'
import { deploymentOf, everything, fullname, objectsOf, one } from '../installed.ts'

void t.test(
  'labels and annotations of all objects are on every one and in no selector; ours and those of a single object win',
  async (t) => {
    const objects = objectsOf(everything)
    for (const { kind, metadata } of objects) {
      t.match(metadata['labels'], { site: 'north', 'app.kubernetes.io/name': 'cluster-sync-operator' }, `${kind} ${metadata.name}`)
      t.match(metadata['annotations'], { owner: 'platform' }, `${kind} ${metadata.name}`)
    }
    const { selector, template } = deploymentOf(objects).spec
    t.match(template.metadata, { labels: { site: 'north' }, annotations: { owner: 'platform', note: 'a' } })
    t.notMatch(JSON.stringify(selector), 'site')
    const selectors = objects.flatMap((object) => {
      const { selector, podSelector, podMetricsEndpoints: _ } = (object['spec'] ?? {}) as Record<string, unknown>
      return [selector, podSelector]
    })
    t.notMatch(JSON.stringify(selectors), 'site')
    t.match(one(objects, 'MutatingWebhookConfiguration').metadata, {
      annotations: { 'cert-manager.io/inject-ca-from': `operators/${fullname}-certificate` },
    })
    t.match(deploymentOf(objects).metadata, { annotations: { 'example.com/reload': 'true' } })
  },
)

void t.test('every object but a namespace says which installation it is of', async (t) => {
  for (const { kind, metadata } of objectsOf(everything)) {
    t.match(metadata['labels'], deploymentOf(objectsOf({})).spec.selector.matchLabels, `${kind} ${metadata.name}`)
  }
})

void t.test('each Service is of the type and has the annotations that are given', async (t) => {
  const objects = objectsOf(everything)
  const service = (suffix: string): unknown => {
    const { metadata, spec } = one(objects, 'Service', `${fullname}${suffix}`)
    const { owner: _owner, note: _note, ...annotations } = metadata['annotations'] as Record<string, string>
    return [spec.type, annotations]
  }
  t.same(service('-metrics'), ['NodePort', { 'example.com/scrape': 'true' }])
  t.same(service('-webhook'), ['ClusterIP', { 'example.com/admission': 'true' }])
  t.same(service('-delivery'), ['ClusterIP', { 'example.com/delivery': 'true' }])
  t.same(service('-webhook-receiver'), ['LoadBalancer', { 'example.com/balancer': 'internal' }])
})
