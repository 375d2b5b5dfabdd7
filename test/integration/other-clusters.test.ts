/**
 * The status page of a hub, set up with the commands of docs/how-to/status-page.md, that shows the fleet of a second API server: who sees it,
 * its changes, a rotated kubeconfig, and the time after that API server is gone.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import * as https from 'node:https'
import { type AddressInfo, createServer } from 'node:net'
import path from 'node:path'
import t, { type Test } from 'tap'
import { gatewaySyncCrd, syncReportCrd } from '../../infra/crd.ts'
import { OtherClusters } from '../../runtime/controller/page/other-clusters.ts'
import type { ClusterView, FleetView } from '../../runtime/fleet/view.ts'
import { gatewaySyncType, secretType } from '../../runtime/kube/types.ts'
import { systemClock } from '../../runtime/platform/clock.ts'
import { silentLog } from '../../runtime/platform/log/log.ts'
import { apiVersion } from '../../runtime/api/names.ts'
import { containsText, lacksText, matchObject, rejectsWith } from '../support/assertions.ts'
import { follow, openShell } from '../support/docs-shell.ts'
import { install } from '../support/installation.ts'
import { blocksOf } from '../support/page.ts'
import { ann, boss, pageSecret, rightsOf } from '../support/page-rights.ts'
import { freePort } from '../support/ports.ts'
import { temporaryFolder } from '../support/repository.ts'
import { requires } from '../support/requires.ts'
import { namespaceType, openWorld, until, type World } from '../support/world.ts'

const commit = '24a7d5c9c97cf8e04c02ea0114063d89b0766069'
const at = new Date(Date.now() - 5.5 * 3_600_000).toISOString()
const spec = {
  git: { repo: 'https://git.example/plant.git', ref: 'main' },
  sync: { profiles: { default: { mappings: [{ source: 'projects', destination: 'projects' }] } } },
}
const gateways = { total: 2, synced: 2, pending: 0, failed: 0, blocked: 0, drifted: 0, dryRun: 0, paused: 0, missingAgent: 0 }
const ready = { type: 'Ready', status: 'True', reason: 'Synced', message: 'all synced', lastTransitionTime: at }
const paused = { type: 'Ready', status: 'False', reason: 'Paused', message: 'writing is paused', lastTransitionTime: at }

async function put({ kube, signal }: World, namespace: string, name: string): Promise<void> {
  const object = { apiVersion, kind: 'GatewaySync', metadata: { namespace, name }, spec }
  await until(async () => await kube.create(gatewaySyncType, object, signal).catch(() => undefined), 'the kind is served')
}

async function setStatus({ kube, signal }: World, namespace: string, name: string, condition: object): Promise<void> {
  const status = { source: { ref: 'main', commit }, published: { commit, ref: 'main', at }, gateways, conditions: [condition] }
  await kube.mergePatch(gatewaySyncType, { namespace, name }, { status }, { subresource: 'status' }, signal)
}

/** An API server of its own with one GatewaySync. */
async function openPlant(t: Test): Promise<{ world: World; namespace: string }> {
  const world = await openWorld(t, { shared: false })
  await world.apply([gatewaySyncCrd(), syncReportCrd()])
  await world.kube.create(namespaceType, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'cluster-sync' } }, world.signal)
  const namespace = await world.namespace('far')
  await put(world, namespace, 'filling')
  await setStatus(world, namespace, 'filling', ready)
  return { world, namespace }
}

/** A kubeconfig with both clusters: the context `plant-b`, and the current one of the hub. */
function kubeconfigOf(folder: string, hub: World, plant: World): string {
  type Config = { clusters: { cluster: object }[]; users: { user: object }[] }
  const [own, other] = [hub, plant].map(({ plane }) => JSON.parse(readFileSync(plane.adminKubeconfig, 'utf8')) as Config)
  const entries = [
    ['hub', own],
    ['plant-b', other],
  ] as const
  const file = path.join(folder, 'kubeconfig')
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: entries.map(([name, of]) => ({ name, cluster: of?.clusters[0]?.cluster })),
    users: entries.map(([name, of]) => ({ name, user: of?.users[0]?.user })),
    contexts: entries.map(([name]) => ({ name, context: { cluster: name, user: name } })),
    'current-context': 'hub',
  }
  writeFileSync(file, JSON.stringify(config))
  return file
}

/** Follows the page, and returns the kubeconfig that the Secret has. */
async function followPage(t: Test, hub: World, operator: string, plant: World): Promise<string> {
  const shell = await openShell(t, kubeconfigOf(temporaryFolder(t, 'hub'), hub, plant))
  const [block] = blocksOf('docs/how-to/status-page.md').filter(
    ({ section, language }) => section === 'See several clusters on one page' && language === 'sh',
  )
  const [first = '', ...others] = (block?.text ?? '').split('\n')
  await follow(t, shell, first)
  // The controller manager of a cluster fills in the Secret.
  const [token, authority] = [await plant.token('cluster-sync', 'hub'), readFileSync(plant.plane.caFile, 'utf8')]
  const data = Object.fromEntries(
    Object.entries({ token, 'ca.crt': authority }).map(([key, text]) => [key, Buffer.from(text).toString('base64')]),
  )
  await plant.kube.mergePatch(secretType, { namespace: 'cluster-sync', name: 'hub' }, { data }, {}, plant.signal)
  const here = others
    .join('\n')
    .replace('https://api.plant-b.example.com:6443', plant.plane.url)
    .replace('plant-b --namespace cluster-sync --from-file', `plant-b --namespace ${operator} --from-file`)
  await follow(t, shell, here)
  const secret = await hub.kube.get(secretType, { namespace: operator, name: 'plant-b' }, hub.signal)
  return Buffer.from(secret?.data?.['kubeconfig'] ?? '', 'base64').toString('utf8')
}

/** A server that accepts connections and never answers. */
async function silentServer(t: Test): Promise<string> {
  const server = createServer((socket) => socket.resume())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => new Promise<void>((resolve) => void server.close(() => resolve())))
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const withServer = (kubeconfig: string, server: string): string => kubeconfig.replace(/server: .*/, `server: ${server}`)

void t.test('the page of a hub shows the fleet of another API server', { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'git', 'kubectl')) return
  const { world: plant, namespace: far } = await openPlant(t)
  const port = await freePort()
  const name = `hub-${port}`
  const cluster = (name: string) => ({ name, kubeconfig: { secretRef: { name } } })
  const hub = await install(t, ['north'], {
    statusPage: {
      enabled: true,
      port,
      proxy: { enabled: true, secretRef: { name: 'page-proxy' }, groupsPrefix: `${name}:` },
      clusters: [{ ...cluster('plant-b'), url: 'https://gateways.plant-b.example.com' }, cluster('silent'), cluster('absent')],
    },
  })
  const [north, operator] = [
    hub.namespace('north'),
    hub.manifests.find(({ kind }) => kind === 'Deployment')?.metadata['namespace'] as string,
  ]
  await hub.gatewaySync(north, 'own', spec)
  writeFileSync(path.join(hub.folder, 'page-proxy-secret'), `${pageSecret}\n`)
  await hub.world.apply(rightsOf(name, north))
  const ask = async (path: string, headers: object): Promise<string> => {
    // Only the content matters here; status-page.test.ts verifies the certificate.
    const answer = await new Promise<import('node:http').IncomingMessage>((resolve, reject) => {
      https
        .get(`https://localhost:${port}${path}`, { headers: { ...headers }, agent: false, rejectUnauthorized: false }, resolve)
        .on('error', reject)
    })
    return Buffer.concat((await answer.toArray()) as Buffer[]).toString('utf8')
  }
  const clusterOf = async (name: string): Promise<ClusterView | undefined> => {
    const text = await ask('/status.json', boss)
    return text.startsWith('{') ? (JSON.parse(text) as FleetView).clusters?.find((one) => one.name === name) : undefined
  }
  const shownAs = async (what: string, is: (view: ClusterView) => boolean, timeoutMs?: number): Promise<ClusterView> =>
    await until(
      async () => {
        const view = await clusterOf('plant-b')
        return view !== undefined && is(view) ? view : undefined
      },
      what,
      timeoutMs,
    )

  const kubeconfig = await followPage(t, hub.world, operator, plant)
  const file = path.join(hub.folder, 'cluster-plant-b')
  writeFileSync(file, kubeconfig)
  writeFileSync(path.join(hub.folder, 'cluster-silent'), withServer(kubeconfig, await silentServer(t)))

  await t.test('with counts, commit and a link to its own page', async (t) => {
    const view = await shownAs('the fleet is shown', ({ syncs }) => syncs.length > 0)
    matchObject(t, view, {
      level: 'ok',
      url: 'https://gateways.plant-b.example.com',
      truncated: false,
      syncs: [
        {
          namespace: far,
          name: 'filling',
          ready: 'True',
          reason: 'Synced',
          published: { commit, ref: 'main', at },
          upToDate: 2,
          counts: { total: 2 },
        },
      ],
    })
    t.notOk('failure' in view)
    const page = await ask('/', boss)
    for (const part of [
      'Cluster plant-b',
      `${far}/filling`,
      '24a7d5c9',
      '2 of 2 gateways',
      'https://gateways.plant-b.example.com',
      `${north}/own`,
    ])
      containsText(t, page, part)
  })

  await t.test('only to a user who may see every namespace of the hub', async (t) => {
    const page = await until(async () => {
      const text = await ask('/', ann)
      return text.includes(`${north}/own`) ? text : undefined
    }, 'her right is known')
    for (const text of [page, await ask('/status.json', ann)]) for (const part of [far, 'plant-b', 'silent']) lacksText(t, text, part)
  })

  await t.test('a change there is shown within seconds, and its account may not write', async (t) => {
    await setStatus(plant, far, 'filling', paused)
    await shownAs('the pause is shown', ({ syncs }) => syncs[0]?.reason === 'Paused', 5_000)
    await put(plant, far, 'packing')
    await shownAs('the new one is shown', ({ syncs }) => syncs.length === 2, 5_000)
    await plant.kube.delete(gatewaySyncType, { namespace: far, name: 'packing' }, plant.signal)
    await shownAs('the deleted one is not', ({ syncs }) => syncs.length === 1, 5_000)
    const account = plant.as(await plant.token('cluster-sync', 'hub'))
    const write = account.mergePatch(gatewaySyncType, { namespace: far, name: 'filling' }, { spec: { paused: true } }, {}, plant.signal)
    await rejectsWith(t, write, { reason: 'Forbidden' })
  })

  await t.test('a cluster that does not answer or whose Secret is missing delays nothing', async (t) => {
    const silent = await until(async () => {
      const view = await clusterOf('silent')
      return view?.failure?.reason === 'ApiUnavailable' ? view : undefined
    }, 'the silence is noticed')
    matchObject(t, silent, { level: 'error', syncs: [], failure: { reason: 'ApiUnavailable', message: 'no answer within 10 s' } })
    matchObject(t, await clusterOf('absent'), {
      level: 'error',
      failure: { reason: 'SecretNotFound', message: /^its kubeconfig is missing/ },
    })
    const startMs = performance.now()
    containsText(t, await ask('/', boss), 'no answer within 10 s')
    t.ok(performance.now() - startMs < 5_000)
  })

  await t.test('a rotated kubeconfig is used without a restart, and one that is refused keeps the last state', async (t) => {
    writeFileSync(file, kubeconfig.replace(/token: .*/, 'token: expired'))
    const refused = await shownAs('the refusal is shown', ({ failure }) => failure !== undefined)
    matchObject(t, refused, { level: 'error', syncs: [{ name: 'filling' }], failure: { reason: 'Forbidden' } })
    await setStatus(plant, far, 'filling', ready)
    writeFileSync(file, kubeconfig.replace(/token: .*/, `token: ${await plant.token('cluster-sync', 'hub')}`))
    await shownAs('it is read again', ({ failure, syncs }) => failure === undefined && syncs[0]?.reason === 'Synced')
  })

  await t.test('each of twenty clusters has an equal share, and the page says that there are more', async (t) => {
    await Promise.all(Array.from({ length: 110 }, (_, number) => put(plant, far, `line-${number}`)))
    const [stop, clusters] = [
      new AbortController(),
      Array.from({ length: 20 }, (_, index) => ({ name: `c-${index}`, kubeconfigFile: file })),
    ]
    const others = new OtherClusters({ clock: systemClock, log: silentLog }, clusters)
    const running = others.run(stop.signal)
    const views = await until(() => {
      const all = others.views()
      return all.every(({ seenAt }) => seenAt !== undefined) ? all : undefined
    }, 'all are listed')
    stop.abort()
    await running
    t.strictSame([...new Set(views.map(({ syncs, truncated }) => `${syncs.length} ${truncated}`))], ['100 true'])
  })

  await t.test('without its API server it stays with the time at which it was last seen', async (t) => {
    await plant.plane.stop()
    const view = await shownAs('the loss is shown', ({ failure }) => failure !== undefined, 30_000)
    matchObject(t, view, { level: 'error', failure: { reason: 'ApiUnavailable' } })
    t.equal(view.syncs.find((sync) => sync.name === 'filling')?.reason, 'Synced')
    t.match(view.seenAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    const page = await ask('/?q=filling', boss)
    for (const part of [`${far}/filling`, 'The cluster cannot be read:', 'last seen']) containsText(t, page, part)
  })
})
