/**
 * The product's requests to a real API server at rest, from the server's audit log: pods are watched only where necessary, and an idle
 * fleet causes no requests besides its watches.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { podAnnotations } from '../../runtime/api/names.ts'
import { podType, syncReportType } from '../../runtime/kube/types.ts'
import { recordApiCalls } from '../support/api-calls.ts'
import { install, readyAt, simulatedGateway } from '../support/installation.ts'
import { requires } from '../support/requires.ts'
import { tinyPod, until } from '../support/world.ts'

const [north, south] = [{ site: 'north' }, { site: 'south' }]
/** Seconds between two drift checks: the minimum in a spec. */
const syncPeriod = '5s'

void t.test('the product makes only necessary API requests, and none at rest', { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'git', 'kubectl')) return
  const calls = await recordApiCalls(t)
  const values = { controller: { watchLabelSelector: { matchLabels: north } } }
  const cluster = await install(t, ['plant', 'late', 'foreign', 'empty'], values, { ...calls.plane, wholeCluster: true })
  t.teardown(() => {
    if (!t.passing()) t.comment(cluster.logs.join(''))
  })
  const { world, host, folder, receiver } = cluster
  const { kube, signal } = world
  const [plant, late] = [cluster.namespace('plant'), cluster.namespace('late')]
  const [foreign, empty] = [cluster.namespace('foreign'), cluster.namespace('empty')]
  const { simulator, dataDir, port } = await simulatedGateway(t, folder, 'gw-0')
  const repository = host.repository('plant.git')
  const spec = {
    git: { repo: host.url('plant.git/.git'), ref: 'main' },
    polling: { enabled: false },
    gateway: { port },
    sync: { defaults: { syncPeriod }, profiles: { default: { mappings: [{ source: 'projects', destination: 'projects' }] } } },
  }

  const account = cluster.manifests.find(({ kind }) => kind === 'ServiceAccount')?.metadata
  const asController = () => calls.answered(`system:serviceaccount:${String(account?.['namespace'])}:${account?.name}`)
  const asAgent = () => calls.answered(`system:serviceaccount:${plant}:gateway`)
  /** The controller's list and watch calls of a kind. */
  const looks = (kind: string): string[] => [...new Set(asController().filter((call) => call.endsWith(`/${kind}`)))].toSorted()
  const looksAt = (...paths: string[]): string[] => ['list', 'watch'].flatMap((verb) => paths.map((at) => `${verb} ${at}`)).toSorted()
  const podsOf = (...namespaces: string[]): string[] => looksAt(...namespaces.map((namespace) => `/api/v1/namespaces/${namespace}/pods`))
  let first = ''

  await t.test('pods are watched only in namespaces with a GatewaySync of the installation', async (t) => {
    const isWatched = (...namespaces: string[]) =>
      until(
        () => (podsOf(...namespaces).every((call) => looks('pods').includes(call)) ? true : undefined),
        `watched: ${namespaces.join(' ')}`,
      )
    for (const namespace of [late, foreign, empty])
      await kube.create(podType, tinyPod(namespace, 'gw-0', { annotations: { [podAnnotations.inject]: 'true' } }), signal)
    first = repository.commit({ 'projects/a.txt': 'one' })
    await cluster.gatewaySync(foreign, 'plant', spec, south)
    await cluster.gatewaySync(plant, 'plant', spec, north)
    await isWatched(plant)
    t.strictSame(looks('pods'), podsOf(plant))
    await cluster.gatewaySync(late, 'plant', spec, north)
    await isWatched(late)
    t.strictSame(looks('pods'), podsOf(plant, late), 'from its first GatewaySync on')
    for (const kind of ['gatewaysyncs', 'syncreports'])
      t.strictSame(looks(kind), looksAt(`/apis/clustersync.io/v1alpha1/${kind}`), 'of these there are few')
  })

  await t.test('an agent with the published commit checks for drift without API calls or reports', async (t) => {
    const { agentPort } = await cluster.gateway(plant, 'gw-0', { account: 'gateway', simulator, dataDir, labels: north })
    const cycles = async (): Promise<number> => {
      const text = await (await fetch(`http://127.0.0.1:${agentPort}/metrics`)).text()
      return Number(/^clustersync_agent_cycles_total\{outcome="ok"\} (\d+)$/m.exec(text)?.[1])
    }
    const looksMore = async (count: number): Promise<void> => {
      const desired = (await cycles()) + count
      await until(async () => ((await cycles()) >= desired ? true : undefined), `${count} more looks for drift`)
    }
    const report = async () => await kube.get(syncReportType, { namespace: plant, name: 'gw-0' }, signal)
    await readyAt(cluster, plant, first)
    // The report of the first check shows that nothing has changed any more.
    await looksMore(2)
    const [before, reported] = [asAgent(), await report()]
    t.equal(before.filter((call) => call.startsWith('watch ')).length, 1, 'it has one watch')
    await looksMore(3)
    t.strictSame(asAgent().slice(before.length), [])
    t.strictSame(await report(), reported)

    const second = repository.commit({ 'projects/a.txt': 'two' })
    const headers = { authorization: `Bearer ${receiver.token}`, 'content-type': 'application/json' }
    await fetch(`${receiver.url}/webhook/${plant}/plant`, { method: 'POST', headers, body: '{"ref":"main"}' })
    await readyAt(cluster, plant, second)
    t.equal(readFileSync(path.join(dataDir, 'projects/a.txt'), 'utf8'), 'two')
    const status = `/apis/clustersync.io/v1alpha1/namespaces/${plant}/syncreports/gw-0/status`
    t.strictSame(
      [...new Set(asAgent().slice(before.length))],
      [`patch ${status}`],
      'its watch has told it of a push: all that it says is its report',
    )
    t.strictSame(looks('pods'), podsOf(plant, late), 'nor has the controller looked elsewhere meanwhile')
  })
})
