/**
 * The installation as a chart: the previous release with a gateway, upgraded to this one as in docs/how-to/install.md, and uninstalled.
 * None of it may restart the gateway or write a file that no commit has changed. If the history of this clone lacks the previous release,
 * this one is installed and uninstalled.
 */
import { readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import type { Test } from 'tap'
import { agentContainerName, apiVersion } from '../../../../runtime/api/names.ts'
import { version } from '../../../../runtime/platform/version.ts'
import { matchObject } from '../../../support/assertions.ts'
import { helmOf } from '../../../support/helm.ts'
import { until } from '../../../support/world.ts'
import {
  apiKey,
  type Cluster,
  containerOf,
  gatewayObjects,
  type Gateways,
  guardedNamespace,
  openRepository,
  operator,
  patience,
  plantRepository,
  pushToken,
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
const dist = path.join(import.meta.dirname, '../../../../dist')
const where = ['--namespace', operator.namespace]

export async function upgradeChart(t: Test, cluster: Cluster): Promise<void> {
  const { given, kubectl } = cluster
  // The previous release cannot read private repositories.
  const repository = plantRepository(cluster, openRepository)
  const helm = await helmOf(t, { cwd: dist, kubeconfig: given.adminKubeconfig })
  const did = async (...words: string[]): Promise<void> => {
    const { code, stderr } = await helm(...words)
    t.equal(code, 0, code === 0 ? `helm ${words[0] ?? ''}` : stderr)
  }
  const installed = given.previous ?? { chart: 'chart', values: [] }
  await did('install', operator.name, installed.chart, ...where, '--create-namespace', ...sets(installed.values))
  await untilRolledOut(cluster)
  const first = repository.commit({ 'services/projects/changing.txt': 'one', 'services/projects/staying.txt': 'one' })
  await plantGateway(cluster)
  await untilSynced(cluster, older, older.name, repository, first)
  await kubectl('rollout', 'status', `statefulset/${older.name}`, inOlder, patience.wait)
  const before = await footprint(cluster)
  const files = filesOf(cluster)
  t.ok(files.size > 5, `${files.size} files`)

  // As in docs/how-to/install.md for Helm: the CRDs first.
  await kubectl('apply', '--server-side', '--force-conflicts', '-f', path.join(dist, 'chart/crds'))
  const receiver = ['webhookReceiver.enabled=true', `webhookReceiver.token.secret=${pushToken}`]
  await did('upgrade', operator.name, 'chart', ...where, '--reset-values', ...sets(receiver))
  await untilRolledOut(cluster)
  const second = repository.commit({ 'services/projects/changing.txt': 'two' })
  await tellReceiver(cluster, older.namespace, older.name)
  await untilSynced(cluster, older, older.name, repository, second)
  t.strictSame(await footprint(cluster), before, 'the gateway and its agent go on')
  const written = [...filesOf(cluster)].filter(([name, place]) => files.get(name) !== place).map(([name]) => name)
  t.strictSame(written, ['changing.txt'], 'no other file was written')

  if (given.previous === undefined) say('the history of this clone lacks the release before: there was nothing to upgrade from')
  else {
    // While it stops, the API server may still send admission reviews to it over kept connections.
    await until(
      async () => ((await cluster.pods(operator.namespace)).length === 1 ? true : undefined),
      'the controller of the release before is gone',
      patience.waitMs,
    )
    await kubectl('delete', 'pod', `${older.name}-0`, inOlder)
    await kubectl('rollout', 'status', `statefulset/${older.name}`, inOlder, patience.wait)
    await untilSynced(cluster, older, older.name, repository, second)
    const images = (await cluster.pods(older.namespace)).map((pod) => containerOf(pod, agentContainerName)?.image ?? 'none')
    matchObject(t, images, [new RegExp(`clustersync/agent:${version}$`)], 'a pod that is made anew has the agent of this release')
  }

  const last = await footprint(cluster)
  await did('uninstall', operator.name, ...where)
  await until(
    async () => ((await cluster.pods(operator.namespace)).length === 0 ? true : undefined),
    'the operator is gone',
    patience.waitMs,
  )
  t.strictSame(await footprint(cluster), last, 'gateways go on without an operator')
  await kubectl('delete', 'namespace', older.namespace, '--wait=false')
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
