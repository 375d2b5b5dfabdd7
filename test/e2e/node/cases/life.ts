/**
 * Events in the life of a working installation: it is reinstalled, pushes come, and its processes are killed. The gateways must never
 * restart.
 */
import { existsSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Test } from 'tap'
import { agentContainerName, ports } from '../../../../runtime/api/names.ts'
import { containsText } from '../../../support/assertions.ts'
import { follow, linesOf, openShell } from '../../../support/docs-shell.ts'
import { blocksOf } from '../../../support/page.ts'
import { pushTo } from '../../../support/push.ts'
import type { Repository } from '../../../support/repository.ts'
import { until } from '../../../support/world.ts'
import { lastArrival } from '../arrivals.ts'
import {
  type Cluster,
  gatewaysOf,
  hookHost,
  inOperator,
  operator,
  patience,
  type Pod,
  pushKey,
  pushToken,
  receiverUrl,
  tellReceiver,
  untilRolledOut,
  untilSynced,
  volumeOf,
} from '../cluster.ts'
import { say } from '../given.ts'
import { ageOf, processOf, runningProcess } from '../processes.ts'
import { plant } from './install.ts'

const inPlant = `--namespace=${plant.namespace}`
/** The file's path in a gateway, from the repository's `services/`. */
const pushedFile = 'projects/pushed.txt'
const pushes = 10

/** A second replica, the receiver with an Ingress, and a NetworkPolicy, with values as in docs/how-to/install.md. */
export async function growByValues(t: Test, cluster: Cluster): Promise<void> {
  const before = await gatewaysOf(cluster, plant.namespace)
  const shell = await openShell(t, cluster.given.adminKubeconfig)
  const values = {
    replicaCount: 2,
    networkPolicy: { enabled: true },
    webhookReceiver: {
      enabled: true,
      token: { secret: pushToken },
      hmac: { secret: pushKey },
      ingress: {
        enabled: true,
        hosts: [{ host: hookHost, paths: [{ path: '/webhook', pathType: 'Prefix' }] }],
        tls: [{ secretName: 'hooks-tls', hosts: [hookHost] }],
      },
    },
  }
  writeFileSync(path.join(shell.folder, 'my-values.yaml'), JSON.stringify(values))
  const [synthAndApply, , synthWithValues] = blocksOf('docs/how-to/install.md').filter(({ section }) => section === 'Option 1: cdk8s')
  // The second command takes the values of the production profile.
  await follow(t, shell, linesOf(synthWithValues?.text ?? '')[0])
  await follow(t, shell, synthAndApply?.text.replace(/^.*(?:npm ci|cdk8s synth)\n/gm, ''))
  t.strictSame(await gatewaysOf(cluster, plant.namespace), before, 'gateways are not touched')
}

/** Uninstalls as in docs/how-to/install.md, after all other cases. */
export async function uninstall(t: Test, cluster: Cluster): Promise<void> {
  const before = await gatewaysOf(cluster, plant.namespace)
  const shell = await openShell(t, cluster.given.adminKubeconfig)
  const [withoutDefinitions, definitions] = blocksOf('docs/how-to/install.md').filter(({ section }) => section === 'Uninstall')
  await follow(t, shell, 'npx cdk8s synth')
  await follow(t, shell, withoutDefinitions?.text)
  containsText(
    t,
    await cluster.kubectl('get', 'gatewaysync/plant', inPlant, '--output=name'),
    'plant',
    'the first step keeps every GatewaySync',
  )
  await follow(t, shell, definitions?.text)
  t.strictSame(await gatewaysOf(cluster, plant.namespace), before, 'gateways go on')
}

/** A push through the receiver's Service, like that of a git host. */
export async function push(t: Test, cluster: Cluster, repository: Repository): Promise<void> {
  const tookMs: number[] = []
  for (let round = 1; round < pushes; round += 1) tookMs.push(await pushFile(cluster, repository, `push ${round}`))
  await cluster.kubectl('wait', 'gatewaysync/plant', inPlant, '--for=condition=Ready', patience.wait)
  const scansBefore = await scans(cluster)
  // Reports have a resolution of a second: two scans within the same second could not be distinguished.
  await until(() => (Date.now() - Math.max(...scansBefore) > 1000 ? true : undefined), 'the second of the scans before is over')
  tookMs.push(await pushFile(cluster, repository, 'the last push'))
  say(`pushes to two gateways, from the call to the last file: ${tookMs.map(Math.round).join(', ')} ms`)
  const commit = repository.git('rev-parse', 'HEAD').toString('utf8').trim()
  await untilSynced(cluster, plant, 'plant', repository, commit)
  await cluster.kubectl('wait', 'gatewaysync/plant', inPlant, '--for=condition=Ready', patience.wait)
  await until(
    async () => ((await scans(cluster)).every((at, index) => at > (scansBefore[index] ?? 0)) ? true : undefined),
    'every gateway has scanned its files',
    patience.waitMs,
  )
  t.strictSame(await restarts(cluster), [0, 0])
}

/** Returns the milliseconds from the call of the receiver to the file in the last gateway. */
async function pushFile(cluster: Cluster, repository: Repository, text: string): Promise<number> {
  const url = await receiverUrl(cluster)
  repository.commit({ [`services/${pushedFile}`]: text })
  const sinceMs = performance.now()
  const arrived = lastArrival(cluster, plant, { file: pushedFile, text, sinceMs })
  await pushTo({ url, token: pushToken }, plant.namespace, 'plant')
  return await arrived
}

export async function killLeader(t: Test, cluster: Cluster, repository: Repository): Promise<void> {
  const before = await leader(cluster)
  const text = 'while the leader is killed'
  const commit = repository.commit({ [`services/${pushedFile}`]: text })
  await tellReceiver(cluster, plant.namespace, 'plant')
  process.kill(processOf(before, 'controller'), 'SIGKILL')
  const tookMs = lastArrival(cluster, plant, { file: pushedFile, text, sinceMs: performance.now() })
  const up = untilUp(cluster, before, 'controller', `${ports.probes}/readyz`)
  say(`the last file of a push during which the leader was killed came ${Math.round(await tookMs)} ms after that`)
  await untilSynced(cluster, plant, 'plant', repository, commit)
  await up
  await untilRolledOut(cluster)
  t.strictSame(await restarts(cluster), [0, 0])
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
  const up = untilUp(cluster, gateway, agentContainerName, `${ports.agent}/livez`)
  await untilSynced(cluster, plant, 'plant', repository, commit)
  await up
  t.strictSame(await restarts(cluster), [0, 0], 'the gateway goes on while its agent is started again')
}

/** Resolves when a killed container answers again, and prints the time that its new process took. */
async function untilUp(cluster: Cluster, killed: Pod | undefined, container: string, probe: string): Promise<void> {
  const { name, namespace } = killed?.metadata ?? { name: '', namespace: '' }
  const answers = async (): Promise<true | undefined> =>
    await fetch(`http://${killed?.status.podIP}:${probe}`, { signal: AbortSignal.timeout(10_000) }).then(
      ({ ok }) => ok || undefined,
      () => undefined,
    )
  await until(answers, `${container} of ${name} answers`, patience.waitMs)
  const answeredMs = performance.now()
  const tookMs = await until(
    async () => {
      const pods = await cluster.pods(namespace)
      const pid = runningProcess(
        pods.find(({ metadata }) => metadata.name === name),
        container,
      )
      return pid === undefined ? undefined : ageOf(pid) - (performance.now() - answeredMs)
    },
    `the new process of ${name} is known`,
    patience.waitMs,
  )
  say(`${container} of ${namespace}/${name} answered ${Math.round(tookMs)} ms after its start`)
}

async function restarts(cluster: Cluster): Promise<(number | undefined)[]> {
  return (await gatewaysOf(cluster, plant.namespace)).map(({ restartCount }) => restartCount)
}

/** The time at which each gateway finished its last scan. */
async function scans(cluster: Cluster): Promise<number[]> {
  const all = await cluster.pods(plant.namespace, 'app.kubernetes.io/name=ignition')
  const reports = await Promise.all(all.map(async ({ metadata }) => await cluster.report(plant.namespace, metadata.name)))
  return reports.map((report) => Date.parse(report?.scan?.projects?.finishedAt ?? '1970-01-01'))
}

/** The pod of the leading replica. */
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
