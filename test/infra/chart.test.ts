/**
 * Which objects an installation consists of, for the extremes of its values: their names, their bytes, their ports.
 */
import { App, Yaml } from 'cdk8s'
import t from 'tap'
import { CrdChart, OperatorChart } from '../../infra/operator-chart.ts'
import type { Manifest } from '../support/manifest.ts'
import type { ValuesInput } from '../../infra/values.ts'
import { deploymentOf, everything, everythingOff, fullname, objectsOf, one, release, settingsOf } from './installed.ts'

/** Kinds and names, `*` for the full name. */
function listed(values: ValuesInput): string[] {
  return objectsOf(values).map(({ kind, metadata: { name } }) => `${kind} ${name.replace(fullname, '*')}`)
}

const roles = [
  'ClusterRole *-controller',
  'ClusterRoleBinding *-controller',
  'ClusterRole *-watched',
  'Role *',
  'RoleBinding *',
  'ClusterRole *-agent',
  'ClusterRole *-metrics-reader',
  'ClusterRoleBinding *-watched',
]
const policies = [
  'ValidatingAdmissionPolicy *-report',
  'ValidatingAdmissionPolicyBinding *-report',
  'ValidatingAdmissionPolicy *-status',
  'ValidatingAdmissionPolicyBinding *-status',
  'ValidatingAdmissionPolicy *-spec',
  'ValidatingAdmissionPolicyBinding *-spec',
  'ValidatingAdmissionPolicy *-stages',
  'ValidatingAdmissionPolicyBinding *-stages',
]
const always = ['ServiceAccount *', ...roles, 'ClusterRole *-secrets', 'ClusterRoleBinding *-secrets', ...policies]
const certificates = ['Issuer *-selfsigned', 'Certificate *-ca', 'Issuer *-ca', 'Certificate *-certificate']

void t.test('the defaults install the controller, certificates, delivery, admission and metrics', async (t) => {
  t.same(listed({}), [
    ...always,
    ...certificates,
    'Deployment *',
    'Service *-delivery',
    'Service *-webhook',
    'Service *-metrics',
    'MutatingWebhookConfiguration *',
  ])
})

void t.test(
  'everything on adds the receiver and the status page with their ways in, monitors, dashboards, alerts, a network policy and a disruption budget',
  async (t) => {
    t.same(listed({ ...everything, serviceAccount: {} }), [
      ...always,
      ...certificates,
      'StatefulSet *',
      'PodDisruptionBudget *',
      'Service *-delivery',
      'Service *-webhook',
      'Service *-metrics',
      'Secret *-receiver',
      'Service *-webhook-receiver',
      'Ingress *-webhook-receiver',
      'Service *-status-page',
      'Ingress *-status-page',
      'MutatingWebhookConfiguration *',
      'NetworkPolicy *',
      'ServiceMonitor *',
      'PodMonitor *-agents',
      'ConfigMap *-dashboards',
      'PrometheusRule *',
    ])
  },
)

void t.test('everything off leaves the controller, its roles and policies, and delivery', async (t) => {
  t.same(listed(everythingOff), [...roles, ...policies, 'Deployment *', 'Service *-delivery'])
})

void t.test('a namespace is made only when asked for, before everything that is in it', async (t) => {
  const made = (values: ValuesInput): unknown =>
    (new OperatorChart(new App(), 'operator', { release, values, createNamespace: true }).toJson() as Manifest[])[0]
  t.same(made({}), { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'operators' } })
  const common = { commonLabels: { site: 'north' }, commonAnnotations: { owner: 'platform' } }
  t.match(made(common), { metadata: { labels: { site: 'north' }, annotations: { owner: 'platform' } } })
})

void t.test('the same values give the same bytes', async (t) => {
  const written = (): string => {
    const app = new App()
    const charts = [new CrdChart(app, 'crds'), new OperatorChart(app, 'operator', { release, values: everything })]
    return charts.map((chart) => Yaml.stringify(...(chart.toJson() as unknown[]))).join('---\n')
  }
  t.equal(written(), written())
})

void t.test('each definition is small enough for a plain kubectl apply, which keeps it in an annotation', async (t) => {
  for (const definition of new CrdChart(new App(), 'crds').toJson() as Manifest[])
    t.ok(JSON.stringify(definition).length < 256 * 1024, definition.metadata.name)
})

void t.test('objects are named after the release, within the length that Kubernetes permits', async (t) => {
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

void t.test('two releases of one cluster share no object without a namespace', async (t) => {
  const global = (name: string): string[] =>
    objectsOf(everything, { name, namespace: name })
      .filter(({ metadata }) => metadata['namespace'] === undefined)
      .map(({ kind, metadata }) => `${kind} ${metadata.name}`)
  const second = new Set(global('two'))
  t.same(
    global('one').filter((name) => second.has(name)),
    [],
  )
})

void t.test('every port value reaches container, Service, network policy and the settings of the process', async (t) => {
  const objects = objectsOf(everything)
  const [container] = deploymentOf(objects).spec.template.spec.containers
  const usual = { probes: 8081, delivery: 19445, admission: 19443, receiver: 19444, metrics: 18443 }
  const chosen = { ...usual, 'status-page': 18444 }
  t.same(Object.fromEntries(container.ports.map(({ name, containerPort }) => [name, containerPort])), chosen)
  t.same(settingsOf(objects).ports, usual)
  t.equal(settingsOf(objects).statusPage?.port, 18444)
  const policy = one(objects, 'NetworkPolicy')
  const { probes: _probes, ...open } = chosen
  t.same(new Set(policy.spec.ingress.flatMap(({ ports }) => ports).map(({ port }) => port)), new Set(Object.values(open)))
  const service = (suffix: string): [number, string] => {
    const { port, targetPort } = one(objects, 'Service', `${fullname}${suffix}`).spec.ports[0]
    return [port, targetPort]
  }
  t.same(service('-delivery'), [19445, 'delivery'])
  t.same(service('-webhook'), [443, 'admission'], 'the API server finds admission at 443')
  t.same(service('-webhook-receiver'), [19444, 'receiver'])
  t.same(service('-metrics'), [18443, 'metrics'])
  t.same(service('-status-page'), [18444, 'status-page'])
  t.equal(settingsOf(objects).delivery.url, `https://${fullname}-delivery.operators.svc:19445`)
})

void t.test('what is off is not listened to and not let in', async (t) => {
  const objects = objectsOf({ ...everythingOff, networkPolicy: { enabled: true } })
  const [container] = deploymentOf(objects).spec.template.spec.containers
  t.same(
    container.ports.map(({ name }) => name),
    ['probes', 'delivery'],
  )
  const { spec } = one(objects, 'NetworkPolicy')
  t.same(
    spec.ingress.flatMap(({ ports }) => ports).map(({ port }) => port),
    [9445, 9445],
  )
  t.same(spec.policyTypes, ['Ingress'], 'nothing that goes out is limited')
  t.match(settingsOf(objects), {
    injection: { enabled: false },
    receiver: { enabled: false },
    metrics: { enabled: false },
    leaderElection: false,
    agent: { autoBind: false },
    certificates: { kind: 'selfManaged', secretName: `${fullname}-certificate` },
  })
})
