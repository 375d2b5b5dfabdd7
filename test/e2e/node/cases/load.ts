/**
 * Many GatewaySyncs with the default limits: admission of their pods, the first resolution of their repositories, and pushes to all of
 * them. The OOM killer must kill nothing.
 */
import type { Test } from 'tap'
import { agentContainerName, agentPodLabel, apiVersion, podAnnotations } from '../../../../runtime/api/names.ts'
import type { GatewaySyncStatus } from '../../../../runtime/api/schema/status.ts'
import { gatewayImage } from '../../../support/node-images.ts'
import { pushTo } from '../../../support/push.ts'
import { until } from '../../../support/world.ts'
import { type Cluster, containerOf, gitToken, operator, patience, type Pod, plantRepository, pushToken, receiverUrl } from '../cluster.ts'
import { gitHostName, say } from '../given.ts'
import { memoryOf } from '../processes.ts'

const namespace = 'load'
const inLoad = `--namespace=${namespace}`
const syncs = 100
const podsOfEach = 3
const repositories = ['seas.git', 'ponds.git'] as const
const pushes = 4
/** Concurrent calls. */
const callers = 10

export async function carryLoad(t: Test, cluster: Cluster): Promise<void> {
  const served = repositories.map((name) => plantRepository(cluster, name))
  const commitOf = new Map<string, string>()
  const restartsBefore = restartsOf(await containersOfOurs(cluster))
  await cluster.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  await cluster.kubectl('wait', '--for=create', 'serviceaccount/default', inLoad, patience.wait)
  await cluster.apply(
    { apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name: 'git' }, stringData: { token: gitToken } },
    ...Array.from({ length: syncs }, (_, index) => gatewaySync(index)),
  )
  await cluster.apply(...Array.from({ length: syncs * podsOfEach }, (_, index) => waitingPod(index)))
  for (const [index, name] of repositories.entries())
    commitOf.set(name, served[index]?.git('rev-parse', 'HEAD').toString('utf8').trim() ?? '')
  await untilAllPublished(cluster, commitOf)
  say(`${syncs} GatewaySyncs with ${syncs * podsOfEach} pods are published`)

  const url = await receiverUrl(cluster)
  for (let push = 0; push < pushes; push += 1) {
    for (const [index, name] of repositories.entries()) {
      commitOf.set(name, served[index]?.commit({ 'services/projects/load.txt': `push ${push}` }) ?? '')
    }
    const startedMs = performance.now()
    const names = Array.from({ length: syncs }, (_, index) => nameOf(index))
    const call = async (): Promise<void> => {
      for (let name = names.pop(); name !== undefined; name = names.pop()) await pushTo({ url, token: pushToken }, namespace, name)
    }
    await Promise.all(Array.from({ length: callers }, call))
    await untilAllPublished(cluster, commitOf)
    say(`push ${push + 1} of both repositories is published everywhere after ${((performance.now() - startedMs) / 1000).toFixed(1)} s`)
  }

  const containers = await containersOfOurs(cluster)
  for (const { pod, container } of containers) {
    const name = `${pod.metadata.namespace}/${pod.metadata.name} ${container}`
    const { peakMiB, kills } = memoryOf(pod, container)
    say(`  ${name}: ${Math.round(peakMiB)} MiB at most, with the pages of files`)
    t.equal(kills, 0, `${name} was never short of memory`)
    t.not(containerOf(pod, container)?.lastState?.terminated?.reason, 'OOMKilled')
  }
  t.strictSame(restartsOf(containers), restartsBefore, 'nothing was started anew')
  await cluster.kubectl('delete', 'namespace', namespace, '--wait=false')
}

/** The containers of the product in the whole cluster that run and are not being stopped. */
export async function containersOfOurs(cluster: Cluster): Promise<{ pod: Pod; container: string }[]> {
  const { items: agents } = await cluster.get<{ items: Pod[] }>('pods', '--all-namespaces', `--selector=${agentPodLabel}=true`)
  return [
    ...(await cluster.pods(operator.namespace)).map((pod) => ({ pod, container: 'controller' })),
    ...agents.map((pod) => ({ pod, container: agentContainerName })),
  ].filter(({ pod, container }) => pod.metadata.deletionTimestamp === undefined && containerOf(pod, container)?.state.running !== undefined)
}

function restartsOf(containers: readonly { pod: Pod; container: string }[]): Record<string, number | undefined> {
  return Object.fromEntries(containers.map(({ pod, container }) => [pod.metadata.uid, containerOf(pod, container)?.restartCount]))
}

function nameOf(index: number): string {
  return `sync-${index}`
}

function repositoryOf(index: number): string {
  return repositories[index % repositories.length] ?? ''
}

function gatewaySync(index: number): object {
  const auth = { token: { secretRef: { name: 'git', key: 'token' } } }
  return {
    apiVersion,
    kind: 'GatewaySync',
    metadata: { namespace, name: nameOf(index) },
    spec: {
      git: { repo: `https://${gitHostName}/${repositoryOf(index)}`, ref: 'main', auth },
      sync: { profiles: { default: { mappings: [{ source: 'services/projects', destination: 'projects' }] } } },
    },
  }
}

/** Admission injects an agent; no scheduler places it, because the node has no capacity for so many. */
function waitingPod(index: number): object {
  const annotations = { [podAnnotations.inject]: 'true', [podAnnotations.gatewaySync]: nameOf(index % syncs) }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace, name: `gateway-${index}`, annotations },
    spec: {
      schedulerName: 'nobody',
      containers: [{ name: 'gateway', image: gatewayImage, volumeMounts: [{ name: 'data', mountPath: '/data' }] }],
      volumes: [{ name: 'data', emptyDir: {} }],
    },
  }
}

async function untilAllPublished(cluster: Cluster, commitOf: ReadonlyMap<string, string>): Promise<void> {
  await until(
    async () => {
      const { items } = await cluster.get<{ items: { metadata: { name: string }; status?: GatewaySyncStatus }[] }>('gatewaysyncs', inLoad)
      const isDone = items.every(({ metadata: { name }, status }) => {
        const index = Number(name.replace(/^.*-/, ''))
        return status?.published?.commit === commitOf.get(repositoryOf(index))
      })
      return isDone && items.length === syncs ? true : undefined
    },
    `all ${syncs} GatewaySyncs are published`,
    patience.waitMs,
  )
}
