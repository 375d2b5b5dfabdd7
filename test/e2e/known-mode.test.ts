/**
 * A gateway's deployment mode that only the running gateway tells: a pod that is made anew while its gateway is down takes no file of that mode.
 * Until then nothing is wrong, and nothing warns.
 */
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { podType } from '../../runtime/kube/types.ts'
import { startSimulator } from '../../examples/simulator/simulator.ts'
import { install, readyAt, simulatedGateway } from '../support/installation.ts'
import { pushTo } from '../support/push.ts'
import { requires } from '../support/requires.ts'
import { eventsIn, until } from '../support/world.ts'

const manifest = (parent: string): string => JSON.stringify({ title: 'x', description: '', enabled: true, inheritable: true, parent })
const ofProd = 'config/resources/prod/config-mode.json'

void t.test(
  'a mode that was told and is not told now keeps its files, and the status says so until it is',
  { timeout: 280_000 },
  async (t) => {
    if (!requires(t, 'git')) return
    const cluster = await install(t, ['plant'])
    t.teardown(() => {
      if (!t.passing()) t.comment(cluster.logs.join(''))
    })
    const { host, folder, world, receiver } = cluster
    const namespace = cluster.namespace('plant')
    const repository = host.repository('plant.git')
    const first = repository.commit({
      'resources/core/config-mode.json': manifest('external'),
      'resources/prod/config-mode.json': manifest('core'),
      'resources/dev/config-mode.json': manifest('core'),
    })
    const { simulator, dataDir, port } = await simulatedGateway(t, folder, 'gw-0', { mode: 'prod' })
    await cluster.gatewaySync(namespace, 'plant', {
      git: { repo: host.url('plant.git/.git'), ref: 'main' },
      polling: { enabled: false },
      gateway: { port },
      sync: {
        defaults: { syncPeriod: 5, maxDeletions: '100%' },
        profiles: { default: { collections: { root: 'resources', mode: 'auto' } } },
      },
    })
    const options = { account: 'gateway', simulator, dataDir }
    const before = await cluster.gateway(namespace, 'gw-0', options)
    t.match((await readyAt(cluster, namespace, first)).gateways, { total: 1, synced: 1 })
    const commit = repository.commit({})
    await pushTo(receiver, namespace, 'plant')
    await readyAt(cluster, namespace, commit)
    const events = await eventsIn(world, namespace)
    t.ok(events.length > 0)
    t.same(
      events.filter(({ type }) => type === 'Warning'),
      [],
      'a new GatewaySync and a push are no reason to warn',
    )
    t.match(await cluster.report(namespace, 'gw-0'), { mode: { name: 'prod', from: 'gateway' } })
    const file = path.join(dataDir, ofProd)
    const content = readFileSync(file, 'utf8')

    await before.stop()
    await simulator.stop()
    await world.kube.delete(podType, { namespace, name: 'gw-0' }, world.signal)
    await cluster.gateway(namespace, 'gw-0', options)
    const report = await until(async () => {
      const told = await cluster.report(namespace, 'gw-0')
      return told?.reason === 'ModeUnknown' ? told : undefined
    }, 'the report says that nobody can tell the mode')
    t.match(report, { phase: 'Pending', commit, mode: { name: 'prod' }, message: /"prod", the last one known, stay/ })
    t.equal(readFileSync(file, 'utf8'), content)
    t.notOk(existsSync(path.join(dataDir, 'config/resources/dev')))
    const status = await until(async () => {
      const told = await cluster.status(namespace, 'plant')
      const ready = told.conditions?.find(({ type }) => type === 'Ready')
      return /gw-0: ModeUnknown/.test(ready?.message ?? '') ? ready : undefined
    }, 'so does the status')
    t.match(status, { status: 'False', reason: 'GatewaysPending' })

    const again = await startSimulator({ dataDir, name: 'gw-0', mode: 'prod', port })
    t.teardown(async () => again.stop())
    await readyAt(cluster, namespace, commit)
    t.match(await cluster.report(namespace, 'gw-0'), { phase: 'Synced', mode: { name: 'prod', from: 'gateway' } })
    t.equal(readFileSync(file, 'utf8'), content)
  },
)
