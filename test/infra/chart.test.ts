/**
 * The objects of an installation for the extremes of its values: their names, bytes and ports.
 */
import { App, Yaml } from 'cdk8s'
import t from 'tap'
import { CrdChart, OperatorChart } from '../../infra/operator-chart.ts'
import type { Manifest } from '../support/manifest.ts'
import type { ValuesInput } from '../../infra/values.ts'
import { deploymentOf, everything, everythingOff, fullname, objectsOf, one, release, settingsOf } from './installed.ts'
import { matchObject } from '../support/assertions.ts'

/** Kinds and names, with `*` for the full name. */
function listed(values: ValuesInput): string[] {
  return objectsOf(values).map(({ kind, metadata: { name } }) => `${kind} ${name.replace(fullname, '*')}`)
}

const account = ['ServiceAccount *']
const permissions = [
  'ClusterRole *-controller',
  'ClusterRoleBinding *-controller',
  'ClusterRole *-watched',
  'ClusterRoleBinding *-watched',
  'Role *',
  'RoleBinding *',
]
const secrets = ['ClusterRole *-secrets', 'ClusterRoleBinding *-secrets']
const policies = ['report', 'status', 'spec', 'stages', 'own'].flatMap((name) => [
  `ValidatingAdmissionPolicy *-${name}`,
  `ValidatingAdmissionPolicyBinding *-${name}`,
])
const always = [...permissions, ...secrets, 'ClusterRole *-agent', ...policies]
const certificates = ['Issuer *-selfsigned', 'Certificate *-ca', 'Issuer *-ca', 'Certificate *-certificate']
const metrics = ['ClusterRole *-metrics-reader', 'Service *-metrics']
const admission = ['Service *-webhook', 'MutatingWebhookConfiguration *']

void t.test('the defaults install the controller, certificates, the content server, admission and metrics', async (t) => {
  const content = ['Service *-delivery']
  t.strictSame(new Set(listed({})), new Set([...account, ...always, ...certificates, ...content, ...metrics, 'Deployment *', ...admission]))
})

void t.test('everything on adds the receiver, the status page, monitoring, a network policy and a disruption budget', async (t) => {
  const reached = ['webhook-receiver', 'status-page'].flatMap((name) => [`Service *-${name}`, `Ingress *-${name}`])
  const monitors = ['ServiceMonitor *', 'PodMonitor *-agents', 'ConfigMap *-dashboards', 'PrometheusRule *', 'NetworkPolicy *']
  const pods = ['StatefulSet *', 'PodDisruptionBudget *', 'Service *-delivery']
  const desired = [...account, ...always, ...certificates, 'Secret *-receiver', ...reached, ...metrics, ...monitors, ...pods, ...admission]
  t.strictSame(new Set(listed({ ...everything, serviceAccount: {} })), new Set(desired))
})

void t.test('everything off leaves the controller, its roles and policies, and the content server', async (t) => {
  const rest = ['ClusterRole *-agent', 'ClusterRole *-metrics-reader', 'Service *-delivery', 'Deployment *']
  t.strictSame(new Set(listed(everythingOff)), new Set([...permissions, ...policies, ...rest]))
})

void t.test('a requested namespace comes before the objects in it, with the common labels and annotations', async (t) => {
  const made = (values: ValuesInput): unknown =>
    (new OperatorChart(new App(), 'operator', { release, values, createNamespace: true }).toJson() as Manifest[])[0]
  t.strictSame(made({}), { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'operators' } })
  const common = { commonLabels: { site: 'north' }, commonAnnotations: { owner: 'platform' } }
  matchObject(t, made(common), { metadata: { labels: { site: 'north' }, annotations: { owner: 'platform' } } })
})

void t.test('the same values give the same bytes', async (t) => {
  const written = (): string => {
    const app = new App()
    const charts = [new CrdChart(app, 'crds'), new OperatorChart(app, 'operator', { release, values: everything })]
    return charts.map((chart) => Yaml.stringify(...(chart.toJson() as unknown[]))).join('---\n')
  }
  t.equal(written(), written())
})

void t.test('each CRD is small enough for a client-side kubectl apply', async (t) => {
  for (const definition of new CrdChart(new App(), 'crds').toJson() as Manifest[])
    t.ok(JSON.stringify(definition).length < 256 * 1024, definition.metadata.name)
})

void t.test('objects are named after the release, within the length limit of Kubernetes', async (t) => {
  const roots: [name: string, values: ValuesInput, fullname: string][] = [
    ['plant', {}, 'plant-cluster-sync-operator'],
    ['cluster-sync-operator', {}, 'cluster-sync-operator'],
    ['my-cluster-sync-operator-1', {}, 'my-cluster-sync-operator-1'],
    ['plant', { nameOverride: 'sync' }, 'plant-sync'],
    ['plant', { fullnameOverride: 'sync' }, 'sync'],
    ['p'.repeat(63), {}, 'p'.repeat(46)],
    ['plant', { fullnameOverride: `${'p'.repeat(45)}-operator` }, 'p'.repeat(45)],
  ]
  for (const [name, values, expected] of roots) {
    await t.test(`release ${name} with ${JSON.stringify(values)}`, async (t) => {
      const objects = objectsOf({ ...everything, ...values }, { ...release, name })
      t.equal(deploymentOf(objects).metadata.name, expected)
      for (const suffix of ['-webhook', '-delivery', '-metrics', '-webhook-receiver']) one(objects, 'Service', `${expected}${suffix}`)
      for (const suffix of ['-controller', '-watched', '-secrets', '-agent', '-metrics-reader'])
        one(objects, 'ClusterRole', `${expected}${suffix}`)
      for (const { kind, metadata } of objects) {
        t.ok(metadata.name.length <= 63, `${kind} ${metadata.name}`)
        for (const value of Object.values((metadata['labels'] ?? {}) as Record<string, string>)) t.ok(value.length <= 63, value)
      }
    })
  }
})

void t.test('two releases in one cluster share no cluster-scoped object', async (t) => {
  const global = (name: string): string[] =>
    objectsOf(everything, { name, namespace: name })
      .filter(({ metadata }) => metadata['namespace'] === undefined)
      .map(({ kind, metadata }) => `${kind} ${metadata.name}`)
  const second = new Set(global('two'))
  t.strictSame(
    global('one').filter((name) => second.has(name)),
    [],
  )
})

void t.test('every port value reaches the container, Service, network policy and process settings', async (t) => {
  const objects = objectsOf(everything)
  const [container] = deploymentOf(objects).spec.template.spec.containers
  const usual = { probes: 8081, delivery: 19445, admission: 19443, receiver: 19444, metrics: 18443 }
  const chosen = { ...usual, 'status-page': 18444 }
  t.strictSame(Object.fromEntries(container.ports.map(({ name, containerPort }) => [name, containerPort])), chosen)
  t.strictSame(settingsOf(objects).ports, usual)
  t.equal(settingsOf(objects).statusPage?.port, 18444)
  const policy = one(objects, 'NetworkPolicy')
  const { probes: _probes, ...open } = chosen
  t.strictSame(new Set(policy.spec.ingress.flatMap(({ ports }) => ports).map(({ port }) => port)), new Set(Object.values(open)))
  const service = (suffix: string): [number, string] => {
    const { port, targetPort } = one(objects, 'Service', `${fullname}${suffix}`).spec.ports[0]
    return [port, targetPort]
  }
  t.strictSame(service('-delivery'), [19445, 'delivery'])
  t.strictSame(service('-webhook'), [443, 'admission'], 'the API server finds admission at 443')
  t.strictSame(service('-webhook-receiver'), [19444, 'receiver'])
  t.strictSame(service('-metrics'), [18443, 'metrics'])
  t.strictSame(service('-status-page'), [18444, 'status-page'])
  t.equal(settingsOf(objects).delivery.url, `https://${fullname}-delivery.operators.svc:19445`)
})

void t.test('a disabled endpoint has no port and no network policy rule', async (t) => {
  const objects = objectsOf({ ...everythingOff, networkPolicy: { enabled: true } })
  const [container] = deploymentOf(objects).spec.template.spec.containers
  t.strictSame(
    container.ports.map(({ name }) => name),
    ['probes', 'delivery'],
  )
  const { spec } = one(objects, 'NetworkPolicy')
  t.strictSame(
    spec.ingress.flatMap(({ ports }) => ports).map(({ port }) => port),
    [9445, 9445],
  )
  t.strictSame(spec.policyTypes, ['Ingress'], 'nothing that goes out is limited')
  matchObject(t, settingsOf(objects), {
    injection: { enabled: false },
    receiver: { enabled: false },
    metrics: { enabled: false },
    leaderElection: false,
    agent: { autoBind: false },
    certificates: { kind: 'selfManaged', secretName: `${fullname}-certificate` },
  })
})
