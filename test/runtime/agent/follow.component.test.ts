/**
 * The agent's loop with the real engine: a pause takes effect at once, during a sync and at startup.
 */
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { type Clock, systemClock } from '../../../runtime/platform/clock.ts'
import { connectGateway, type Gateway } from '../../../runtime/gateway/gateway.ts'
import { createModeFinder } from '../../../runtime/gateway/mode.ts'
import { podAnnotations } from '../../../runtime/api/names.ts'
import { silentLog } from '../../../runtime/platform/log/log.ts'
import { startSimulator } from '../../../examples/simulator/simulator.ts'
import { matchObject } from '../../support/assertions.ts'
import { clockAhead, follow } from '../../support/follower.ts'
import type { Tree } from '../../support/memory-source.ts'
import { freePort } from '../../support/ports.ts'
import { temporaryFolder } from '../../support/repository.ts'
import { until } from '../../support/world.ts'

void t.test('a pause during a sync aborts it at once: staged files are removed, and the report names the commit', async (t) => {
  const { dataDir, source, follower, followed, reported, fetching } = follow(t)
  const [first, second]: Tree[] = [{ 'projects/a': '1' }, { 'projects/a': '2' }]
  follower.observe(followed(first ?? {}, false))
  const { commit } = await reported('Synced', source.commit(first ?? {}))
  fetching.hangs = true
  fetching.asked = 0
  follower.observe(followed(second ?? {}, false))
  await until(() => (fetching.asked > 0 ? true : undefined), 'contents are being fetched')
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
  fetching.hangs = false
  follower.observe(followed(second ?? {}, false))
  await reported('Synced', source.commit(second ?? {}))
  t.equal(readFileSync(path.join(dataDir, 'projects/a'), 'utf8'), '2')
})

void t.test('deleting the GatewaySync during a sync aborts it, and the gateway keeps its files', async (t) => {
  const { dataDir, follower, followed, reported, fetching } = follow(t)
  fetching.hangs = true
  follower.observe(followed({ 'projects/a': '1' }, false))
  await until(() => (fetching.asked > 0 ? true : undefined), 'contents are being fetched')
  follower.observe(undefined)
  matchObject(t, await reported('Pending'), { reason: 'NotFound' })
  t.strictSame(readdirSync(path.join(dataDir, 'projects')), [])
})

void t.test('a dry run of another ref is never applied by the spec that ends it', async (t) => {
  const { dataDir, source, follower, followed, reported, reports, fetching } = follow(t)
  const [main, staging]: [Tree, Tree] = [{ 'projects/a': 'main' }, { 'projects/b': 'staging' }]
  follower.observe(followed(main, false))
  await reported('Synced', source.commit(main))
  const asked = fetching.asked
  const ofStaging = followed(staging, false)
  const published = { commit: source.commit(staging), ref: 'staging', repo: 'https://git.example.com/plant.git', at: '' }
  follower.observe({ ...ofStaging, status: { ...ofStaging.status, published } })
  matchObject(t, await reported('Pending'), { reason: 'CommitNotPublished', commit: source.commit(main), message: /of staging/ })
  t.equal(fetching.asked, asked, 'no content of it was asked for')
  t.equal(readFileSync(path.join(dataDir, 'projects/a'), 'utf8'), 'main')
  t.notOk(reports.some(({ commit }) => commit === source.commit(staging)))
})

void t.test('deleting the GatewaySync removes no file, even after a restart of the agent', async (t) => {
  const before = follow(t)
  before.follower.observe(before.followed({ 'projects/a': '1' }, false))
  const { commit } = await before.reported('Synced')
  before.follower.observe(undefined)
  matchObject(t, await before.reported('Pending'), { reason: 'NotFound', commit })
  await before.end()
  const again = follow(t, { dataDir: before.dataDir })
  again.follower.observe(undefined)
  matchObject(t, await again.reported('Pending'), { reason: 'NotFound', commit })
  t.equal(readFileSync(path.join(before.dataDir, 'projects/a'), 'utf8'), '1')
})

void t.test('an agent that starts paused writes nothing', async (t) => {
  const { dataDir, follower, followed, reported, fetching } = follow(t)
  follower.observe(followed({ 'projects/a': '1' }, true))
  const report = await reported('Paused')
  t.equal(report.commit, undefined)
  t.notOk(existsSync(path.join(dataDir, '.cluster-sync')))
  t.equal(fetching.asked, 0)
})

void t.test('an agent that restarts on a synced volume reports no new sync', async (t) => {
  const before = follow(t)
  before.follower.observe(before.followed({ 'projects/a': '1' }, false))
  await before.reported('Synced')
  t.equal(before.reports[0]?.phase, 'Syncing')
  await before.end()
  const again = follow(t, { dataDir: before.dataDir })
  again.follower.observe(again.followed({ 'projects/a': '1' }, false))
  await again.reported('Synced')
  t.strictSame(
    again.reports.map(({ phase }) => phase),
    ['Synced'],
  )
  again.follower.observe(again.followed({ 'projects/a': '2' }, false))
  await again.reported('Synced', again.source.commit({ 'projects/a': '2' }))
  t.equal(again.reports[1]?.phase, 'Syncing')
})

void t.test('the mode of a gateway that starts after its agent is detected once it runs, not at the next drift check', async (t) => {
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
  const profile = { collections: { root: 'collections' }, syncPeriod: '3600s' }
  const { follower, followed, reported, reports } = follow(t, { dataDir, gateway, mode, profile })
  follower.observe(followed(tree, false))
  await until(() => (existsSync(path.join(dataDir, 'config/resources/core/config-mode.json')) ? true : undefined), 'core is in place')
  t.notOk(existsSync(path.join(dataDir, 'config/resources/dev')), 'no mode is known')
  const simulator = await startSimulator({ dataDir, name: 'gw-0', mode: 'dev', port })
  t.teardown(async () => simulator.stop())
  const report = await until(
    () => reports.findLast(({ mode: known }) => known?.from === 'Gateway'),
    'the report names the mode of the running gateway',
  )
  matchObject(t, report.mode, { name: 'dev', from: 'Gateway' })
  await reported('Synced')
  t.ok(existsSync(path.join(dataDir, 'config/resources/dev/config-mode.json')))
})

void t.test('a gateway that starts after its agent scans its files once it runs, not at the next drift check', async (t) => {
  const dataDir = temporaryFolder(t, 'late')
  const port = await freePort()
  const gateway = connectGateway({ url: `http://127.0.0.1:${port}`, apiKey: async () => undefined, clock: systemClock, log: silentLog })
  // The next drift check is never due, and polls between two checks run at once.
  const wait: Clock['wait'] = async (ms, signal) => await systemClock.wait(ms > 1_000 ? 3_600_000 : 5, signal)
  const { follower, followed, reported } = follow(t, { dataDir, gateway, clock: { ...systemClock, monotonicMs: () => 0, wait } })
  follower.observe(followed({ 'projects/a/project.json': '{}' }, false))
  matchObject(t, await reported('Pending'), { reason: 'GatewayUnreachable' })
  const simulator = await startSimulator({ dataDir, name: 'gw-0', mode: '', port })
  t.teardown(async () => simulator.stop())
  matchObject(t, await reported('Synced'), { scan: { projects: { finishedAt: /./ } } })
})

void t.test('a pause takes effect while a status request to the gateway hangs', async (t) => {
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

void t.test('pod annotations are read again while the agent is idle', async (t) => {
  const wait: Clock['wait'] = async (_ms, signal) => await systemClock.wait(5, signal)
  let profile = 'nowhere'
  const pod = () => ({ podName: 'gw-0', namespace: 'plant', annotations: { [podAnnotations.profile]: profile }, labels: {} })
  const { follower, followed, reported } = follow(t, { pod, clock: { ...systemClock, wait } })
  follower.observe(followed({ 'projects/a': '1' }, false))
  matchObject(t, await reported('Blocked'), { reason: 'UnknownProfile' })
  profile = 'default'
  matchObject(t, await reported('Synced'), { profile: 'default' })
})

void t.test('a failing sync is retried every ten seconds while the gateway waits for it, otherwise every minute', async (t) => {
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
  const defaultMs = await longest()
  t.ok(defaultMs > 10_000 && defaultMs <= 60_000, `${defaultMs}`)
})

void t.test('an agent that is idle for hours is live', async (t) => {
  const { ahead, clock } = clockAhead()
  const { follower, reported } = follow(t, { clock })
  follower.observe(undefined)
  await reported('Pending')
  ahead.ms = 7_200_000
  matchObject(t, follower.health(), { live: true })
})
