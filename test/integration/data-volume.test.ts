/**
 * A gateway pod with two possible data volumes, with the installed controller on the real API server: its agent cannot work, which the
 * GatewaySync and the pod report until the pod is recreated with the annotation that names the volume.
 */
import type { V1PodSpec } from '@kubernetes/client-node'
import t from 'tap'
import { agentVariables } from '../../runtime/settings/agent.ts'
import { podAnnotations } from '../../runtime/api/names.ts'
import { type Json, podType } from '../../runtime/kube/types.ts'
import { agentsOf, changed } from '../support/admission.ts'
import { matchObject } from '../support/assertions.ts'
import { gateway } from '../support/injected.ts'
import { install } from '../support/installation.ts'
import { chartPod, type PodShape } from '../support/pods.ts'
import { requires } from '../support/requires.ts'
import { eventsIn, until } from '../support/world.ts'

/** A problem is reported at the first check after half a minute; checks run every half a minute. */
const toldWithinMs = 120_000

/** Both volumes have a common name, and neither is mounted at the data directory of the image. */
const shape = changed(chartPod(), (pod) => {
  const volumes = ['data', 'ignition-data']
  pod.spec['volumes'] = volumes.map((name) => ({ name, emptyDir: {} }))
  gateway(pod)['volumeMounts'] = volumes.map((name) => ({ name, mountPath: `/srv/${name}` }))
})

void t.test(
  'a pod with two possible data volumes gets no agent and an Event until an annotation names one',
  { timeout: 600_000 },
  async (t) => {
    if (!requires(t, 'git', 'kubectl')) return
    const cluster = await install(t, ['plant'])
    const { world, host } = cluster
    const { kube, signal } = world
    const namespace = cluster.namespace('plant')
    host.repository('plant.git').commit({ 'projects/a.txt': 'one' })
    await cluster.gatewaySync(namespace, 'plant', {
      git: { repo: host.url('plant.git/.git'), ref: 'main' },
      polling: { enabled: false },
      sync: { profiles: { default: { mappings: [{ source: 'projects', destination: 'projects' }] } } },
    })
    const create = async (annotations: Record<string, string>) => {
      const metadata = { namespace, name: 'gw-0', annotations: { [podAnnotations.inject]: 'true', ...annotations } }
      const pod = await kube.create(
        podType,
        { apiVersion: 'v1', kind: 'Pod', metadata, spec: shape.spec as unknown as Json<V1PodSpec> },
        signal,
      )
      const [agent] = agentsOf(pod as unknown as PodShape)
      return agent?.env?.find(({ name }) => name === agentVariables.dataDir)
    }
    const counted = (missingAgent: number) =>
      until(async () => {
        const status = await cluster.status(namespace, 'plant')
        return status.gateways?.total === 1 && status.gateways.missingAgent === missingAgent ? status : undefined
      }, `${missingAgent} of one gateway without an agent`)

    t.equal(await create({}), undefined, 'its agent has no data directory')
    const { conditions } = await counted(1)
    const message = /^1 of 1 gateways: gw-0: MissingAgent, /
    matchObject(
      t,
      conditions?.find(({ type }) => type === 'AgentsInjected'),
      { status: 'False', reason: 'MissingAgent', message },
    )
    const told = await until(
      async () => (await eventsIn(world, namespace)).find(({ reason, regarding }) => reason === 'MissingAgent' && regarding.kind === 'Pod'),
      'the pod has an Event',
      toldWithinMs,
      1_000,
    )
    matchObject(t, told, { type: 'Warning', note: /name the data volume by annotation/, regarding: { name: 'gw-0' } })

    await kube.delete(podType, { namespace, name: 'gw-0' }, signal)
    matchObject(t, await create({ [podAnnotations.dataVolume]: 'ignition-data' }), { value: /./ })
    await counted(0)
  },
)
