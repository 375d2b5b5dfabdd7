/**
 * Two gateways in the network of one node, with agents that have no port there: each waits for its first commit, and goes on while its agent is
 * killed.
 */
import type { Test } from 'tap'
import { probeFiles } from '../../../../runtime/agent-settings.ts'
import { agentContainerName, ports } from '../../../../runtime/gatewaysync/names.ts'
import { probeFolder } from '../../../../runtime/injection/volumes.ts'
import { until } from '../../../support/world.ts'
import { type Cluster, containerOf, gatewaysOf, patience, plantRepository, type Pod, tellReceiver, untilSynced } from '../cluster.ts'
import { processOf } from '../processes.ts'
import { plantSite, type Site } from '../site.ts'

const repositoryName = 'presses.git'
const sites: readonly Site[] = ['left', 'right'].map((name, index) => ({
  namespace: `press-${name}`,
  name: 'press',
  replicas: 1,
  mode: 'dev',
  repository: repositoryName,
  sync: 'press',
  nodePort: 18_088 + index,
}))

export async function shareTheNode(t: Test, cluster: Cluster): Promise<void> {
  // Without a commit until both gateways wait for it.
  cluster.host.repository(repositoryName)
  await Promise.all(sites.map(async (site) => plantSite(cluster, site)))
  for (const site of sites) {
    const pod = await untilPod(cluster, site, `the agent of ${site.namespace} runs`, (pod) => {
      return containerOf(pod, agentContainerName)?.state.running !== undefined
    })
    t.match(containerOf(pod, 'gateway')?.state, { waiting: { reason: 'PodInitializing' } }, 'the gateway waits for its first commit')
    t.equal(containerOf(pod, agentContainerName)?.started, false)
  }
  await t.rejects(fetch(`http://127.0.0.1:${ports.agent}/livez`), 'no agent listens on the node')

  const repository = plantRepository(cluster, repositoryName)
  const deliver = async (commit: string): Promise<void> => {
    for (const { namespace, sync } of sites) await tellReceiver(cluster, namespace, sync)
    await Promise.all(sites.map(async (site) => untilSynced(cluster, site, site.sync, repository, commit)))
  }
  await deliver(repository.git('rev-parse', 'HEAD').toString('utf8').trim())
  await Promise.all(
    sites.map(async ({ namespace, name }) =>
      cluster.kubectl('rollout', 'status', `statefulset/${name}`, `--namespace=${namespace}`, patience.wait),
    ),
  )
  const before = await Promise.all(sites.map(async ({ namespace }) => gatewaysOf(cluster, namespace)))

  await Promise.all(sites.map(async (site) => killAgent(t, cluster, site)))
  await deliver(repository.commit({ 'services/projects/pressed.txt': 'by the next life of the agent' }))
  const after = await Promise.all(sites.map(async ({ namespace }) => gatewaysOf(cluster, namespace)))
  t.same(after, before, 'no gateway was restarted')
  await cluster.kubectl('delete', 'namespace', ...sites.map(({ namespace }) => namespace), '--wait=false')
}

async function killAgent(t: Test, cluster: Cluster, site: Site): Promise<void> {
  const [pod] = await cluster.pods(site.namespace)
  const inPod = ['exec', `--namespace=${site.namespace}`, `${site.name}-0`, `--container=${agentContainerName}`, '--']
  const [file, earlier] = [`${probeFolder}/${probeFiles.start}`, `${probeFolder}/earlier`]
  await cluster.kubectl(...inPod, 'node', '-e', "require('fs').copyFileSync(...process.argv.slice(1))", file, earlier)
  process.kill(processOf(pod, agentContainerName), 'SIGKILL')
  const again = await untilPod(cluster, site, `the agent of ${site.namespace} is there again`, (pod) => {
    const agent = containerOf(pod, agentContainerName)
    return agent?.restartCount === 1 && agent.started === true
  })
  t.match(containerOf(again, 'gateway'), { ready: true, restartCount: 0 }, 'its gateway goes on')
  const asked = again.spec.initContainers?.find(({ name }) => name === agentContainerName)?.startupProbe?.exec?.command ?? []
  t.equal(await cluster.kubectl(...inPod, ...asked), `${probeFiles.ok}\n`)
  const ofEarlier = cluster.kubectl(...inPod, ...asked.map((word) => (word === file ? earlier : word)))
  await t.rejects(ofEarlier, { message: /exit code 1/ }, 'what the agent said in its earlier life, in the same volume, is not believed')
}

function untilPod(cluster: Cluster, { namespace }: Site, what: string, isSo: (pod: Pod) => boolean): Promise<Pod> {
  return until(async () => (await cluster.pods(namespace)).find(isSo), what, patience.waitMs)
}
