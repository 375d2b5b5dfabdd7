/**
 * The previous release with a gateway, upgraded to the published files of this one as in docs/how-to/install.md with Helm and with kubectl,
 * and uninstalled; and the published chart in a new namespace. None of it may restart the gateway or write a file that no commit has
 * changed. If the history of this clone lacks the previous release, only this one is installed.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import type { Test } from 'tap'
import { agentContainerName, apiVersion } from '../../../../runtime/api/names.ts'
import { version } from '../../../../runtime/platform/version.ts'
import { helmOf } from '../../../support/helm.ts'
import { releaseRegistry } from '../../../support/node-images.ts'
import { pushTo } from '../../../support/push.ts'
import type { Repository } from '../../../support/repository.ts'
import { until } from '../../../support/world.ts'
import {
  apiKey,
  type Cluster,
  containerOf,
  gatewayObjects,
  type Gateways,
  guardedNamespace,
  inOperator,
  openRepository,
  operator,
  patience,
  plantRepository,
  pushToken,
  receiverUrl,
  tellReceiver,
  untilRolledOut,
  untilSynced,
  volumeOf,
} from '../cluster.ts'
import { gitHostName, say } from '../given.ts'

const older: Gateways = {
  namespace: 'older',
  name: 'older',
  replicas: 1,
  mode: 'dev',
  places: [{ source: 'services/projects', destination: 'projects' }],
}
const inOlder = `--namespace=${older.namespace}`
const receiver = ['webhookReceiver.enabled=true', `webhookReceiver.token.secret=${pushToken}`]
/** The published chart. */
const chart = [`oci://${releaseRegistry.repository}/charts/cluster-sync-operator`, '--version', version, '--plain-http']
const noPrevious = 'the history of this clone lacks the release before: there is nothing to upgrade from'
const where = ['--namespace', operator.namespace]

/** The commands of an installation, an upgrade to this release, and a removal. `receives`: pushes, without which a new leader reads the host. */
type Way = { receives: boolean; install(): Promise<void>; upgrade(): Promise<void>; remove(): Promise<void> }

export async function upgrade(t: Test, cluster: Cluster): Promise<void> {
  // The previous release cannot read private repositories.
  const repository = plantRepository(cluster, openRepository)
  const run = await helmOf(t, { cwd: cluster.given.release, kubeconfig: cluster.given.adminKubeconfig })
  const helm = async (...words: string[]): Promise<void> => {
    const { code, stderr } = await run(...words)
    t.equal(code, 0, code === 0 ? `helm ${words[0] ?? ''}` : stderr)
  }
  const first = repository.commit({ 'services/projects/changing.txt': 'one', 'services/projects/staying.txt': 'one' })
  const withHelm = wayOfHelm(cluster, helm)
  await withHelm.install()
  await untilRolledOut(cluster)
  await plantGateway(cluster)
  await untilSynced(cluster, older, older.name, repository, first)
  await cluster.kubectl('rollout', 'status', `statefulset/${older.name}`, inOlder, patience.wait)
  await upgradeBy(t, cluster, repository, withHelm)
  await renewPod(t, cluster)
  await withHelm.remove()

  const { kubectl } = cluster
  const before = await footprint(cluster)
  await t.test('the chart of the registry is installed into a new namespace', async (t) => {
    await helm('install', operator.name, ...chart, ...where, '--create-namespace', ...sets(receiver))
    await untilRolledOut(cluster)
    const commit = repository.commit({ 'services/projects/changing.txt': 'installed' })
    await tellReceiver(cluster, older.namespace, older.name)
    await untilSynced(cluster, older, older.name, repository, commit)
    t.strictSame(await footprint(cluster), before, 'the gateway goes on')
    const [controller] = await cluster.pods(operator.namespace)
    t.equal(controller?.spec.containers[0]?.image, publishedImage(cluster, 'controller'))
    await withHelm.remove()
  })
  await t.test('the manifests replace those of the release before', async (t) => {
    if (cluster.given.previous === undefined) return t.plan(0, noPrevious)
    const withKubectl = wayOfKubectl(cluster)
    await withKubectl.install()
    await untilRolledOut(cluster)
    await upgradeBy(t, cluster, repository, withKubectl)
    await withKubectl.remove()
  })
  t.strictSame(await footprint(cluster), before, 'the gateway goes on, also without an operator')
  await kubectl('delete', 'namespace', older.namespace, '--wait=false')
}

/** As in docs/how-to/install.md for Helm: the CRDs first. */
function wayOfHelm({ given, kubectl, pods }: Cluster, helm: (...words: string[]) => Promise<void>): Way {
  return {
    receives: true,
    async install() {
      const { chart: before, values } = given.previous ?? { chart: '', values: [] }
      const words = given.previous === undefined ? chart : [before]
      await helm('install', operator.name, ...words, ...where, '--create-namespace', ...sets([...values, ...receiver]))
    },
    async upgrade() {
      await kubectl('apply', '--server-side', '--force-conflicts', '-f', path.join(given.release, 'crds.k8s.yaml'))
      await helm('upgrade', operator.name, ...chart, ...where, '--reset-values', ...sets(receiver))
    },
    async remove() {
      await helm('uninstall', operator.name, ...where)
      const isGone = async () => ((await pods(operator.namespace)).length === 0 ? true : undefined)
      await until(isGone, 'the operator is gone', patience.waitMs)
      await kubectl('delete', 'namespace', operator.namespace, patience.wait)
    },
  }
}

function wayOfKubectl({ given, kubectl }: Cluster): Way {
  const present = ['crds', 'operator'].map((name) => path.join(given.release, `${name}.k8s.yaml`))
  const apply = async (files: readonly string[]): Promise<void> => void (await kubectl('apply', ...files.flatMap((file) => ['-f', file])))
  return {
    receives: false,
    install: () => apply(given.previous?.manifests ?? present),
    upgrade: () => apply(present),
    async remove() {
      await kubectl('delete', '--ignore-not-found', '-f', path.join(given.release, 'operator.k8s.yaml'), patience.wait)
    },
  }
}

/**
 * Upgrades while a commit is pushed, once and without a retry. Though nothing is polled, it is synced. The gateway and its agent go on, no
 * other file is written, and at most one other replica becomes the leader.
 */
async function upgradeBy(t: Test, cluster: Cluster, repository: Repository, way: Way): Promise<void> {
  const [before, files, transitions] = [await footprint(cluster), filesOf(cluster), await leaderChanges(cluster)]
  t.ok(files.size > 5, `${files.size} files`)
  await way.upgrade()
  const commit = repository.commit({ 'services/projects/changing.txt': `upgraded after ${transitions} changes` })
  if (way.receives) await pushOnce(cluster)
  await untilRolledOut(cluster)
  await untilSynced(cluster, older, older.name, repository, commit)
  t.strictSame(await footprint(cluster), before, 'the gateway and its agent go on')
  const written = [...filesOf(cluster)].filter(([name, place]) => files.get(name) !== place).map(([name]) => name)
  t.strictSame(written, ['changing.txt'], 'no other file was written')
  const changes = (await leaderChanges(cluster)) - transitions
  t.ok(changes <= 1, `${changes} leader changes`)
  say(`leader changes during the upgrade: ${changes}`)
}

/** Sends a push that may fail while no replica is ready. */
async function pushOnce(cluster: Cluster): Promise<void> {
  const url = await receiverUrl(cluster)
  const result = await pushTo({ url, token: pushToken }, older.namespace, older.name).then(() => 'accepted', String)
  say(`the push during the upgrade: ${result}`)
}

async function renewPod(t: Test, cluster: Cluster): Promise<void> {
  const { given, kubectl, pods } = cluster
  if (given.previous === undefined) return say(noPrevious)
  // While it stops, the API server may still send admission reviews to it over kept connections.
  const isAlone = async () => ((await pods(operator.namespace)).length === 1 ? true : undefined)
  await until(isAlone, 'the controller of the release before is gone', patience.waitMs)
  await kubectl('delete', 'pod', `${older.name}-0`, inOlder)
  await kubectl('rollout', 'status', `statefulset/${older.name}`, inOlder, patience.wait)
  const [pod] = await pods(older.namespace)
  const agent = pod?.spec.initContainers?.find(({ name }) => name === agentContainerName)
  t.equal(agent?.image, publishedImage(cluster, 'agent'), 'a pod that is created after the upgrade has the agent of this release')
}

/** The image that the manifests of the release name. */
function publishedImage({ given }: Cluster, program: 'agent' | 'controller'): string {
  const manifests = readFileSync(path.join(given.release, 'operator.k8s.yaml'), 'utf8')
  const repository = `${releaseRegistry.repository}/${program}`
  return new RegExp(`${repository}:${version}@sha256:[0-9a-f]{64}`).exec(manifests)?.[0] ?? `no image of ${repository}`
}

/** How often the leader has changed. */
async function leaderChanges({ get }: Cluster): Promise<number> {
  const { spec } = await get<{ spec: { leaseTransitions?: number } }>('lease', operator.name, inOperator)
  return spec.leaseTransitions ?? 0
}

function sets(values: readonly string[]): string[] {
  return values.flatMap((value) => ['--set', value])
}

async function plantGateway(cluster: Cluster): Promise<void> {
  const { namespace, name } = older
  await cluster.apply(guardedNamespace(namespace))
  await cluster.kubectl('wait', '--for=create', 'serviceaccount/default', inOlder, patience.wait)
  await cluster.apply(
    { apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name: 'gateway-api' }, stringData: { apiKey } },
    {
      apiVersion,
      kind: 'GatewaySync',
      metadata: { namespace, name },
      spec: {
        git: {
          repo: `https://${gitHostName}/${openRepository}`,
          ref: 'main',
        },
        polling: { enabled: false },
        gateway: { api: { secretName: 'gateway-api' } },
        sync: { profiles: { default: { mappings: older.places } } },
      },
    },
    ...gatewayObjects(cluster, older),
  )
}

/** The pods, and the process of each of their containers. */
async function footprint(cluster: Cluster): Promise<object[]> {
  const pods = await cluster.pods(older.namespace)
  return pods.map((pod) => ({
    uid: pod.metadata.uid,
    containers: ['gateway', agentContainerName].map((name) => {
      const { containerID, restartCount } = containerOf(pod, name) ?? {}
      return { name, containerID, restartCount }
    }),
  }))
}

/** The delivered files of the gateway, each with an identity that changes when it is rewritten. */
function filesOf(cluster: Cluster): Map<string, string> {
  const folder = path.join(volumeOf(cluster, older, 0), 'projects')
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return new Map(
    names.flatMap((name) => {
      const stat = statSync(path.join(folder, name))
      return stat.isFile() ? [[name, `${stat.ino} ${stat.mtimeMs}`] as const] : []
    }),
  )
}
