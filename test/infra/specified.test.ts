/**
 * Each specified value has its effect: a value other than the default appears in its place, and without it the place differs.
 */
import t from 'tap'
import type { ValuesInput } from '../../infra/values.ts'
import type { Manifest } from '../support/manifest.ts'
import { settingOf, withSettings } from '../support/flags.ts'
import { checkValues } from '../../infra/values/check.ts'
import { deploymentOf, everything, everythingOff, objectsOf, settingsOf } from './installed.ts'
import { specified } from './specified-values.ts'

/** A value, its place in the objects, the expected content (the value itself by default) and required other values. */
type Row = { set: unknown; at: (objects: readonly Manifest[]) => unknown; gives?: unknown; beside?: ValuesInput }

/** A place in the only object of a kind with that name suffix; undefined if there is none. */
function inside(kind: string, end: string, place: string): Row['at'] {
  return (objects) => {
    const found = objects.filter((object) => object.kind === kind && object.metadata.name.endsWith(end))
    if (found.length > 1) throw new Error(`${found.length} objects are ${kind} *${end}`)
    return settingOf((found[0] ?? {}) as ValuesInput, place)
  }
}

const there = (kind: string, end = ''): Row['at'] => inside(kind, end, 'kind')
const ofPod =
  (place: string): Row['at'] =>
  (objects) =>
    settingOf(deploymentOf(objects).spec.template as ValuesInput, place)
const ofContainer = (place: string): Row['at'] => ofPod(`spec.containers.0.${place}`)
const ofController =
  (place: string): Row['at'] =>
  (objects) =>
    settingOf(settingsOf(objects) as ValuesInput, place)
/** The volume of a receiver key. */
const keyVolume =
  (name: string): Row['at'] =>
  (objects) =>
    deploymentOf(objects).spec.template.spec.volumes.find((volume) => volume.name === `receiver-${name}`)?.secret

const receiver: ValuesInput = { webhookReceiver: { enabled: true, hmac: { secret: 'a' }, token: { secret: 'b' } } }
const host = { host: 'push.example.com', paths: [{ path: '/', pathType: 'Prefix' as const }] }
const ingress = withSettings(receiver, { 'webhookReceiver.ingress': { enabled: true, hosts: [host] } })
const serviceMonitor: ValuesInput = { serviceMonitor: { enabled: true } }
const podMonitor: ValuesInput = { podMonitor: { enabled: true } }
const dashboard: ValuesInput = { grafanaDashboard: { enabled: true } }
const encoded = (text: string): string => Buffer.from(text).toString('base64')

const rows: Readonly<Record<string, Row>> = {
  replicaCount: { set: 3, at: inside('Deployment', '', 'spec.replicas') },
  'image.repository': { set: 'example.com/a', at: ofContainer('image'), gives: 'example.com/a:1', beside: { image: { tag: '1' } } },
  'image.tag': { set: '7', at: ofContainer('image'), gives: 'clustersync/controller:7' },
  'image.pullPolicy': { set: 'Always', at: ofContainer('imagePullPolicy') },
  imagePullSecrets: { set: [{ name: 'registry' }], at: ofPod('spec.imagePullSecrets') },
  nameOverride: { set: 'other', at: inside('Deployment', '', 'metadata.name'), gives: 'plant-other' },
  fullnameOverride: { set: 'other', at: inside('Deployment', '', 'metadata.name') },
  'agentImage.repository': {
    set: 'example.com/a',
    at: ofController('agent.image'),
    gives: 'example.com/a:1',
    beside: { agentImage: { tag: '1' } },
  },
  'agentImage.tag': { set: '7', at: ofController('agent.image'), gives: 'clustersync/agent:7' },
  'leaderElection.enabled': { set: false, at: ofController('leaderElection') },
  'resources.requests.cpu': { set: '20m', at: ofContainer('resources.requests.cpu') },
  'resources.requests.memory': { set: '96Mi', at: ofContainer('resources.requests.memory') },
  'resources.limits.cpu': { set: '750m', at: ofContainer('resources.limits.cpu') },
  'resources.limits.memory': { set: '192Mi', at: ofContainer('resources.limits.memory') },
  nodeSelector: { set: { disk: 'fast' }, at: ofPod('spec.nodeSelector') },
  tolerations: { set: [{ key: 'plant', operator: 'Exists' }], at: ofPod('spec.tolerations') },
  podAnnotations: { set: { note: 'a' }, at: ofPod('metadata.annotations') },
  podLabels: { set: { team: 'plant' }, at: ofPod('metadata.labels.team'), gives: 'plant' },
  affinity: { set: { podAntiAffinity: {} }, at: ofPod('spec.affinity') },
  'controller.logDevMode': { set: 'true', at: ofController('development'), gives: true },
  'certManager.enabled': { set: false, at: there('Certificate', '-ca'), gives: undefined },
  'metrics.enabled': { set: false, at: there('Service', '-metrics'), gives: undefined },
  'metrics.service.type': { set: 'NodePort', at: inside('Service', '-metrics', 'spec.type') },
  'metrics.service.port': { set: 9000, at: inside('Service', '-metrics', 'spec.ports.0.port') },
  'serviceMonitor.enabled': { set: true, at: there('ServiceMonitor'), gives: 'ServiceMonitor' },
  'serviceMonitor.labels': { set: { a: 'b' }, at: inside('ServiceMonitor', '', 'metadata.labels.a'), gives: 'b', beside: serviceMonitor },
  'serviceMonitor.interval': { set: '30s', at: inside('ServiceMonitor', '', 'spec.endpoints.0.interval'), beside: serviceMonitor },
  'serviceMonitor.scrapeTimeout': {
    set: '5s',
    at: inside('ServiceMonitor', '', 'spec.endpoints.0.scrapeTimeout'),
    beside: serviceMonitor,
  },
  'podMonitor.enabled': { set: true, at: there('PodMonitor'), gives: 'PodMonitor' },
  'podMonitor.labels': { set: { a: 'b' }, at: inside('PodMonitor', '', 'metadata.labels.a'), gives: 'b', beside: podMonitor },
  'podMonitor.interval': { set: '30s', at: inside('PodMonitor', '', 'spec.podMetricsEndpoints.0.interval'), beside: podMonitor },
  'podMonitor.scrapeTimeout': { set: '5s', at: inside('PodMonitor', '', 'spec.podMetricsEndpoints.0.scrapeTimeout'), beside: podMonitor },
  'grafanaDashboard.enabled': { set: true, at: there('ConfigMap', '-dashboards'), gives: 'ConfigMap' },
  'grafanaDashboard.namespace': { set: 'grafana', at: inside('ConfigMap', '-dashboards', 'metadata.namespace'), beside: dashboard },
  'grafanaDashboard.labels': {
    set: { a: 'b' },
    at: inside('ConfigMap', '-dashboards', 'metadata.labels.a'),
    gives: 'b',
    beside: dashboard,
  },
  'grafanaDashboard.annotations': { set: { a: 'b' }, at: inside('ConfigMap', '-dashboards', 'metadata.annotations'), beside: dashboard },
  'networkPolicy.enabled': { set: true, at: there('NetworkPolicy'), gives: 'NetworkPolicy' },
  'webhook.enabled': { set: false, at: there('MutatingWebhookConfiguration'), gives: undefined },
  'webhook.port': { set: 9000, at: ofController('ports.admission') },
  'webhook.namespaceSelector.requireLabel': {
    set: true,
    at: inside('MutatingWebhookConfiguration', '', 'webhooks.0.namespaceSelector.matchLabels'),
    gives: { 'clustersync.io/injection': 'enabled' },
  },
  'rbac.autoBindAgent.enabled': { set: false, at: ofController('agent.autoBind') },
  'webhookReceiver.enabled': {
    set: true,
    at: (objects) => [there('Service', '-webhook-receiver')(objects), ofController('receiver.enabled')(objects)],
    gives: ['Service', true],
    beside: withSettings(receiver, { 'webhookReceiver.enabled': false }),
  },
  'webhookReceiver.port': {
    set: 9000,
    at: (objects) => [inside('Service', '-webhook-receiver', 'spec.ports.0.port')(objects), ofController('ports.receiver')(objects)],
    gives: [9000, 9000],
    beside: receiver,
  },
  'webhookReceiver.hmac.secret': { set: 'mine', at: inside('Secret', '-receiver', 'data.hmac'), gives: encoded('mine'), beside: receiver },
  'webhookReceiver.hmac.secretRef.name': {
    set: 'push',
    at: keyVolume('hmac'),
    gives: { secretName: 'push', optional: true, items: [{ key: 'webhook-secret', path: 'value' }] },
    beside: receiver,
  },
  'webhookReceiver.hmac.secretRef.key': {
    set: 'mine',
    at: keyVolume('hmac'),
    gives: { secretName: 'push', optional: true, items: [{ key: 'mine', path: 'value' }] },
    beside: withSettings(receiver, { 'webhookReceiver.hmac.secretRef.name': 'push' }),
  },
  'webhookReceiver.token.secret': {
    set: 'mine',
    at: inside('Secret', '-receiver', 'data.token'),
    gives: encoded('mine'),
    beside: receiver,
  },
  'webhookReceiver.token.secretRef.name': {
    set: 'push',
    at: keyVolume('token'),
    gives: { secretName: 'push', optional: true, items: [{ key: 'webhook-token', path: 'value' }] },
    beside: receiver,
  },
  'webhookReceiver.token.secretRef.key': {
    set: 'mine',
    at: keyVolume('token'),
    gives: { secretName: 'push', optional: true, items: [{ key: 'mine', path: 'value' }] },
    beside: withSettings(receiver, { 'webhookReceiver.token.secretRef.name': 'push' }),
  },
  'webhookReceiver.ingress.enabled': {
    set: true,
    at: there('Ingress'),
    gives: 'Ingress',
    beside: withSettings(ingress, { 'webhookReceiver.ingress.enabled': false }),
  },
  'webhookReceiver.ingress.ingressClassName': { set: 'outside', at: inside('Ingress', '', 'spec.ingressClassName'), beside: ingress },
  'webhookReceiver.ingress.annotations': { set: { a: 'b' }, at: inside('Ingress', '', 'metadata.annotations'), beside: ingress },
  'webhookReceiver.ingress.hosts': {
    set: [{ ...host, host: 'other.example.com' }],
    at: inside('Ingress', '', 'spec.rules.0.host'),
    gives: 'other.example.com',
    beside: ingress,
  },
  'webhookReceiver.ingress.tls': {
    set: [{ secretName: 'push-tls', hosts: ['push.example.com'] }],
    at: inside('Ingress', '', 'spec.tls'),
    beside: ingress,
  },
}

void t.test('each specified value has a row', async (t) => {
  t.strictSame(Object.keys(rows).toSorted(), Object.keys(specified).toSorted())
})

for (const [key, { set, at, beside = {}, ...row }] of Object.entries(rows)) {
  void t.test(`${key} stands where it belongs`, async (t) => {
    const expected = 'gives' in row ? row.gives : set
    t.strictSame(at(objectsOf(withSettings(beside, { [key]: set }))), expected)
    t.strictNotSame(at(objectsOf(beside)), expected, 'and something else does without it')
  })
}

void t.test('the extreme profiles set each specified value to something other than its default', async (t) => {
  const [on, off] = [everything, everythingOff].map((values) => checkValues(values).values)
  const usual = Object.entries(specified).filter(([key, value]) =>
    [on, off].every((values) => JSON.stringify(settingOf(values ?? {}, key)) === JSON.stringify(value)),
  )
  // The first two would rename every object; an inline key and a reference to a key exclude each other.
  t.strictSame(
    usual.map(([key]) => key),
    ['nameOverride', 'fullnameOverride', 'webhookReceiver.hmac.secretRef.name', 'webhookReceiver.hmac.secretRef.key'],
  )
})
