/**
 * A deployment mode that only the running gateway reports: a pod that is recreated while its gateway is down does not remove files of that
 * mode. Until then there is no fault and no warning.
 */
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { podType } from '../../runtime/kube/types.ts'
import { startSimulator } from '../../examples/simulator/simulator.ts'
import { matchObject } from '../support/assertions.ts'
import { install, readyAt, simulatedGateway } from '../support/installation.ts'
import { pushTo } from '../support/push.ts'
import { requires } from '../support/requires.ts'
import { eventsIn, until } from '../support/world.ts'

const manifest = (parent: string): string => JSON.stringify({ title: 'x', description: '', enabled: true, inheritable: true, parent })
const ofProd = 'config/resources/prod/config-mode.json'

void t.test('a mode that is temporarily unknown keeps its files, and the status reports it', { timeout: 600_000 }, async (t) => {
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
      defaults: { syncPeriod: '5s', maxDeletions: '100%' },
      profiles: { default: { collections: { root: 'resources', mode: 'auto' } } },
    },
  })
  const options = { account: 'gateway', simulator, dataDir }
  const before = await cluster.gateway(namespace, 'gw-0', options)
  matchObject(t, (await readyAt(cluster, namespace, first)).gateways, { total: 1, synced: 1 })
  const commit = repository.commit({})
  await pushTo(receiver, namespace, 'plant')
  await readyAt(cluster, namespace, commit)
  const events = await eventsIn(world, namespace)
  t.ok(events.length > 0)
  t.strictSame(
    events.filter(({ type }) => type === 'Warning'),
    [],
    'a new GatewaySync and a push are no reason to warn',
  )
  matchObject(t, await cluster.report(namespace, 'gw-0'), { mode: { name: 'prod', from: 'Gateway' } })
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
  matchObject(t, report, { phase: 'Pending', commit, mode: { name: 'prod' }, message: /the last known mode "prod" stay;/ })
  t.equal(readFileSync(file, 'utf8'), content)
  t.notOk(existsSync(path.join(dataDir, 'config/resources/dev')))
  const status = await until(async () => {
    const told = await cluster.status(namespace, 'plant')
    const ready = told.conditions?.find(({ type }) => type === 'Ready')
    return /gw-0: ModeUnknown/.test(ready?.message ?? '') ? ready : undefined
  }, 'so does the status')
  matchObject(t, status, { status: 'False', reason: 'GatewaysPending' })

  const again = await startSimulator({ dataDir, name: 'gw-0', mode: 'prod', port })
  t.teardown(async () => again.stop())
  await readyAt(cluster, namespace, commit)
  matchObject(t, await cluster.report(namespace, 'gw-0'), { phase: 'Synced', mode: { name: 'prod', from: 'Gateway' } })
  t.equal(readFileSync(file, 'utf8'), content)
})
