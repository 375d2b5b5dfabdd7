/**
 * The installation under the soak: three replicas behind proxies that can be cut, two hundred GatewaySyncs with their gateways, and the
 * observers.
 */
import { readFileSync } from 'node:fs'
import { webhookConfigurationType } from '../../../runtime/kube/types.ts'
import { openScraper, type Scrape } from '../../benchmark/scale/scrape.ts'
import { type Seen, watchPlants } from '../../benchmark/scale/seen.ts'
import { install, type Installation } from '../../support/installation.ts'
import { bundlePrograms } from '../../support/measured-process.ts'
import { presentRelease } from '../../support/releases.ts'
import { temporaryFolder } from '../../support/repository.ts'
import { openTcpProxy, type TcpProxy } from '../../support/tcp-proxy.ts'
import { randomFrom, shuffled } from '../../support/seeded-random.ts'
import { readWatchFigures } from './figures.ts'
import type { Reading } from './violations.ts'
import { type Followed, makePlants, openPlants, prefixes } from './plants.ts'
import { type NamedReplica, replicaPorts, type Replicas, startReplicas } from './replicas.ts'
import { startWatchers, type Watchers } from './watchers.ts'

export type Soak = {
  cluster: Installation
  tcpProxies: { controllers: TcpProxy; agents: TcpProxy }
  replicas: Replicas
  seen: Seen
  watchers: Watchers
  plants: readonly Followed[]
  /** The watch metrics of replicas before they were killed, and at the end. */
  readings: Reading[]
  /** Reads the current watch metrics of a replica. */
  read(replica: NamedReplica, when: string): Promise<Reading>
  /** Each accepted request with its GatewaySync, and those with an outcome. */
  taken: Map<string, string>
  outcomes: Map<string, string>
}

type Scope = { teardown(handler: () => unknown): void }
type Options = { lifetimeMs: number; seed: number }

/** Creates everything and starts to follow; the caller waits until all are Ready. */
export async function startSoak(t: Scope, { lifetimeMs, seed }: Options): Promise<Soak> {
  const folder = temporaryFolder(t, 'chaos')
  const [controller = '', agent = ''] = await bundlePrograms(['runtime/controller.ts', 'runtime/agent.ts'], folder)
  const ports = await replicaPorts()
  const apiServer: number[] = []
  const [controllers, agents] = [await openTcpProxy(t, () => apiServer), await openTcpProxy(t, () => apiServer)]
  const ways = randomFrom(seed, 'ways')
  const any = (port: 'admission' | 'delivery') => () =>
    shuffled(
      ports.map((own) => own[port]),
      ways,
    )
  const [admission, delivery] = [await openTcpProxy(t, any('admission')), await openTcpProxy(t, any('delivery'))]
  // The first connection is that of the controller.
  let next = controllers
  const cluster = await install(
    t,
    prefixes,
    {},
    {
      shared: false,
      lifetimeMs,
      wholeCluster: true,
      release: { ...presentRelease, controller: [process.execPath, controller], agent: [process.execPath, agent] },
      service: { admission: admission.port, delivery: delivery.port },
      through(kubeconfig) {
        const tcpProxy = next
        next = agents
        apiServer[0] ??= portOf(kubeconfig)
        return tcpProxy.through(kubeconfig, folder)
      },
    },
  )
  const scrape = await scraperOf(cluster)
  const read = async (replica: NamedReplica, when: string): Promise<Reading> => ({
    replica: replica.name,
    when,
    figures: await readWatchFigures(() => scrape(replica.ports.metrics)),
  })
  const readings: Reading[] = []
  const replicas = await startReplicas(cluster, ports, randomFrom(seed, 'standbys'), async (replica) => {
    readings.push(await read(replica, 'before it was killed'))
  })
  const seen = watchPlants(cluster)
  t.teardown(() => seen.stop())
  const watchers = await startWatchers(controllers.through(cluster.world.plane.adminKubeconfig, folder), cluster.world.plane.etcdUrl)
  t.teardown(() => watchers.stop())
  const outcomes = new Map<string, string>()
  seen.onChange((_key, { requests = [] }) => {
    for (const { id, outcome } of requests) outcomes.set(id, outcome)
  })
  const plants = makePlants(cluster)
  await openPlants(t, cluster, seen, plants)
  return { cluster, tcpProxies: { controllers, agents }, replicas, seen, watchers, plants, readings, read, taken: new Map(), outcomes }
}

/** Callers of the replicas verify their certificate with the same bundle as the API server. */
async function scraperOf(cluster: Installation): Promise<(port: number) => Promise<Scrape>> {
  const { world, manifests } = cluster
  const name = manifests.find(({ kind }) => kind === webhookConfigurationType.kind)?.metadata.name ?? ''
  const found = await world.kube.get(webhookConfigurationType, { name }, world.signal)
  const { webhooks = [] } = (found ?? {}) as { webhooks?: { clientConfig: { caBundle?: string } }[] }
  const caBundle = Buffer.from(webhooks[0]?.clientConfig.caBundle ?? '', 'base64').toString('utf8')
  return await openScraper(cluster, cluster.namespace(prefixes[0] ?? ''), caBundle)
}

function portOf(kubeconfig: string): number {
  const { clusters } = JSON.parse(readFileSync(kubeconfig, 'utf8')) as { clusters: { cluster: { server: string } }[] }
  return Number(new URL(clusters[0]?.cluster.server ?? '').port)
}
