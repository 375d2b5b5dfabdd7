/**
 * An agent's loop around the real engine: a pause takes effect at once, in the middle of a sync as at the start.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import type { FollowedSync } from '../../../runtime/agent/desired.ts'
import { createFollower } from '../../../runtime/agent/follow.ts'
import { systemClock } from '../../../runtime/clock.ts'
import type { SyncReportStatus } from '../../../runtime/gatewaysync/report.ts'
import { silentLog } from '../../../runtime/log.ts'
import { type EngineMemory, present, runCycle } from '../../../runtime/sync/cycle.ts'
import { memorySource, type Tree } from '../../support/memory-source.ts'
import { temporaryFolder } from '../../support/repository.ts'
import { until } from '../../support/world.ts'

const pod = { podName: 'gw-0', namespace: 'plant', annotations: {}, labels: {} }

function setUp(t: Pick<Test, 'teardown'>, dataDir = temporaryFolder(t, 'follow')) {
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
      clock: systemClock,
      log: silentLog,
      source: () => slow,
      gateway: () => undefined,
      mode: async () => ({ name: '', from: 'none' }),
      podFacts: async () => pod,
      present: () => present(dataDir),
      cycle: (from, gateway, wanted, signal) =>
        runCycle({ source: from, gateway, clock: systemClock, log: silentLog, memory }, wanted, signal),
      report: (status) => void reports.push(status),
    },
    { gatewaySync: 'plant', dataDir, agentVersion: 'test' },
  )
  const followed = (tree: Tree, paused: boolean): FollowedSync => ({
    annotations: {},
    spec: {
      git: { repo: 'https://git.example.com/plant.git', ref: 'main' },
      paused,
      sync: { profiles: { default: { mappings: [{ source: 'projects', destination: 'projects' }] } } },
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
  const again = setUp(t, before.dataDir)
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
