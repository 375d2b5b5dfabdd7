/**
 * What injection changes in a pod, and which pods it leaves unchanged.
 */
import t from 'tap'
import * as v from 'valibot'
import { type FoundSync, injectAgent } from '../../../runtime/injection/inject.ts'
import { type Pod, pod as podSchema } from '../../../runtime/injection/pod.ts'
import { containsText, lacksText, matchObject } from '../../support/assertions.ts'
import { env, inject, plant, settings, spec } from '../../support/injected.ts'
import { chartPod, type PodShape } from '../../support/pods.ts'

void t.test('the agent comes after the init container that seeds the data volume', async (t) => {
  const { pod } = inject(chartPod())
  t.strictSame(
    pod.spec.initContainers?.map(({ name }) => name),
    ['preconfigure', 'cluster-sync-agent'],
  )
})

void t.test('an existing native sidecar, such as a mesh proxy, starts before the agent and stays unchanged', async (t) => {
  const proxy = {
    name: 'istio-proxy',
    image: 'proxy',
    restartPolicy: 'Always',
    ports: [{ name: 'metrics', containerPort: 15090 }],
    startupProbe: { httpGet: { path: '/ready', port: 15021 } },
  }
  const before = chartPod()
  before.spec.initContainers = [proxy, ...(before.spec.initContainers ?? [])]
  const { pod } = inject(v.parse(podSchema, before) as Pod & PodShape)
  t.strictSame(
    pod.spec.initContainers?.map(({ name }) => name),
    ['istio-proxy', 'preconfigure', 'cluster-sync-agent'],
  )
  t.strictSame(pod.spec.initContainers?.[0], proxy)
})

void t.test('the patch changes only fields of the agent', async (t) => {
  const before = chartPod()
  const { pod } = inject(before)
  t.strictSame(pod.spec.containers, before.spec.containers)
  t.strictSame(pod.spec.initContainers?.slice(0, 1), before.spec.initContainers)
  t.strictSame(pod.spec.volumes?.slice(0, 1), before.spec.volumes)
  t.strictSame(
    pod.spec.volumes?.slice(1).map(({ name }) => name),
    ['cluster-sync-delivery-token', 'cluster-sync-api-token', 'cluster-sync-pod-info'],
  )
  matchObject(t, pod.metadata, {
    labels: { ...before.metadata.labels, 'clustersync.io/agent': 'true' },
    annotations: { ...before.metadata.annotations, 'clustersync.io/injected': 'true', 'clustersync.io/gateway-sync': 'plant' },
  })
})

void t.test('injection is idempotent', async (t) => {
  const { pod } = inject(chartPod())
  t.strictSame(injectAgent(v.parse(podSchema, pod), settings, plant), { kind: 'unchanged', why: 'the pod already has an agent' })
})

void t.test('a pod that does not request injection stays unchanged', async (t) => {
  for (const value of ['false', 'True', '']) {
    const pod = chartPod({ 'clustersync.io/inject': value })
    t.equal(injectAgent(pod, settings, plant).kind, 'unchanged', JSON.stringify(value))
  }
})

void t.test('no state of a GatewaySync refuses the pod', async (t) => {
  const cases: [string, FoundSync, string | undefined, RegExp][] = [
    ['a named one that is missing', { kind: 'missing', name: 'plnt' }, 'plnt', /GatewaySync "plnt" does not exist/],
    ['none in the namespace', { kind: 'ambiguous', count: 0 }, undefined, /has 0 GatewaySyncs; name one/],
    ['several in the namespace', { kind: 'ambiguous', count: 3 }, undefined, /has 3 GatewaySyncs; name one/],
    ['an invalid one', { kind: 'found', name: 'plant', spec: { git: {} } }, 'plant', /GatewaySync "plant" is invalid: spec.git.repo/],
    ['an unreadable one', { kind: 'unknown', name: undefined, why: 'down' }, undefined, /could not be read: down/],
  ]
  for (const [name, sync, followed, warning] of cases) {
    const { agent, warnings, pod } = inject(chartPod(), sync)
    t.equal(env(agent)['CLUSTER_SYNC_GATEWAY_SYNC'], followed, name)
    t.equal(pod.metadata.annotations?.['clustersync.io/gateway-sync'], followed, name)
    containsText(t, warnings[0], warning, name)
  }
})

void t.test('a pod that cannot resolve the Service of the content server gets a warning', async (t) => {
  const service = { delivery: { url: 'https://cso-delivery.operator.svc:9445' } }
  const elsewhere = { delivery: { url: 'https://delivery.plant.example:9445' } }
  const cases: [Record<string, unknown>, typeof service, RegExp | undefined][] = [
    [{}, service, undefined],
    [{ dnsPolicy: 'ClusterFirst' }, service, undefined],
    [{ dnsPolicy: 'None' }, service, undefined],
    [{ dnsPolicy: 'Default' }, service, /set dnsPolicy: ClusterFirst, or the agent cannot resolve cso-delivery.operator.svc:9445/],
    [{ hostNetwork: true }, service, /set dnsPolicy: ClusterFirstWithHostNet, or the agent cannot resolve/],
    [{ hostNetwork: true, dnsPolicy: 'ClusterFirst' }, service, /ClusterFirst does not resolve Services on hostNetwork; set dnsPolicy/],
    [{ hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' }, service, undefined],
    [{ hostNetwork: true, dnsPolicy: 'ClusterFirst' }, elsewhere, undefined],
  ]
  for (const [spec, installed, expected] of cases) {
    const pod = chartPod()
    Object.assign(pod.spec, spec)
    const warnings = inject(pod, plant, installed).warnings.filter((warning) => warning.includes('dnsPolicy'))
    if (expected === undefined) t.strictSame(warnings, [], JSON.stringify(spec))
    else matchObject(t, warnings, [expected], JSON.stringify(spec))
  }
})

void t.test("a pod of another installation's GatewaySync gets no agent, with the reason", async (t) => {
  const injection = injectAgent(chartPod(), settings, { kind: 'foreign', name: 'south' })
  t.equal(injection.kind, 'unchanged')
  matchObject(t, injection, { why: /GatewaySync "south" belongs to another installation; give the pod the labels/ })
})

void t.test('a Windows pod stays unchanged, with a warning', async (t) => {
  for (const spec of [{ os: { name: 'windows' } }, { nodeSelector: { 'kubernetes.io/os': 'windows' } }]) {
    const pod = chartPod()
    Object.assign(pod.spec, spec)
    const why = 'the pod runs on Windows, but the agent needs Linux: no agent is injected'
    t.strictSame(injectAgent(v.parse(podSchema, pod), settings, plant), { kind: 'unchanged', why })
  }
  const linux = chartPod()
  Object.assign(linux.spec, { os: { name: 'linux' }, nodeSelector: { 'kubernetes.io/os': 'linux' } })
  t.equal(injectAgent(v.parse(podSchema, linux), settings, plant).kind, 'patch')
})

void t.test('a pod that names its GatewaySync keeps the name', async (t) => {
  const before = chartPod({ 'clustersync.io/gateway-sync': 'mine' })
  const injection = injectAgent(before, settings, { ...plant, name: 'mine' })
  lacksText(t, JSON.stringify(injection), 'metadata/annotations/clustersync.io~1gateway-sync')
})

void t.test("the GatewaySync's image is used if the installation permits it", async (t) => {
  const asked = { ...spec, agent: { image: { tag: '2.0.0', pullPolicy: 'Always' } } }
  const refused = inject(chartPod(), { ...plant, spec: asked })
  t.equal(refused.agent['image'], settings.agent.image, 'is not used unless the installation permits it')
  t.match(refused.warnings[0], /spec.agent.image is not used/)
  const agent = { ...settings.agent, allowImageOverride: true }
  const taken = inject(chartPod(), { ...plant, spec: asked }, { agent })
  matchObject(t, taken.agent, { image: 'registry.example:5000/clustersync/agent:2.0.0', imagePullPolicy: 'Always' }, 'names a tag alone')
  const other = inject(chartPod(), { ...plant, spec: { ...spec, agent: { image: { repository: 'other/agent' } } } }, { agent })
  t.equal(other.agent['image'], 'other/agent:1.2.3', 'names a repository alone')
  const spaced = inject(chartPod(), { ...plant, spec: { ...spec, agent: { image: { tag: '2 ' } } } }, { agent })
  t.equal(spaced.agent['image'], settings.agent.image, 'is not used where the API server would refuse the pod')
})

void t.test('pull secrets are added once', async (t) => {
  const pod = chartPod()
  pod.spec.imagePullSecrets = [{ name: 'pull' }]
  const asked = { ...spec, agent: { imagePullSecrets: [{ name: 'pull' }, { name: 'own' }] } }
  t.strictSame(inject(pod, { ...plant, spec: asked }).pod.spec.imagePullSecrets, [{ name: 'pull' }, { name: 'own' }])
})
