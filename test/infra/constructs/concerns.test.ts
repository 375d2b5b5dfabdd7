/**
 * What an own cdk8s app can do with an installation: reach and patch each object, add its own, order them, hear warnings.
 */
import { ApiObject, App, JsonPatch, Testing } from 'cdk8s'
import { Construct } from 'constructs'
import t from 'tap'
import { OperatorChart } from '../../../infra/operator-chart.ts'
import type { ValuesInput } from '../../../infra/values.ts'
import type { Manifest } from '../../support/manifest.ts'
import { everything, everythingOff, fullname, one, release } from '../installed.ts'

function operatorOf(values: ValuesInput): OperatorChart {
  return new OperatorChart(Testing.app(), 'operator', { release, values, onWarning: () => {} })
}

/** The API objects that are members of a construct, or of constructs that are its members. */
function membersOf(construct: object): ApiObject[] {
  return Object.values(construct).flatMap((member: unknown) => {
    if (ApiObject.isApiObject(member)) return [member]
    if (Array.isArray(member)) return member.filter((element) => ApiObject.isApiObject(element))
    return Construct.isConstruct(member) && member !== construct ? membersOf(member) : []
  })
}

void t.test('every object is a public member of its concern, and is written exactly once', async (t) => {
  for (const values of [{}, everything, everythingOff, { watchNamespaces: ['a', 'b'] }]) {
    const operator = operatorOf(values)
    const made = operator.node.findAll().filter((construct) => ApiObject.isApiObject(construct))
    const { controller, agentRights, policies, certificates, delivery, admission, receiver, statusPage, network, monitoring } = operator
    const parts = [controller, agentRights, policies, certificates, delivery, admission, receiver, statusPage, network, monitoring]
    const members = parts.flatMap(membersOf)
    t.same(new Set(members.map(({ node }) => node.path)), new Set(made.map(({ node }) => node.path)))
    t.equal(operator.apiObjects.length, made.length)
    t.same(
      (operator.toJson() as Manifest[]).map(({ kind, metadata }) => `${kind} ${metadata.name}`),
      operator.apiObjects.map(({ kind, name }) => `${kind} ${name}`),
    )
  }
})

void t.test('a patch changes the object that is written, in the spelling of the API', async (t) => {
  const operator = operatorOf(everything)
  operator.receiver.ingress?.addJsonPatch(JsonPatch.replace('/spec/rules/0/host', 'other.example.com'))
  operator.receiver.service?.addJsonPatch(JsonPatch.add('/spec/clusterIP', '10.0.0.9'), JsonPatch.add('/spec/newerField', true))
  operator.controller.workload.metadata.addLabel('team', 'plant')
  const written = operator.toJson() as Manifest[]
  t.match(
    written.find(({ kind }) => kind === 'Ingress'),
    { spec: { rules: [{ host: 'other.example.com' }] } },
  )
  t.match(one(written, 'Service', `${fullname}-webhook-receiver`).spec, { clusterIP: '10.0.0.9', newerField: true })
  t.match(written.find(({ kind }) => kind === 'StatefulSet')?.metadata, { labels: { team: 'plant', site: 'north' } })
})

void t.test('what the values leave out is not there to be patched', async (t) => {
  const { receiver, admission, certificates, network, monitoring, controller } = operatorOf(everythingOff)
  const left = [
    receiver.ingress,
    receiver.secret,
    admission.webhookConfiguration,
    certificates.certificate,
    network.policy,
    monitoring.alerts,
  ]
  t.same(new Set([...left, controller.rights.serviceAccount]), new Set([undefined]))
})

void t.test('a field that is newer than the types reaches the manifest, where a user gives it', async (t) => {
  const { controller } = operatorOf({
    podSecurityContext: { appArmorProfile: { type: 'RuntimeDefault' } },
    extraVolumes: [{ name: 'model', image: { reference: 'registry.example.com/model:1' } }],
  })
  t.match((controller.workload.toJson() as { spec: object }).spec, {
    template: { spec: { securityContext: { appArmorProfile: { type: 'RuntimeDefault' } }, volumes: [{}, {}, {}, { image: {} }] } },
  })
})

void t.test('objects of the app come after ours, unless it says by dependencies what comes first', async (t) => {
  const kindsOf = (operator: OperatorChart): string[] => (operator.toJson() as Manifest[]).map(({ kind }) => kind)
  const operator = operatorOf({})
  const quota = new ApiObject(operator, 'quota', { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'quota' } })
  const before = kindsOf(operator)
  t.same([before[0], before.at(-1)], ['ServiceAccount', 'ResourceQuota'])
  operator.controller.workload.addDependency(quota)
  const after = kindsOf(operator)
  t.ok(after.indexOf('ResourceQuota') < after.indexOf('Deployment'))
  t.same(after.toSorted(), before.toSorted())
})

void t.test('an app that is synthesised hears each warning once, and finds it beside the construct', async (t) => {
  const app = new App({ outdir: t.testdir() })
  const heard: string[] = []
  const values = { commonLabels: { 'app.kubernetes.io/name': 'other' } }
  const operator = new OperatorChart(app, 'operator', { release, values, onWarning: (warning) => heard.push(warning) })
  t.same(heard, [], 'nothing is told before')
  app.synth()
  t.same(heard, operator.warnings)
  t.match(heard, [/^webhook\.failurePolicy: /, /^commonLabels: /])
  t.same(
    operator.node.metadata.map(({ type, data }) => [type, data as unknown]),
    heard.map((warning) => ['warning', warning]),
  )
})
