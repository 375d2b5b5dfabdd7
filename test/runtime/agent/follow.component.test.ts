/**
 * An agent's loop around the real engine: a pause takes effect at once, in the middle of a sync as at the start.
 */
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import type { FollowedSync } from '../../../runtime/agent/desired.ts'
import { createFollower, type FollowDeps, type Follower } from '../../../runtime/agent/follow.ts'
import { serveProbes } from '../../../runtime/agent/probes.ts'
import { type Clock, systemClock } from '../../../runtime/clock.ts'
import { Fault } from '../../../runtime/fault.ts'
import { captureAnnotations } from '../../../runtime/gatewaysync/names.ts'
import type { SyncReportStatus } from '../../../runtime/gatewaysync/schema/report.ts'
import { connectGateway, type Gateway } from '../../../runtime/gateway/gateway.ts'
import { createModeFinder } from '../../../runtime/gateway/mode.ts'
import { isInterrupted } from '../../../runtime/sync/publish/journal.ts'
import { silentLog } from '../../../runtime/log.ts'
import { type EngineMemory, readSynced, recoverFolder, runCycle } from '../../../runtime/sync/cycle.ts'
import { startSimulator } from '../../../examples/simulator/simulator.ts'
import { freePort } from '../../support/ports.ts'
import { memorySource, type Tree } from '../../support/memory-source.ts'
import { temporaryFolder } from '../../support/repository.ts'
import { until } from '../../support/world.ts'

const pod = { podName: 'gw-0', namespace: 'plant', annotations: {}, labels: {} }

type Options = {
  dataDir?: string
  clock?: Clock
  gateway?: Gateway
  mode?: FollowDeps['mode']
  profile?: object
  waitedMs?: number
  capture?: NonNullable<FollowDeps['capture']>
  captureQuiet?: NonNullable<FollowDeps['captureQuiet']>
}

function setUp(t: Pick<Test, 'teardown'>, options: Options = {}) {
  const { dataDir = temporaryFolder(t, 'follow'), clock = systemClock, gateway, mode = async () => ({ name: '', from: 'none' }) } = options
  const profile = options.profile ?? { mappings: [{ source: 'projects', destination: 'projects' }] }
  mkdirSync(path.join(dataDir, 'projects'), { recursive: true })
  const source = memorySource()
  const memory: EngineMemory = { manifest: undefined }
  const reports: SyncReportStatus[] = []
  /** While set, contents arrive and the stream does not end. */
  const gate = { asked: 0, hangs: false }
  const slow: typeof source = {
    ...source,
    async blobs(request, sink, signal) {
      await source.blobs(request, sink, signal)
      gate.asked += 1
      if (!gate.hangs) return
      await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }))
    },
  }
  const follower = createFollower(
    {
      clock,
      log: silentLog,
      source: () => slow,
      gateway: () => gateway,
      mode,
      podFacts: async () => pod,
      readSynced: () => readSynced(dataDir),
      async recover(signal) {
        if (isInterrupted(dataDir)) await recoverFolder({ clock: systemClock, log: silentLog, memory }, dataDir, signal)
      },
      cycle: (from, to, wanted, signal) =>
        runCycle({ source: from, gateway: to, clock: systemClock, log: silentLog, memory }, wanted, signal),
      report: (status) => void reports.push(status),
      ...(options.capture === undefined ? {} : { capture: options.capture }),
      ...(options.captureQuiet === undefined ? {} : { captureQuiet: options.captureQuiet }),
    },
    { gatewaySync: 'plant', dataDir, agentVersion: 'test', waitedMs: options.waitedMs ?? 0 },
  )
  const followed = (tree: Tree, paused: boolean): FollowedSync => ({
    annotations: {},
    spec: {
      git: { repo: 'https://git.example.com/plant.git', ref: 'main' },
      paused,
      sync: { profiles: { default: profile } },
    },
    status: {
      published: { commit: source.commit(tree), ref: 'main' },
      delivery: { url: 'https://delivery', caBundle: '' },
    } as unknown as FollowedSync['status'],
  })
  const stop = new AbortController()
  const running = follower.run(stop.signal)
  const end = async (): Promise<void> => {
    stop.abort(new Error('the test is over'))
    await running
  }
  t.teardown(end)
  const reported = async (phase: string, commit?: string): Promise<SyncReportStatus> =>
    await until(
      () => {
        const last = reports.at(-1)
        return last?.phase === phase && (commit === undefined || last.commit === commit) ? last : undefined
      },
      `the report says ${phase}; the last was ${JSON.stringify(reports.at(-1))}`,
    )
  return { dataDir, source, follower, followed, reported, reports, gate, end }
}

/** What the kubelet is told at /startz. */
async function startProbe(t: Pick<Test, 'teardown'>, follower: Follower): Promise<() => Promise<number>> {
  const stop = new AbortController()
  const deps = { health: () => follower.health(), metrics: () => '' }
  const { port, closed } = await serveProbes(deps, { port: 0, host: '127.0.0.1' }, stop.signal)
  t.teardown(async () => {
    stop.abort()
    await closed
  })
  return async () => {
    const response = await fetch(`http://127.0.0.1:${port}/startz`, { headers: { connection: 'close' } })
    await response.text()
    return response.status
  }
}

/** A clock that a test moves ahead. */
function clockAhead() {
  const ahead = { ms: 0 }
  return { ahead, clock: { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + ahead.ms } }
}

/** A clock whose waits are short, and how long they were meant to be. */
function shortWaits() {
  const waits: number[] = []
  const wait: Clock['wait'] = async (ms, own) => {
    waits.push(ms)
    await systemClock.wait(Math.min(ms, 5), own)
  }
  return { waits, clock: { ...systemClock, wait } }
}

void t.test(
  'changes that cannot be handed on are offered again with growing waits, and never before a failed sync is tried again',
  async (t) => {
    const asking = { [captureAnnotations.at]: 'now' }
    const grown = async (waits: number[], what: string): Promise<true> =>
      await until(() => (waits.some((ms) => ms > 30_000 && ms < 200_000) ? true : undefined), what)
    await t.test('an offer that is refused', async (t) => {
      const { waits, clock } = shortWaits()
      const capture = async (): Promise<'done'> => {
        throw new Fault('PayloadMalformed', 'the changes are not permitted')
      }
      const { follower, followed } = setUp(t, {
        clock,
        capture,
        profile: { mappings: [{ source: 'projects', destination: 'projects' }], syncPeriod: 300 },
      })
      const sync = followed({ 'projects/a': '1' }, false)
      follower.observe({ ...sync, annotations: asking, spec: { ...(sync.spec as object), capture: {} } })
      await grown(waits, 'the waits grow although each sync is well')
    })
    await t.test('an offer that has to wait, at a sync that fails', async (t) => {
      const { waits, clock } = shortWaits()
      const { follower, followed } = setUp(t, { clock, capture: async () => 'again' })
      const sync = followed({ 'projects/a': '1' }, false)
      const published = { commit: 'f'.repeat(40), ref: 'main', at: '2026-03-01T12:00:00Z' }
      const status = { ...sync.status, published }
      follower.observe({ ...sync, status, annotations: asking, spec: { ...(sync.spec as object), capture: {} } })
      await grown(waits, 'the waits of the failed sync grow')
    })
  },
)

void t.test('with on: Drift what syncs find changed is watched in its own time, after what somebody asks for', async (t) => {
  const seen: (readonly string[] | undefined)[] = []
  const asked: string[] = []
  const { dataDir, follower, followed, reported, reports } = setUp(t, {
    profile: { mappings: [{ source: 'projects', destination: 'projects' }], syncPeriod: 300 },
    capture: async (_source, _wanted, request) => {
      asked.push(request)
      return 'done'
    },
    captureQuiet: async (_source, _wanted, { quietMs, drift }) => {
      t.equal(quietMs, 90_000)
      seen.push(drift?.paths)
      return 50
    },
  })
  const sync = followed({ 'projects/a': '1' }, false)
  const capturing = (capture: object) => ({ ...sync, spec: { ...(sync.spec as object), capture } })
  follower.observe(capturing({ on: 'Request' }))
  await reported('Synced')
  t.same(seen, [], 'only where the spec says so')
  writeFileSync(path.join(dataDir, 'projects/a'), 'repaired')
  follower.observe({ ...capturing({ on: 'Drift', quiet: '90s' }), annotations: { [captureAnnotations.at]: 'now' } })
  await until(() => (seen.at(-1)?.[0] === 'projects/a' ? true : undefined), 'the drift is told though no sync is due')
  t.equal(seen[0], undefined, 'before a sync has seen it there is none')
  t.equal(asked[0], 'now')
  writeFileSync(path.join(dataDir, 'projects/a'), '1')
  await until(() => (seen.length > 1 && seen.at(-1) === undefined ? true : undefined), 'it is gone')
  t.ok(reports.length > 0)
})

void t.test(
  'a pause in the middle of a sync is obeyed at once: what was staged is given up, the report says at which commit',
  async (t) => {
    const { dataDir, source, follower, followed, reported, gate } = setUp(t)
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
  const { dataDir, follower, followed, reported, gate } = setUp(t)
  gate.hangs = true
  follower.observe(followed({ 'projects/a': '1' }, false))
  await until(() => (gate.asked > 0 ? true : undefined), 'contents are being fetched')
  follower.observe(undefined)
  t.match(await reported('Pending'), { reason: 'NotFound' })
  t.same(readdirSync(path.join(dataDir, 'projects')), [])
})

void t.test('a dry run of another ref is never applied by the spec that ends it', async (t) => {
  const { dataDir, source, follower, followed, reported, reports, gate } = setUp(t)
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
  const before = setUp(t)
  before.follower.observe(before.followed({ 'projects/a': '1' }, false))
  const { commit } = await before.reported('Synced')
  before.follower.observe(undefined)
  t.match(await before.reported('Pending'), { reason: 'NotFound', commit })
  await before.end()
  const again = setUp(t, { dataDir: before.dataDir })
  again.follower.observe(undefined)
  t.match(await again.reported('Pending'), { reason: 'NotFound', commit })
  t.equal(readFileSync(path.join(before.dataDir, 'projects/a'), 'utf8'), '1')
})

void t.test('an agent that starts paused writes nothing at all', async (t) => {
  const { dataDir, follower, followed, reported, gate } = setUp(t)
  follower.observe(followed({ 'projects/a': '1' }, true))
  const report = await reported('Paused')
  t.equal(report.commit, undefined)
  t.notOk(existsSync(path.join(dataDir, '.cluster-sync')))
  t.equal(gate.asked, 0)
})

void t.test('an agent that starts again over what it had synced reports no sync', async (t) => {
  const before = setUp(t)
  before.follower.observe(before.followed({ 'projects/a': '1' }, false))
  await before.reported('Synced')
  t.equal(before.reports[0]?.phase, 'Syncing')
  await before.end()
  const again = setUp(t, { dataDir: before.dataDir })
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
    const { follower, followed, reported, reports } = setUp(t, { dataDir, gateway, mode, profile })
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

void t.test('an agent that has nothing to do for hours is alive', async (t) => {
  const { ahead, clock } = clockAhead()
  const { follower, reported } = setUp(t, { clock })
  follower.observe(undefined)
  await reported('Pending')
  ahead.ms = 7_200_000
  t.match(follower.health(), { live: true })
})

void t.test('a gateway on an empty volume starts with its first commit, also when nothing was published at first', async (t) => {
  const { ahead, clock } = clockAhead()
  const { follower, followed, reported } = setUp(t, { clock })
  const startz = await startProbe(t, follower)
  t.equal(await startz(), 503, 'before the GatewaySync was read')
  const complete = followed({ 'projects/a': '1' }, false)
  follower.observe({ ...complete, status: {} })
  await reported('Pending')
  ahead.ms = 500_000
  t.equal(await startz(), 503, 'nothing is published')
  follower.observe(complete)
  await reported('Synced')
  t.equal(await startz(), 200)
})

void t.test('a gateway that no commit has come for is let start at the deadline, with a finding until one has', async (t) => {
  const profile = { mappings: [{ source: 'projects', destination: 'projects' }], startDeadline: '1s' }
  const { follower, followed, reports, reported } = setUp(t, { profile })
  const startz = await startProbe(t, follower)
  const complete = followed({ 'projects/a': '1' }, false)
  follower.observe({ ...complete, status: {} })
  const late = await until(() => reports.find(({ findings }) => findings !== undefined), 'the deadline is reported')
  t.match(late, { phase: 'Pending', findings: [{ rule: 'started-without-commit' }] })
  t.equal(await startz(), 200)
  follower.observe(complete)
  t.equal((await reported('Synced')).findings, undefined)
})

void t.test('a deadline that a probe notices first is reported all the same', async (t) => {
  const { ahead, clock } = clockAhead()
  const { follower, followed, reported, reports } = setUp(t, { clock })
  const startz = await startProbe(t, follower)
  follower.observe({ ...followed({ 'projects/a': '1' }, false), status: {} })
  await reported('Pending')
  ahead.ms = 600_000
  t.equal(await startz(), 200)
  await until(() => reports.find(({ findings }) => findings !== undefined), 'the deadline is reported')
})

void t.test('the deadline goes on over restarts of the agent', async (t) => {
  const { follower, followed, reported } = setUp(t, { waitedMs: 600_000 })
  const startz = await startProbe(t, follower)
  follower.observe({ ...followed({ 'projects/a': '1' }, false), status: {} })
  t.match(await reported('Pending'), { findings: [{ rule: 'started-without-commit' }] })
  t.equal(await startz(), 200)
})

void t.test('a gateway with a whole commit starts soon, whatever keeps the published one from it', async (t) => {
  const [first, second]: Tree[] = [{ 'projects/a': '1' }, { elsewhere: '2' }]
  const rows: [string, (world: ReturnType<typeof setUp>) => Promise<void>][] = [
    [
      'the published commit is refused',
      async ({ follower, followed, reported }) => {
        follower.observe(followed(second ?? {}, false))
        await reported('Blocked')
      },
    ],
    [
      'delivery does not end',
      async ({ follower, followed, reported, gate }) => {
        gate.hangs = true
        follower.observe(followed({ 'projects/a': '3' }, false))
        await reported('Syncing')
      },
    ],
    ['the API server is away', async () => {}],
  ]
  for (const [name, happens] of rows) {
    const before = setUp(t)
    before.follower.observe(before.followed(first ?? {}, false))
    await before.reported('Synced')
    await before.end()
    const { ahead, clock } = clockAhead()
    const again = setUp(t, { dataDir: before.dataDir, clock })
    const startz = await startProbe(t, again.follower)
    await happens(again)
    t.equal(await startz(), 503, `${name}: it is tried for a moment`)
    ahead.ms = 30_000
    t.equal(await startz(), 200, name)
    t.equal(again.reports.at(-1)?.findings, undefined, `${name}: nothing is amiss`)
    await again.end()
  }
})
