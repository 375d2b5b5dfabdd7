/**
 * Two gateways in the host network of one node, with agents that have no port there: each waits for its first commit and outlives its
 * agent, or the sandbox of its pod.
 */
import type { Test } from 'tap'
import { probeFiles } from '../../../../runtime/settings/agent.ts'
import { agentContainerName, ports } from '../../../../runtime/api/names.ts'
import { probeFolder } from '../../../../runtime/injection/volumes.ts'
import { matchObject, rejectsWith } from '../../../support/assertions.ts'
import { until } from '../../../support/world.ts'
import { type Cluster, containerOf, gatewaysOf, patience, plantRepository, type Pod, tellReceiver, untilSynced } from '../cluster.ts'
import { processOf, sandboxOf } from '../processes.ts'
import { plantSite, type Site } from '../site.ts'

const repositoryName = 'presses.git'
const sites: readonly Site[] = ['left', 'right'].map((name, index) => ({
  namespace: `press-${name}`,
  name: 'press',
  replicas: 1,
  mode: 'dev',
  repository: repositoryName,
  sync: 'press',
  // Below the ports of test/support/ports.ts.
  nodePort: 11_088 + index,
}))

export async function shareTheNode(t: Test, cluster: Cluster): Promise<void> {
  // Without a commit until both gateways wait for it.
  cluster.host.repository(repositoryName)
  await Promise.all(sites.map(async (site) => plantSite(cluster, site)))
  for (const site of sites) {
    const pod = await untilPod(cluster, site, `the agent of ${site.namespace} runs`, (pod) => {
      return containerOf(pod, agentContainerName)?.state.running !== undefined
    })
    matchObject(t, containerOf(pod, 'gateway')?.state, { waiting: { reason: 'PodInitializing' } }, 'the gateway waits for its first commit')
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

  const [left, right] = sites as [Site, Site]
  const before = await gatewaysOf(cluster, left.namespace)
  await Promise.all([startAgain(t, cluster, left, (pod) => processOf(pod, agentContainerName)), startAgain(t, cluster, right, sandboxOf)])
  t.strictSame(await gatewaysOf(cluster, left.namespace), before, 'a gateway goes on without its agent')
  matchObject(t, await gatewaysOf(cluster, right.namespace), [{ restartCount: 1 }], 'and begins anew with its sandbox')
  await deliver(repository.commit({ 'services/projects/pressed.txt': 'by the next life of the agent' }))
  await cluster.kubectl('delete', 'namespace', ...sites.map(({ namespace }) => namespace), '--wait=false')
}

/** Kills the process that `doomed` names, and runs the probe against the agent's next process. */
async function startAgain(t: Test, cluster: Cluster, site: Site, doomed: (pod: Pod) => number): Promise<void> {
  const inPod = ['exec', `--namespace=${site.namespace}`, `${site.name}-0`, `--container=${agentContainerName}`, '--']
  const [file, earlier] = [`${probeFolder}/${probeFiles.start}`, `${probeFolder}/earlier`]
  const onFile = async (word: string): Promise<string> =>
    cluster.kubectl(...inPod, 'node', '-e', `process.stdout.write(String(fs.${word}))`, file, earlier)
  await onFile('copyFileSync(...process.argv.slice(1))')
  process.kill(doomed(await untilPod(cluster, site, 'its pod is there', () => true)), 'SIGKILL')
  const again = await untilPod(cluster, site, `the agent and the gateway of ${site.namespace} are there again`, (pod) => {
    const agent = containerOf(pod, agentContainerName)
    return agent?.restartCount === 1 && agent.started === true && containerOf(pod, 'gateway')?.ready === true
  })
  const asked = again.spec.initContainers?.find(({ name }) => name === agentContainerName)?.startupProbe?.exec?.command ?? []
  t.equal(await cluster.kubectl(...inPod, ...asked), `${probeFiles.ok}\n`)
  t.match(await onFile('readFileSync(process.argv[2])'), new RegExp(`\n${probeFiles.ok}$`), 'the volume outlives what was killed')
  // Fresh, so that it is not refused only for its age.
  await onFile('utimesSync(process.argv[2],new Date(),new Date())')
  const ofEarlier = cluster.kubectl(...inPod, ...asked.map((word) => (word === file ? earlier : word)))
  await rejectsWith(t, ofEarlier, { message: /exit code 1/ }, 'and what the agent said in its earlier life is not believed')
}

function untilPod(cluster: Cluster, { namespace }: Site, what: string, isSo: (pod: Pod) => boolean): Promise<Pod> {
  return until(async () => (await cluster.pods(namespace)).find(isSo), what, patience.waitMs)
}
