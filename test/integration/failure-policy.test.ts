/**
 * Pods that are created while no controller runs: depending on `webhook.failurePolicy`, pods that request an agent are refused or get none;
 * all other pods are unaffected.
 */
import type { V1PodSpec } from '@kubernetes/client-node'
import t from 'tap'
import { podAnnotations } from '../../runtime/api/names.ts'
import { type Json, podType } from '../../runtime/kube/types.ts'
import { agentsOf } from '../support/admission.ts'
import { matchObject, rejectsWith } from '../support/assertions.ts'
import { install, type Installation } from '../support/installation.ts'
import { chartPod, type PodShape } from '../support/pods.ts'
import { requires } from '../support/requires.ts'
import { until } from '../support/world.ts'

const asking = { [podAnnotations.inject]: 'true' }

/** Creates a pod and returns it as admitted. Throws a Fault if it is refused. */
async function create({ world }: Installation, namespace: string, name: string, annotations = {}): Promise<PodShape> {
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace, name, annotations },
    spec: chartPod().spec as unknown as Json<V1PodSpec>,
  }
  return (await world.kube.create(podType, pod, world.signal)) as unknown as PodShape
}

void t.test('by default a pod that requests an agent is refused while no controller runs', { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'git', 'kubectl')) return
  const cluster = await install(t, ['plant', 'other'])
  const { kube, signal, namespace } = cluster.world
  const plant = cluster.namespace('plant')
  t.equal(agentsOf(await create(cluster, plant, 'before', asking)).length, 1, 'the API server asks the controller about it')
  t.equal(await cluster.stopController(), 0)

  await t.test('the refusal names the webhook, in each watched namespace', async (t) => {
    for (const watched of [plant, cluster.namespace('other')])
      await rejectsWith(
        t,
        create(cluster, watched, 'gw-0', asking),
        { message: /failed calling webhook "inject\.clustersync\.io"/ },
        watched,
      )
  })

  await t.test('every other pod is created', async (t) => {
    const rows: [string, Record<string, string>][] = [
      ['no annotations', {}],
      ['annotations of others', { note: 'true', 'sidecar.istio.io/inject': 'true' }],
      ['a refusal of an agent', { [podAnnotations.inject]: 'false' }],
      ['a word that is not quite ours', { [podAnnotations.inject]: 'True' }],
      ['annotations of ours, but not the one that asks', { [podAnnotations.gatewaySync]: 'plant' }],
    ]
    for (const [index, [name, annotations]] of rows.entries())
      t.strictSame(agentsOf(await create(cluster, plant, `pod-${index}`, annotations)), [], name)
    t.strictSame(agentsOf(await create(cluster, await namespace('elsewhere'), 'gw-0', asking)), [], 'one that asks where nobody watches')
  })

  await t.test('an existing pod can be changed and deleted', async (t) => {
    const key = { namespace: plant, name: 'before' }
    const changed = await kube.mergePatch(podType, key, { metadata: { labels: { checked: 'yes' } } }, {}, signal)
    matchObject(t, changed?.metadata.labels, { checked: 'yes', 'clustersync.io/agent': 'true' })
    await kube.delete(podType, key, signal)
  })

  await t.test('the same pod is created with its agent once a controller runs again', async (t) => {
    await cluster.startController()
    const pod = await until(() => create(cluster, plant, 'gw-0', asking).catch(() => undefined), 'it is admitted')
    t.equal(agentsOf(pod).length, 1)
  })
})

void t.test(
  'with the policy Ignore a pod is created without an agent and counted as such once a controller runs',
  { timeout: 600_000 },
  async (t) => {
    if (!requires(t, 'git', 'kubectl')) return
    const cluster = await install(t, ['plant'], { webhook: { failurePolicy: 'Ignore' } })
    const { host } = cluster
    const namespace = cluster.namespace('plant')
    host.repository('plant.git').commit({ 'projects/a.txt': 'one' })
    await cluster.gatewaySync(namespace, 'plant', {
      git: { repo: host.url('plant.git/.git'), ref: 'main' },
      polling: { enabled: false },
      sync: { profiles: { default: { mappings: [{ source: 'projects', destination: 'projects' }] } } },
    })
    t.equal(await cluster.stopController(), 0)
    const pod = await create(cluster, namespace, 'gw-0', asking)
    t.strictSame(agentsOf(pod), [])
    matchObject(t, pod.metadata, { annotations: asking })
    await cluster.startController()
    const status = await until(async () => {
      const seen = await cluster.status(namespace, 'plant')
      return seen.gateways?.total === 1 ? seen : undefined
    }, 'the pod is counted')
    matchObject(t, status.gateways, { missingAgent: 1 })
    const condition = status.conditions?.find(({ type }) => type === 'AgentsInjected')
    matchObject(t, condition, {
      status: 'False',
      reason: 'MissingAgent',
      message: /^1 of 1 gateways: gw-0: MissingAgent, .*recreate the pod$/,
    })

    await cluster.world.kube.delete(podType, { namespace, name: 'gw-0' }, cluster.world.signal)
    t.equal(agentsOf(await create(cluster, namespace, 'gw-0', asking)).length, 1, 'recreated, as it says, the pod gets its agent')
    await until(async () => {
      const { gateways } = await cluster.status(namespace, 'plant')
      return gateways?.total === 1 && gateways.missingAgent === 0 ? true : undefined
    }, 'no gateway is without an agent')
  },
)
