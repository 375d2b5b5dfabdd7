/**
 * An agent's loop around the real engine: a pause takes effect at once, in the middle of a sync as at the start.
 */
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { type Clock, systemClock } from '../../../runtime/clock.ts'
import { connectGateway, type Gateway } from '../../../runtime/gateway/gateway.ts'
import { createModeFinder } from '../../../runtime/gateway/mode.ts'
import { podAnnotations } from '../../../runtime/gatewaysync/names.ts'
import { silentLog } from '../../../runtime/log.ts'
import { startSimulator } from '../../../examples/simulator/simulator.ts'
import { clockAhead, follow } from '../../support/follower.ts'
import type { Tree } from '../../support/memory-source.ts'
import { freePort } from '../../support/ports.ts'
import { temporaryFolder } from '../../support/repository.ts'
import { until } from '../../support/world.ts'

void t.test(
  'a pause in the middle of a sync is obeyed at once: what was staged is given up, the report says at which commit',
  async (t) => {
    const { dataDir, source, follower, followed, reported, gate } = follow(t)
    const [first, second]: Tree[] = [{ 'projects/a': '1' }, { 'projects/a': '2' }]
    follower.observe(followed(first ?? {}, false))
    const { commit } = await reported('Synced', source.commit(first ?? {}))
    gate.hangs = true
    gate.asked = 0
    follower.observe(followed(second ?? {}, false))
    await until(() => (gate.asked > 0 ? true : undefined), 'contents are being fetched')
    t.ok(
      readdirSync(path.join(dataDir, '.cluster-sync')).some((name) => name.startsWith('run-')),
      'something is staged',
    )
    follower.observe(followed(second ?? {}, true))
    const paused = await reported('Paused')
    t.equal(paused.commit, commit)
    t.equal(readFileSync(path.join(dataDir, 'projects/a'), 'utf8'), '1')
    t.notOk(
      readdirSync(path.join(dataDir, '.cluster-sync')).some((name) => name.startsWith('run-')),
      'and nothing any more',
    )
    gate.hangs = false
    follower.observe(followed(second ?? {}, false))
    await reported('Synced', source.commit(second ?? {}))
    t.equal(readFileSync(path.join(dataDir, 'projects/a'), 'utf8'), '2')
  },
)

void t.test('a GatewaySync that goes in the middle of a sync ends it, and the gateway keeps what it has', async (t) => {
  const { dataDir, follower, followed, reported, gate } = follow(t)
  gate.hangs = true
  follower.observe(followed({ 'projects/a': '1' }, false))
  await until(() => (gate.asked > 0 ? true : undefined), 'contents are being fetched')
  follower.observe(undefined)
  t.match(await reported('Pending'), { reason: 'NotFound' })
  t.same(readdirSync(path.join(dataDir, 'projects')), [])
})

void t.test('a dry run of another ref is never applied by the spec that ends it', async (t) => {
  const { dataDir, source, follower, followed, reported, reports, gate } = follow(t)
  const [main, staging]: [Tree, Tree] = [{ 'projects/a': 'main' }, { 'projects/b': 'staging' }]
  follower.observe(followed(main, false))
  await reported('Synced', source.commit(main))
  const asked = gate.asked
  const ofStaging = followed(staging, false)
  const published = { commit: source.commit(staging), ref: 'staging', repo: 'https://git.example.com/plant.git', at: '' }
  follower.observe({ ...ofStaging, status: { ...ofStaging.status, published } })
  t.match(await reported('Pending'), { reason: 'CommitNotPublished', commit: source.commit(main), message: /of staging/ })
  t.equal(gate.asked, asked, 'no content of it was asked for')
  t.equal(readFileSync(path.join(dataDir, 'projects/a'), 'utf8'), 'main')
  t.notOk(reports.some(({ commit }) => commit === source.commit(staging)))
})

void t.test('a GatewaySync that is gone, also after a restart, takes no file away', async (t) => {
  const before = follow(t)
  before.follower.observe(before.followed({ 'projects/a': '1' }, false))
  const { commit } = await before.reported('Synced')
  before.follower.observe(undefined)
  t.match(await before.reported('Pending'), { reason: 'NotFound', commit })
  await before.end()
  const again = follow(t, { dataDir: before.dataDir })
  again.follower.observe(undefined)
  t.match(await again.reported('Pending'), { reason: 'NotFound', commit })
  t.equal(readFileSync(path.join(before.dataDir, 'projects/a'), 'utf8'), '1')
})

void t.test('an agent that starts paused writes nothing at all', async (t) => {
  const { dataDir, follower, followed, reported, gate } = follow(t)
  follower.observe(followed({ 'projects/a': '1' }, true))
  const report = await reported('Paused')
  t.equal(report.commit, undefined)
  t.notOk(existsSync(path.join(dataDir, '.cluster-sync')))
  t.equal(gate.asked, 0)
})

void t.test('an agent that starts again over what it had synced reports no sync', async (t) => {
  const before = follow(t)
  before.follower.observe(before.followed({ 'projects/a': '1' }, false))
  await before.reported('Synced')
  t.equal(before.reports[0]?.phase, 'Syncing')
  await before.end()
  const again = follow(t, { dataDir: before.dataDir })
  again.follower.observe(again.followed({ 'projects/a': '1' }, false))
  await again.reported('Synced')
  t.same(
    again.reports.map(({ phase }) => phase),
    ['Synced'],
  )
  again.follower.observe(again.followed({ 'projects/a': '2' }, false))
  await again.reported('Synced', again.source.commit({ 'projects/a': '2' }))
  t.equal(again.reports[1]?.phase, 'Syncing')
})

void t.test(
  'the mode of a gateway that starts after its agent is learned as soon as it runs, not at the next look for drift',
  async (t) => {
    const dataDir = temporaryFolder(t, 'mode')
    mkdirSync(path.join(dataDir, 'config/resources'), { recursive: true })
    const port = await freePort()
    const log = silentLog
    const gateway = connectGateway({ url: `http://127.0.0.1:${port}`, apiKey: async () => undefined, clock: systemClock, log })
    const mode = createModeFinder({ clock: systemClock, ignitionConf: () => undefined }, {})
    const manifest = (parent?: string) => JSON.stringify({ title: 'x', enabled: true, inheritable: true, ...(parent && { parent }) })
    const tree: Tree = {
      'collections/external/config-mode.json': manifest(),
      'collections/core/config-mode.json': manifest('external'),
      'collections/dev/config-mode.json': manifest('core'),
    }
    const profile = { collections: { root: 'collections' }, syncPeriod: 3600 }
    const { follower, followed, reported, reports } = follow(t, { dataDir, gateway, mode, profile })
    follower.observe(followed(tree, false))
    await until(() => (existsSync(path.join(dataDir, 'config/resources/core/config-mode.json')) ? true : undefined), 'core is in place')
    t.notOk(existsSync(path.join(dataDir, 'config/resources/dev')), 'no mode is known')
    const simulator = await startSimulator({ dataDir, name: 'gw-0', mode: 'dev', port })
    t.teardown(async () => simulator.stop())
    const report = await until(
      () => reports.findLast(({ mode: known }) => known?.from === 'gateway'),
      'the report names the mode of the running gateway',
    )
    t.match(report.mode, { name: 'dev', from: 'gateway' })
    await reported('Synced')
    t.ok(existsSync(path.join(dataDir, 'config/resources/dev/config-mode.json')))
  },
)

void t.test('a gateway that starts after its agent is told of its files as soon as it runs, not when the next look is due', async (t) => {
  const dataDir = temporaryFolder(t, 'late')
  const port = await freePort()
  const gateway = connectGateway({ url: `http://127.0.0.1:${port}`, apiKey: async () => undefined, clock: systemClock, log: silentLog })
  // No look is ever due, and what is asked between two looks is asked at once.
  const wait: Clock['wait'] = async (ms, signal) => await systemClock.wait(ms > 1_000 ? 3_600_000 : 5, signal)
  const { follower, followed, reported } = follow(t, { dataDir, gateway, clock: { ...systemClock, monotonicMs: () => 0, wait } })
  follower.observe(followed({ 'projects/a/project.json': '{}' }, false))
  t.match(await reported('Pending'), { reason: 'GatewayUnreachable' })
  const simulator = await startSimulator({ dataDir, name: 'gw-0', mode: '', port })
  t.teardown(async () => simulator.stop())
  t.match(await reported('Synced'), { scan: { projects: { finishedAt: /./ } } })
})

void t.test('a pause is heard while the gateway is asked whether it runs, however long it takes to answer', async (t) => {
  const dataDir = temporaryFolder(t, 'hanging')
  const real = connectGateway({
    url: `http://127.0.0.1:${await freePort()}`,
    apiKey: async () => undefined,
    clock: systemClock,
    log: silentLog,
  })
  const hung = { hangs: false, asked: 0, given: 0 }
  const gateway: Gateway = {
    ...real,
    async status(signal) {
      if (!hung.hangs) return await real.status(signal)
      hung.asked += 1
      await once(signal, 'abort')
      hung.given += 1
      return 'unreachable'
    },
  }
  const wait: Clock['wait'] = async (ms, signal) => await systemClock.wait(ms > 1_000 ? 3_600_000 : 5, signal)
  const { follower, followed, reported } = follow(t, { dataDir, gateway, clock: { ...systemClock, monotonicMs: () => 0, wait } })
  follower.observe(followed({ 'projects/a': '1' }, false))
  await reported('Pending')
  hung.hangs = true
  await until(() => (hung.asked > 0 ? true : undefined), 'the gateway is asked')
  t.equal(hung.given, 0)
  hung.hangs = false
  follower.observe(followed({ 'projects/a': '1' }, true))
  await until(() => (hung.given > 0 ? true : undefined), 'nobody waits for its answer any more')
  await reported('Paused')
})

void t.test('the annotations of a pod are read again though its agent has nothing to do', async (t) => {
  const wait: Clock['wait'] = async (_ms, signal) => await systemClock.wait(5, signal)
  let profile = 'nowhere'
  const pod = () => ({ podName: 'gw-0', namespace: 'plant', annotations: { [podAnnotations.profile]: profile }, labels: {} })
  const { follower, followed, reported } = follow(t, { pod, clock: { ...systemClock, wait } })
  follower.observe(followed({ 'projects/a': '1' }, false))
  t.match(await reported('Blocked'), { reason: 'UnknownProfile' })
  profile = 'default'
  t.match(await reported('Synced'), { profile: 'default' })
})

void t.test('what keeps a sync from its end is tried every ten seconds while the gateway waits for it, else every minute', async (t) => {
  const waits: number[] = []
  const wait: Clock['wait'] = async (ms, signal) => {
    waits.push(ms)
    await systemClock.wait(5, signal)
  }
  const longest = async (): Promise<number> => {
    waits.length = 0
    await until(() => (waits.length > 30 ? true : undefined), 'it is tried many times')
    return Math.max(...waits)
  }
  const { follower, followed, reported, dataDir } = follow(t, { clock: { ...systemClock, wait, random: () => 0.5 } })
  const lost = {
    ...followed({}, false),
    status: { ...followed({}, false).status, published: { commit: 'f'.repeat(40), ref: 'main', at: '' } },
  }
  follower.observe(lost)
  await reported('Failed')
  t.ok((await longest()) <= 10_000, 'its gateway has nothing to start with')
  follower.observe(followed({ 'projects/a': '1' }, false))
  await reported('Synced')
  t.ok(existsSync(path.join(dataDir, 'projects/a')))
  follower.observe(lost)
  await reported('Failed')
  const usualMs = await longest()
  t.ok(usualMs > 10_000 && usualMs <= 60_000, `${usualMs}`)
})

void t.test('an agent that has nothing to do for hours is alive', async (t) => {
  const { ahead, clock } = clockAhead()
  const { follower, reported } = follow(t, { clock })
  follower.observe(undefined)
  await reported('Pending')
  ahead.ms = 7_200_000
  t.match(follower.health(), { live: true })
})
