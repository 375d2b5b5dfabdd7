/**
 * What injection changes of a pod, and whose pods it leaves alone.
 */
import t from 'tap'
import * as v from 'valibot'
import { type FoundSync, injectAgent } from '../../../runtime/injection/inject.ts'
import { type Pod, pod as podSchema } from '../../../runtime/injection/pod.ts'
import { env, inject, plant, settings } from '../../support/injected.ts'
import { chartPod, type PodShape } from '../../support/pods.ts'

void t.test('the agent stands after the init container that seeds the data volume', async (t) => {
  const { pod } = inject(chartPod())
  t.same(
    pod.spec.initContainers?.map(({ name }) => name),
    ['preconfigure', 'cluster-sync-agent'],
  )
})

void t.test(
  'a native sidecar that is there already, such as the proxy of a mesh, starts before the agent and stays as it is',
  async (t) => {
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
    t.same(
      pod.spec.initContainers?.map(({ name }) => name),
      ['istio-proxy', 'preconfigure', 'cluster-sync-agent'],
    )
    t.same(pod.spec.initContainers?.[0], proxy)
  },
)

void t.test('the patch touches nothing but what is ours', async (t) => {
  const before = chartPod()
  const { pod } = inject(before)
  t.same(pod.spec.containers, before.spec.containers)
  t.same(pod.spec.initContainers?.slice(0, 1), before.spec.initContainers)
  t.same(pod.spec.volumes?.slice(0, 1), before.spec.volumes)
  t.same(
    pod.spec.volumes?.slice(1).map(({ name }) => name),
    ['cluster-sync-delivery-token', 'cluster-sync-api-token', 'cluster-sync-pod-info'],
  )
  t.match(pod.metadata, {
    labels: { ...before.metadata.labels, 'clustersync.io/agent': 'true' },
    annotations: { ...before.metadata.annotations, 'clustersync.io/injected': 'true', 'clustersync.io/gateway-sync': 'plant' },
  })
})

void t.test('injecting twice is injecting once', async (t) => {
  const { pod } = inject(chartPod())
  t.same(injectAgent(v.parse(podSchema, pod), settings, plant), { kind: 'unchanged', why: 'the pod has its agent' })
})

void t.test('a pod that does not ask is left alone', async (t) => {
  for (const value of ['false', 'True', '']) {
    const pod = chartPod({ 'clustersync.io/inject': value })
    t.equal(injectAgent(pod, settings, plant).kind, 'unchanged', JSON.stringify(value))
  }
})

void t.test('no decision about a GatewaySync refuses the pod', async (t) => {
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
    t.match(warnings[0], warning, name)
  }
})

void t.test('a pod that will not find the Service of delivery is warned of', async (t) => {
  const service = { delivery: { url: 'https://cso-delivery.operator.svc:9445' } }
  const elsewhere = { delivery: { url: 'https://delivery.plant.example:9445' } }
  const cases: [Record<string, unknown>, typeof service, RegExp | undefined][] = [
    [{}, service, undefined],
    [{ dnsPolicy: 'ClusterFirst' }, service, undefined],
    [{ dnsPolicy: 'None' }, service, undefined],
    [{ dnsPolicy: 'Default' }, service, /set dnsPolicy: ClusterFirst, or the agent does not find cso-delivery.operator.svc:9445/],
    [{ hostNetwork: true }, service, /set dnsPolicy: ClusterFirstWithHostNet, or the agent does not find/],
    [{ hostNetwork: true, dnsPolicy: 'ClusterFirst' }, service, /ClusterFirst knows no Services on hostNetwork; set dnsPolicy/],
    [{ hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' }, service, undefined],
    [{ hostNetwork: true, dnsPolicy: 'ClusterFirst' }, elsewhere, undefined],
  ]
  for (const [spec, installed, expected] of cases) {
    const pod = chartPod()
    Object.assign(pod.spec, spec)
    const warnings = inject(pod, plant, installed).warnings.filter((warning) => warning.includes('dnsPolicy'))
    if (expected === undefined) t.same(warnings, [], JSON.stringify(spec))
    else t.match(warnings, [expected], JSON.stringify(spec))
  }
})

void t.test('a pod that follows a GatewaySync of another installation gets no agent of ours, and why', async (t) => {
  const injection = injectAgent(chartPod(), settings, { kind: 'foreign', name: 'south' })
  t.equal(injection.kind, 'unchanged')
  t.match(injection, { why: /GatewaySync "south" is not one of this installation's; give the pod the labels/ })
})

void t.test('a pod that names its GatewaySync keeps the name', async (t) => {
  const before = chartPod({ 'clustersync.io/gateway-sync': 'mine' })
  const injection = injectAgent(before, settings, { ...plant, name: 'mine' })
  t.notMatch(JSON.stringify(injection), 'metadata/annotations/clustersync.io~1gateway-sync')
})
