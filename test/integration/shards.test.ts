/**
 * Two installations of one cluster that work in the same namespace, each for the GatewaySyncs and gateway pods with its label.
 */
import t from 'tap'
import { gatewaySyncType, leaseType, podType } from '../../runtime/kube/types.ts'
import { matchObject } from '../support/assertions.ts'
import { install, type Installation, simulatedGateway } from '../support/installation.ts'
import { requires } from '../support/requires.ts'
import { tinyPod, until } from '../support/world.ts'

const site = (name: string) => ({ site: name })
const valuesFor = (name: string) => ({ controller: { watchLabelSelector: { matchLabels: site(name) } } })

/** The host to which the agent of a pod sends its token. */
function deliveryHostOf(pod: object): string | undefined {
  const { initContainers = [] } = (pod as { spec: { initContainers?: { env: { name: string; value?: string }[] }[] } }).spec
  return initContainers.flatMap(({ env }) => env).find(({ name }) => name === 'CLUSTER_SYNC_DELIVERY_HOST')?.value
}

void t.test('installations with disjoint selectors share a namespace and nothing else', { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'git', 'kubectl')) return
  const north = await install(t, ['plant'], valuesFor('north'))
  const namespace = north.namespace('plant')
  const south = await install(t, [], valuesFor('south'), { besides: [namespace] })
  t.teardown(() => {
    if (!t.passing()) t.comment([...north.logs, ...south.logs].join(''))
  })
  const { kube, signal } = north.world
  const { host, folder } = north
  const commit = host.repository('plant.git').commit({ 'projects/a.txt': 'one' })
  const status = (name: string) => north.status(namespace, name)
  const isReady = async (name: string): Promise<true | undefined> => {
    const { published, conditions = [] } = await status(name)
    const ready = conditions.find(({ type }) => type === 'Ready')
    return ready?.status === 'True' && ready.reason !== 'NoGateways' && published?.commit === commit ? true : undefined
  }
  const deliversFrom = async (name: string, { ports }: Installation): Promise<true | undefined> =>
    (await status(name)).delivery?.url === `https://localhost:${ports.delivery}` ? true : undefined

  for (const [name, cluster] of [
    ['north', north],
    ['south', south],
  ] as const) {
    await t.test(`${name}: the GatewaySync is served by the installation that selects it, and its pod gets that one's agent`, async (t) => {
      const { simulator, dataDir, port } = await simulatedGateway(t, folder, name)
      const spec = {
        git: { repo: host.url('plant.git/.git'), ref: 'main' },
        polling: { enabled: false },
        gateway: { port },
        sync: { profiles: { default: { mappings: [{ source: 'projects', destination: 'projects' }] } } },
      }
      await cluster.gatewaySync(namespace, name, spec, site(name))
      await until(() => deliversFrom(name, cluster), 'the status names the delivery of its installation')
      const gateway = await cluster.gateway(namespace, `gw-${name}`, {
        account: 'gateway',
        simulator,
        dataDir,
        follows: name,
        labels: site(name),
      })
      t.equal(deliveryHostOf(gateway.pod), `localhost:${cluster.ports.delivery}`)
      await until(() => isReady(name), 'the gateway has the commit')
      matchObject(t, (await status(name)).gateways, { total: 1, synced: 1 })
      t.equal(await gateway.stop(), 0)
    })
  }

  await t.test('unselected pods and GatewaySyncs get no agent and no status', async (t) => {
    const create = (name: string, follows: string, labels: Record<string, string>) =>
      kube.create(
        podType,
        tinyPod(namespace, name, { labels, annotations: { 'clustersync.io/inject': 'true', 'clustersync.io/gateway-sync': follows } }),
        signal,
      )
    t.equal(deliveryHostOf(await create('gw-plain', 'north', {})), undefined, 'a pod without the label is asked about by neither')
    t.equal(deliveryHostOf(await create('gw-mixed', 'south', site('north'))), undefined, 'an agent of the north could not follow the south')
    const counted = await until(async () => {
      const { gateways } = await status('north')
      return gateways?.missingAgent === 1 ? gateways : undefined
    }, 'the pod that follows the north without an agent is counted there')
    t.equal(counted.total, 2)
    for (const name of ['gw-plain', 'gw-mixed']) await kube.delete(podType, { namespace, name }, signal)
  })

  await t.test('a push reaches a GatewaySync only through the receiver of its own installation', async (t) => {
    const push = async ({ receiver }: Installation): Promise<number> =>
      (
        await fetch(`${receiver.url}/webhook/${namespace}/south`, {
          method: 'POST',
          headers: { authorization: `Bearer ${receiver.token}`, 'content-type': 'application/json' },
          body: '{"ref":"main"}',
        })
      ).status
    t.equal(await push(north), 404)
    t.equal(await push(south), 202)
  })

  await t.test('each installation has its own Lease', async (t) => {
    const held = async ({ manifests }: Installation): Promise<unknown[]> => {
      const operator = manifests.find(({ kind }) => kind === 'Deployment')?.metadata as unknown as { namespace: string }
      const leases: unknown[] = []
      for await (const { items } of kube.listPages(leaseType, { namespace: operator.namespace }, signal))
        leases.push(...items.map(({ spec }) => (spec as { holderIdentity?: string }).holderIdentity))
      return leases
    }
    t.strictSame([await held(north), await held(south)], [['controller-0'], ['controller-0']])
  })

  await t.test('a GatewaySync with a changed label moves to the other installation with its status', async (t) => {
    await kube.mergePatch(gatewaySyncType, { namespace, name: 'south' }, { metadata: { labels: site('north') } }, {}, signal)
    await until(() => deliversFrom('south', north), 'the other installation writes the status now')
    t.equal((await status('south')).published?.commit, commit, 'what is published stays published')
  })
})
