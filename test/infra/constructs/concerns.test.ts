/**
 * The installation in a cdk8s app: methods of cdk8s-plus constructs, patches, additional objects, their order, warnings.
 */
import { ApiObject, App, JsonPatch, Testing } from 'cdk8s'
import * as kplus from 'cdk8s-plus-28'
import { Construct } from 'constructs'
import t from 'tap'
import { createCharts } from '../../../infra/charts.ts'
import { OperatorChart } from '../../../infra/operator-chart.ts'
import type { ValuesInput } from '../../../infra/values.ts'
import { throwsError } from '../../support/assertions.ts'
import type { Manifest } from '../../support/manifest.ts'
import { everything, everythingOff, fullname, one, release } from '../installed.ts'

function operatorOf(values: ValuesInput): OperatorChart {
  return new OperatorChart(Testing.app(), 'operator', { release, values, onWarning: () => {} })
}

/** The paths of the API objects that are public members of a construct, directly or through other members. */
function membersOf(construct: object): string[] {
  return Object.values(construct).flatMap((member: unknown) => {
    const constructs = (isGroup(member) ? Object.values(member) : [member]).filter((element) => Construct.isConstruct(element))
    return constructs.flatMap((element) => {
      if (element instanceof kplus.Resource) return [ApiObject.of(element).node.path]
      return ApiObject.isApiObject(element) ? [element.node.path] : membersOf(element)
    })
  })
}

/** Whether a value is a list, or an object literal such as a policy with its binding. */
function isGroup(member: unknown): member is object {
  return Array.isArray(member) || (member instanceof Object && Object.getPrototypeOf(member) === Object.prototype)
}

void t.test('every object is a public member of its concern', async (t) => {
  for (const values of [{}, everything, everythingOff, { watchNamespaces: ['a', 'b'] }]) {
    const operator = operatorOf(values)
    const { permissions, agentPermissions, policies, certificates, contentServer, admission } = operator
    const { receiver, statusPage, networkPolicy, controller, monitoring } = operator
    const concerns: Construct[] = [permissions, agentPermissions, policies, certificates, contentServer, admission]
    concerns.push(receiver, statusPage, networkPolicy, controller, monitoring)
    const made = operator.apiObjects.map(({ node }) => node.path)
    t.strictSame(new Set(concerns.flatMap(membersOf)), new Set(made))
    t.equal(operator.toJson().length, made.length)
  }
})

void t.test('members have the methods of cdk8s-plus', async (t) => {
  const operator = operatorOf({ webhookReceiver: { enabled: true } })
  const service: kplus.Service | undefined = operator.receiver.service
  const ingress = service?.exposeViaIngress('/webhook', { pathType: kplus.HttpIngressPathType.PREFIX })
  const deployment: kplus.Deployment | kplus.StatefulSet = operator.controller.deployment
  deployment.podMetadata.addLabel('team', 'plant')
  deployment.scheduling.spread({ topology: kplus.Topology.ZONE })
  const written = operator.toJson() as Manifest[]
  t.ok(ingress)
  t.equal(written.find(({ kind }) => kind === 'Ingress')?.metadata['namespace'], release.namespace, 'beside its Service')
  const backend = { service: { name: `${fullname}-webhook-receiver`, port: { number: 9444 } } }
  t.strictSame(written.find(({ kind }) => kind === 'Ingress')?.['spec'], {
    rules: [{ http: { paths: [{ backend, path: '/webhook', pathType: 'Prefix' }] } }],
  })
  const { metadata, spec } = one(written, 'Deployment').spec.template
  t.equal(metadata.labels['team'], 'plant')
  const { affinity } = spec as unknown as {
    affinity: { podAntiAffinity: Record<string, { labelSelector: Selector; topologyKey: string }[]> }
  }
  const [term] = affinity.podAntiAffinity['requiredDuringSchedulingIgnoredDuringExecution'] ?? []
  t.equal(term?.topologyKey, 'topology.kubernetes.io/zone')
  for (const [key, value] of Object.entries(term?.labelSelector.matchLabels ?? {}))
    t.equal(metadata.labels[key], value, 'the pods have the label by which they are spread')
})

void t.test('scheduling and the values both apply: each node affinity term has both conditions', async (t) => {
  const zone = { key: 'zone', operator: 'In', values: ['north'] }
  const required = 'requiredDuringSchedulingIgnoredDuringExecution'
  const preferred = 'preferredDuringSchedulingIgnoredDuringExecution'
  const spare = { weight: 1, preference: { matchExpressions: [{ key: 'spare', operator: 'Exists' }] } }
  const { controller } = operatorOf({
    tolerations: [{ key: 'plant', operator: 'Exists' }],
    affinity: {
      nodeAffinity: {
        [required]: { nodeSelectorTerms: [{ matchExpressions: [zone] }, { matchFields: [zone] }] },
        [preferred]: [spare],
      },
      podAffinity: { [preferred]: [] },
    },
  })
  const { scheduling } = controller.deployment
  scheduling.attract(kplus.Node.labeled(kplus.NodeLabelQuery.is('arch', 'amd64')))
  scheduling.attract(kplus.Node.labeled(kplus.NodeLabelQuery.exists('ssd')), { weight: 5 })
  scheduling.tolerate(kplus.Node.tainted(kplus.NodeTaintQuery.is('dedicated', 'gitops')))
  const podOf = () =>
    (ApiObject.of(controller.deployment).toJson() as Manifest & { spec: { template: { spec: object } } }).spec.template.spec
  const arch = { key: 'arch', operator: 'In', values: ['amd64'] }
  const { affinity, tolerations } = podOf() as { affinity: object; tolerations: object[] }
  t.strictSame(tolerations, [
    { key: 'dedicated', operator: 'Equal', value: 'gitops' },
    { key: 'plant', operator: 'Exists' },
  ])
  t.strictSame(affinity, {
    nodeAffinity: {
      [required]: { nodeSelectorTerms: [{ matchExpressions: [arch, zone] }, { matchExpressions: [arch], matchFields: [zone] }] },
      [preferred]: [{ weight: 5, preference: { matchExpressions: [{ key: 'ssd', operator: 'Exists' }] } }, spare],
    },
    podAffinity: { [preferred]: [] },
  })
  ApiObject.of(controller.deployment).addJsonPatch(JsonPatch.remove('/spec/template/spec/affinity'))
  t.notOk('affinity' in podOf(), 'a patch of the app comes last')
})

void t.test('the Service that governs a StatefulSet keeps the labels by which an app selects', async (t) => {
  const operator = operatorOf({ source: { persistence: { enabled: true } } })
  operator.contentServer.service.selectLabel('role', 'leader')
  const { spec } = one(operator.toJson() as Manifest[], 'Service', `${fullname}-delivery`)
  t.strictSame((spec as unknown as { selector: object }).selector, {
    'app.kubernetes.io/name': 'cluster-sync-operator',
    'app.kubernetes.io/instance': 'plant',
    role: 'leader',
  })
})

void t.test('crds.install has no effect on the chart of the operator, which warns of it', async (t) => {
  const warned = (values: ValuesInput): string[] => operatorOf(values).warnings.filter((warning) => warning.startsWith('crds.'))
  t.strictSame(warned({ crds: { install: false } }), ['crds.install: no effect here; omit CrdChart, or run Helm with --skip-crds'])
  t.strictSame(warned({}), [])
  const reported: string[] = []
  const app = Testing.app()
  createCharts(app, { release, values: { crds: { install: false } }, onWarning: (warning) => reported.push(warning) })
  app.synth()
  t.ok(reported.length > 0 && !reported.some((warning) => warning.startsWith('crds.')), 'both charts together omit the CRDs')
})

type Selector = { matchLabels: Record<string, string> }

void t.test('a patch sets any field under its API name', async (t) => {
  const operator = operatorOf(everything)
  const { ingress, service } = operator.receiver
  if (ingress === undefined || service === undefined) throw new Error('the receiver has both')
  ApiObject.of(ingress).addJsonPatch(JsonPatch.replace('/spec/rules/0/host', 'other.example.com'))
  ApiObject.of(service).addJsonPatch(JsonPatch.add('/spec/clusterIP', '10.0.0.9'), JsonPatch.add('/spec/newerField', true))
  operator.monitoring.serviceMonitor?.addJsonPatch(JsonPatch.add('/spec/endpoints/0/newerField', 1))
  ApiObject.of(operator.controller.deployment).addJsonPatch(
    JsonPatch.add('/spec/template/spec/containers/0/resources', { limits: { cpu: '2' } }),
  )
  operator.controller.deployment.metadata.addLabel('team', 'plant')
  const written = operator.toJson() as Manifest[]
  const spec = written.find(({ kind }) => kind === 'Ingress')?.['spec'] as { rules: { host: string }[] } | undefined
  t.equal(spec?.rules[0]?.host, 'other.example.com')
  const { clusterIP, newerField } = one(written, 'Service', `${fullname}-webhook-receiver`).spec as unknown as Record<string, unknown>
  t.strictSame([clusterIP, newerField], ['10.0.0.9', true])
  t.equal((one(written, 'ServiceMonitor').spec.endpoints[0] as Record<string, unknown>)['newerField'], 1)
  const workload = written.find(({ kind }) => kind === 'StatefulSet') as Manifest & {
    spec: { template: { spec: { containers: [{ resources: object }] } } }
  }
  t.strictSame(workload.spec.template.spec.containers[0].resources, { limits: { cpu: '2' } })
  const { team, site } = workload.metadata['labels'] as Record<string, string>
  t.strictSame([team, site], ['plant', 'north'])
})

void t.test('the error of a patch that fails names the construct', async (t) => {
  const { deployment } = operatorOf({}).controller
  ApiObject.of(deployment).addJsonPatch(JsonPatch.add('/spec/none/field', 1))
  const construct = "construct at path 'operator/Controller/Deployment/Resource' with name 'plant-cluster-sync-operator'"
  throwsError(t, () => ApiObject.of(deployment).toJson(), {
    message: `Failed serializing ${construct}: TypeError: Cannot set properties of undefined (setting 'field')`,
  })
})

void t.test('objects that the values disable do not exist', async (t) => {
  const { receiver, admission, certificates, networkPolicy, monitoring, permissions } = operatorOf(everythingOff)
  const missing = [receiver.ingress, receiver.secret, admission.webhookConfiguration, certificates.certificate, networkPolicy.policy]
  t.strictSame(new Set([...missing, monitoring.alerts, permissions.secretsRole]), new Set([undefined]))
})

void t.test('a field newer than the types reaches the manifest if a user sets it', async (t) => {
  const image = { reference: 'registry.example.com/model:1' }
  const { controller } = operatorOf({
    podSecurityContext: { appArmorProfile: { type: 'RuntimeDefault' } },
    extraVolumes: [{ name: 'model', image }],
    affinity: { newerAffinity: { downwardAPI: 'x' } },
  })
  const { spec } = ApiObject.of(controller.deployment).toJson() as { spec: { template: { spec: Record<string, unknown> } } }
  const pod = spec.template.spec
  t.strictSame(pod['securityContext'], { appArmorProfile: { type: 'RuntimeDefault' } })
  t.strictSame((pod['volumes'] as object[]).at(-1), { name: 'model', image })
  t.strictSame(pod['affinity'], { newerAffinity: { downwardAPI: 'x' } })
})

void t.test('an object comes after those it refers to, and objects of the app come last by default', async (t) => {
  const kindsOf = (operator: OperatorChart): string[] => (operator.toJson() as Manifest[]).map(({ kind }) => kind)
  for (const values of [{}, everything]) {
    const kinds = kindsOf(operatorOf(values))
    const workload = kinds.findIndex((kind) => kind === 'Deployment' || kind === 'StatefulSet')
    for (const earlier of ['ServiceAccount', 'ClusterRoleBinding', 'RoleBinding', 'ValidatingAdmissionPolicyBinding', 'Certificate'])
      t.ok(kinds.lastIndexOf(earlier) < workload, `${earlier} before the pods`)
    for (const [role, binding] of [
      ['ServiceAccount', 'RoleBinding'],
      ['ClusterRole', 'ClusterRoleBinding'],
      ['Role', 'RoleBinding'],
    ] as const)
      t.ok(kinds.indexOf(role) < kinds.indexOf(binding), `${role} before ${binding}`)
    t.equal(kinds.at(-1), 'MutatingWebhookConfiguration')
  }
  const operator = operatorOf({})
  const quota = new ApiObject(operator, 'quota', { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'quota' } })
  const before = kindsOf(operator)
  t.strictSame([before[0], before.at(-1)], ['ServiceAccount', 'ResourceQuota'])
  operator.controller.deployment.node.addDependency(quota)
  const after = kindsOf(operator)
  t.ok(after.indexOf('ResourceQuota') < after.indexOf('Deployment'))
  t.strictSame(after.toSorted(), before.toSorted())
})

void t.test('a synthesized app receives each warning once, also as metadata of the construct', async (t) => {
  const app = new App({ outdir: t.testdir() })
  const received: string[] = []
  const values = { commonLabels: { 'app.kubernetes.io/name': 'other' } }
  const operator = new OperatorChart(app, 'operator', { release, values, onWarning: (warning) => received.push(warning) })
  t.strictSame(received, [], 'none before')
  app.synth()
  t.strictSame(received, operator.warnings)
  t.strictSame(
    received.map((warning) => warning.split(': ')[0]),
    ['image.repository', 'agentImage.repository', 'webhook.failurePolicy', 'commonLabels'],
  )
  t.strictSame(
    operator.node.metadata.map(({ type, data }) => [type, data as unknown]),
    received.map((warning) => ['warning', warning]),
  )
})
