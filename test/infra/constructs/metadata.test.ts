/**
 * Labels and annotations of all objects, and those of single Services.
 */
import t from 'tap'
import { lacksText, matchObject } from '../../support/assertions.ts'
import { deploymentOf, everything, fullname, objectsOf, one } from '../installed.ts'

void t.test('common labels are on every object and in no selector; built-in and specific labels take precedence', async (t) => {
  const objects = objectsOf(everything)
  for (const { kind, metadata } of objects) {
    matchObject(t, metadata['labels'], { site: 'north', 'app.kubernetes.io/name': 'cluster-sync-operator' }, `${kind} ${metadata.name}`)
    matchObject(t, metadata['annotations'], { owner: 'platform' }, `${kind} ${metadata.name}`)
  }
  const { selector, template } = deploymentOf(objects).spec
  matchObject(t, template.metadata, { labels: { site: 'north' }, annotations: { owner: 'platform', note: 'a' } })
  lacksText(t, JSON.stringify(selector), 'site')
  const selectors = objects.flatMap((object) => {
    const { selector, podSelector, podMetricsEndpoints: _ } = (object['spec'] ?? {}) as Record<string, unknown>
    return [selector, podSelector]
  })
  lacksText(t, JSON.stringify(selectors), 'site')
  matchObject(t, one(objects, 'MutatingWebhookConfiguration').metadata, {
    annotations: { 'cert-manager.io/inject-ca-from': `operators/${fullname}-certificate` },
  })
  matchObject(t, deploymentOf(objects).metadata, { annotations: { 'example.com/reload': 'true' } })
})

void t.test('every object except the namespace has the labels of its installation', async (t) => {
  for (const { kind, metadata } of objectsOf(everything)) {
    matchObject(t, metadata['labels'], deploymentOf(objectsOf({})).spec.selector.matchLabels, `${kind} ${metadata.name}`)
  }
})

void t.test('each Service has the given type and annotations', async (t) => {
  const objects = objectsOf(everything)
  const service = (suffix: string): unknown => {
    const { metadata, spec } = one(objects, 'Service', `${fullname}${suffix}`)
    const { owner: _owner, note: _note, ...annotations } = metadata['annotations'] as Record<string, string>
    return [spec.type, annotations]
  }
  t.strictSame(service('-metrics'), ['NodePort', { 'example.com/scrape': 'true' }])
  t.strictSame(service('-webhook'), ['ClusterIP', { 'example.com/admission': 'true' }])
  t.strictSame(service('-delivery'), ['ClusterIP', { 'example.com/delivery': 'true' }])
  t.strictSame(service('-webhook-receiver'), ['LoadBalancer', { 'example.com/balancer': 'internal' }])
})
