/**
 * What happens to an installation that works: it is installed anew, pushes come, and its processes are killed. The gateways must never be
 * restarted for it.
 */
import { existsSync } from 'node:fs'
import path from 'node:path'
import type { Test } from 'tap'
import { agentContainerName } from '../../../../runtime/gatewaysync/names.ts'
import { helmOf } from '../../../support/helm.ts'
import type { Repository } from '../../../support/repository.ts'
import { until } from '../../../support/world.ts'
import {
  type Cluster,
  containerOf,
  gatewaysOf,
  inOperator,
  operator,
  patience,
  type Pod,
  pushToken,
  tellReceiver,
  untilRolledOut,
  untilSynced,
  volumeOf,
} from '../cluster.ts'
import { memoryOf, processOf } from '../processes.ts'
import { plant } from './install.ts'

const inPlant = `--namespace=${plant.namespace}`

/** The same installation as a chart, after the plain one was taken away; then a second replica and the receiver, by an upgrade. */
export async function exchangeForChart(t: Test, cluster: Cluster): Promise<void> {
  const { kubectl } = cluster
  const before = await gatewaysOf(cluster, plant.namespace)
  const dist = path.join(import.meta.dirname, '../../../../dist')
  await kubectl('delete', '--ignore-not-found', '-f', path.join(dist, 'operator.k8s.yaml'))
  await kubectl('delete', 'rolebinding', '--all-namespaces', '--selector=app.kubernetes.io/managed-by=cluster-sync-operator')
  t.same(await gatewaysOf(cluster, plant.namespace), before, 'gateways go on without an operator')

  const helm = await helmOf(t, { cwd: dist, kubeconfig: cluster.given.adminKubeconfig })
  const where = ['--namespace', operator.namespace]
  const installed = await helm('install', operator.name, 'chart', ...where, '--create-namespace')
  t.equal(installed.code, 0, installed.stderr)
  await untilRolledOut(cluster)
  const values = ['replicaCount=2', 'webhookReceiver.enabled=true', `webhookReceiver.token.secret=${pushToken}`]
  const upgraded = await helm('upgrade', operator.name, 'chart', ...where, ...values.flatMap((value) => ['--set', value]))
  t.equal(upgraded.code, 0, upgraded.stderr)
  await untilRolledOut(cluster)
  t.same(await gatewaysOf(cluster, plant.namespace), before, 'nor does an operator that comes touch them')
}

/** A push by way of the receiver's Service, as a git host makes it. */
export async function push(t: Test, cluster: Cluster, repository: Repository): Promise<void> {
  const scansBefore = await scans(cluster)
  const commit = repository.commit({ 'services/projects/pushed.txt': 'two' })
  await tellReceiver(cluster, plant.namespace, 'plant')
  await untilSynced(cluster, plant, 'plant', repository, commit)
  await cluster.kubectl('wait', 'gatewaysync/plant', inPlant, '--for=condition=Ready', patience.wait)
  await until(
    async () => ((await scans(cluster)).every((at, index) => at > (scansBefore[index] ?? 0)) ? true : undefined),
    'every gateway has scanned its files',
    patience.waitMs,
  )
  t.same(await restarts(cluster), [0, 0])
}

export async function killLeader(t: Test, cluster: Cluster, repository: Repository): Promise<void> {
  const before = await leader(cluster)
  const commit = repository.commit({ 'services/projects/pushed.txt': 'while the leader is killed' })
  await tellReceiver(cluster, plant.namespace, 'plant')
  process.kill(processOf(before, 'controller'), 'SIGKILL')
  await untilSynced(cluster, plant, 'plant', repository, commit)
  await untilRolledOut(cluster)
  t.same(await restarts(cluster), [0, 0])
}

export async function killAgent(t: Test, cluster: Cluster, repository: Repository): Promise<void> {
  const many = Array.from({ length: 400 }, (_, index) => [`services/projects/many/${index}.txt`, `${index} `.repeat(200)] as const)
  const commit = repository.commit(Object.fromEntries(many))
  const [gateway] = await cluster.pods(plant.namespace, 'app.kubernetes.io/name=ignition')
  const agent = processOf(gateway, agentContainerName)
  await tellReceiver(cluster, plant.namespace, 'plant')
  const ordinal = Number(gateway?.metadata.name.replace(/^.*-/, ''))
  const staged = (): boolean => existsSync(path.join(volumeOf(cluster, plant, ordinal), 'projects/many'))
  await until(() => (staged() ? true : undefined), 'the agent publishes', patience.waitMs)
  process.kill(agent, 'SIGKILL')
  await untilSynced(cluster, plant, 'plant', repository, commit)
  t.same(await restarts(cluster), [0, 0], 'the gateway goes on while its agent is started again')
}

/** Of everything that happened: no process was ended for want of memory. */
export async function memoryWasEnough(t: Test, cluster: Cluster): Promise<void> {
  const containers = [
    ...(await cluster.pods(operator.namespace)).map((pod) => ({ pod, container: 'controller' })),
    ...(await cluster.pods(plant.namespace)).map((pod) => ({ pod, container: agentContainerName })),
  ]
  for (const { pod, container } of containers) {
    const { peakMiB, kills } = memoryOf(pod, container)
    t.equal(kills, 0, `${pod.metadata.name} ${container}: ${Math.round(peakMiB)} MiB at most, the pages of files among them`)
    t.not(containerOf(pod, container)?.lastState?.terminated?.reason, 'OOMKilled')
  }
}

async function restarts(cluster: Cluster): Promise<(number | undefined)[]> {
  return (await gatewaysOf(cluster, plant.namespace)).map(({ restartCount }) => restartCount)
}

/** When each gateway ended its last scan. */
async function scans(cluster: Cluster): Promise<number[]> {
  const all = await cluster.pods(plant.namespace, 'app.kubernetes.io/name=ignition')
  const reports = await Promise.all(all.map(async ({ metadata }) => await cluster.report(plant.namespace, metadata.name)))
  return reports.map((report) => Date.parse(report?.scan?.projects?.finishedAt ?? '1970-01-01'))
}

/** The pod of the replica that leads. */
async function leader(cluster: Cluster): Promise<Pod> {
  return await until(
    async () => {
      const lease = await cluster.get<{ spec: { holderIdentity?: string } }>('lease', operator.name, inOperator)
      const pods = await cluster.pods(operator.namespace)
      return pods.find(({ metadata }) => lease.spec.holderIdentity?.includes(metadata.name))
    },
    'a replica leads',
    patience.waitMs,
  )
}
