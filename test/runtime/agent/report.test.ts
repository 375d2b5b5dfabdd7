import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { Reporter } from '../../../runtime/agent/report.ts'
import { systemClock } from '../../../runtime/platform/clock.ts'
import { Fault } from '../../../runtime/platform/fault.ts'
import type { SyncReportStatus } from '../../../runtime/api/schema/report.ts'
import type { Kube } from '../../../runtime/kube/client.ts'
import { silentLog } from '../../../runtime/platform/log/log.ts'
import { matchObject } from '../../support/assertions.ts'
import { steppedClock } from '../../support/stepped-clock.ts'

type Members = Record<string, unknown>
type Report = { metadata: Members; spec: { gatewaySync?: string; podUid?: string }; status?: Partial<SyncReportStatus> }

/** A JSON merge patch (RFC 7396), as the API server applies it. */
function merged(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch
  const result: Members = typeof target === 'object' && target !== null && !Array.isArray(target) ? { ...(target as Members) } : {}
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key]
    else result[key] = merged(result[key], value)
  }
  return result
}

/** An API server with one SyncReport, and every version of it that a watch would have seen. */
function cluster(present?: Report) {
  const seen: Report[] = []
  let refusing = 0
  let report = present
  const keep = (next: Report): never => {
    if (refusing > 0) {
      refusing -= 1
      throw new Fault('ApiUnavailable', 'away')
    }
    report = next
    seen.push(next)
    return next as never
  }
  const kube = {
    get: async () => report,
    create: async (_type: unknown, { metadata, spec }: Report) => keep({ metadata, spec }),
    async mergePatch(_type: unknown, _key: unknown, patch: Members, { subresource }: { subresource?: string }) {
      if (report === undefined) throw new Fault('NotFound', 'no such report')
      // Each of the two writes leaves the other's part unchanged.
      const { status, ...others } = patch
      return keep(merged(report, subresource === 'status' ? { status } : others) as Report)
    },
  } as unknown as Kube
  return { kube, seen, report: () => report, refuse: (times: number) => (refusing = times), remove: () => (report = undefined) }
}

const identity = { namespace: 'plant', podName: 'gw-0', podUid: 'new', gatewaySync: () => followed.name }
const followed: { name: string | undefined } = { name: 'one' }
const clock = { ...systemClock, wait: async () => {} }
const commit = 'a'.repeat(40)

function start({ kube }: { kube: Kube }) {
  const stop = new AbortController()
  const reporter = new Reporter({ kube, clock, log: silentLog }, identity)
  const running = reporter.run(stop.signal)
  return {
    report: (status: SyncReportStatus) => reporter.report(status),
    async stop() {
      stop.abort(new Error('stop'))
      await running
    },
  }
}

void t.test('the status of an earlier pod with the same name is never taken for that of this pod', async (t) => {
  const world = cluster({ metadata: {}, spec: { gatewaySync: 'one', podUid: 'old' }, status: { phase: 'Synced', commit, syncHash: 'h' } })
  const agent = start(world)
  agent.report({ phase: 'Pending' })
  while (world.report()?.spec.podUid !== 'new') await turn()
  await agent.stop()
  t.strictSame(world.report()?.status, { phase: 'Pending', columns: {} })
  matchObject(t, world.report()?.metadata, { ownerReferences: [{ kind: 'Pod', name: 'gw-0', uid: 'new' }] })
  t.strictSame(
    world.seen.filter(({ spec, status }) => spec.podUid === 'new' && status?.commit === commit),
    [],
  )
})

void t.test('a missing report is created, and created again after it was deleted', async (t) => {
  const world = cluster()
  const agent = start(world)
  agent.report({ phase: 'Pending' })
  while (world.report()?.status?.phase !== 'Pending') await turn()
  t.strictSame(world.report()?.spec, { gatewaySync: 'one', podUid: 'new' })
  world.remove()
  agent.report({ phase: 'Synced', commit })
  while (world.report()?.status?.phase !== 'Synced') await turn()
  await agent.stop()
})

void t.test('a deleted report is written again once per status in which the controller reports it missing', async (t) => {
  const world = cluster()
  const time = steppedClock()
  const stop = new AbortController()
  const reporter = new Reporter({ kube: world.kube, clock: time.clock, log: silentLog }, identity)
  const running = reporter.run(stop.signal)
  reporter.report({ phase: 'Synced', commit })
  while (world.report()?.status?.phase !== 'Synced') await turn()
  const writes = world.seen.length
  // This status is older than the report; the next one includes it.
  reporter.missed(true)
  reporter.missed(false)
  for (let turns = 0; turns < 20; turns++) await turn()
  t.equal(world.seen.length, writes, 'what is on its way is waited for')

  world.remove()
  reporter.missed(true)
  void time.step(10_000)
  while (world.report()?.status?.phase !== 'Synced') await turn()
  t.strictSame(world.report()?.status, { phase: 'Synced', commit, columns: { commit: 'aaaaaaaa' } })
  t.strictSame(world.report()?.spec, { gatewaySync: 'one', podUid: 'new' })
  stop.abort(new Error('stop'))
  await running
})

void t.test('a report is retried until the API server accepts it, and only the newest is written', async (t) => {
  const world = cluster()
  const agent = start(world)
  world.refuse(3)
  agent.report({ phase: 'Pending' })
  agent.report({ phase: 'Synced', commit })
  while (world.report()?.status?.phase !== 'Synced') await turn()
  t.notOk(world.seen.some(({ status }) => status?.phase === 'Pending'))
  await agent.stop()
})

void t.test('the start of a sync is written only if the sync takes long', async (t) => {
  const world = cluster()
  const time = steppedClock()
  const stop = new AbortController()
  const reporter = new Reporter({ kube: world.kube, clock: time.clock, log: silentLog }, identity)
  const running = reporter.run(stop.signal)
  reporter.report({ phase: 'Syncing' })
  await time.step(100)
  reporter.report({ phase: 'Synced', commit })
  while (world.report()?.status?.phase !== 'Synced') await turn()
  t.notOk(world.seen.some(({ status }) => status?.phase === 'Syncing'))
  reporter.report({ phase: 'Syncing' })
  for (let turns = 0; turns < 20; turns++) await turn()
  matchObject(t, world.report()?.status, { phase: 'Synced' })
  void time.step(1_000)
  while (world.report()?.status?.phase !== 'Syncing') await turn()
  stop.abort(new Error('stop'))
  await running
})

void t.test('the last report is written before the reporter stops', async (t) => {
  const world = cluster()
  const agent = start(world)
  agent.report({ phase: 'Synced', commit })
  await agent.stop()
  matchObject(t, world.report()?.status, { phase: 'Synced' })
})

void t.test('nothing is written without a followed GatewaySync, and the report moves to a newly followed one', async (t) => {
  const world = cluster()
  followed.name = undefined
  const agent = start(world)
  agent.report({ phase: 'Pending' })
  for (let turns = 0; turns < 20; turns++) await turn()
  t.equal(world.report(), undefined)
  followed.name = 'one'
  agent.report({ phase: 'Blocked' })
  while (world.report()?.status?.phase !== 'Blocked') await turn()
  t.strictSame(world.report()?.spec, { gatewaySync: 'one', podUid: 'new' })
  followed.name = 'two'
  agent.report({ phase: 'Synced', commit })
  while (world.report()?.spec['gatewaySync'] !== 'two') await turn()
  matchObject(t, world.report()?.status, { phase: 'Synced' })
  followed.name = 'one'
  await agent.stop()
})

void t.test('an idle gateway writes no report when only times change', async (t) => {
  const world = cluster()
  const agent = start(world)
  const status = (at: string): SyncReportStatus => ({ phase: 'Synced', commit, startedAt: at, finishedAt: at })
  agent.report(status('2026-01-01T00:00:00Z'))
  while (world.report()?.status?.phase !== 'Synced') await turn()
  const before = world.seen.length
  for (let minute = 10; minute < 40; minute++) agent.report(status(`2026-01-01T00:${minute}:00Z`))
  await agent.stop()
  t.equal(world.seen.length, before)
  const again = start(world)
  again.report({ ...status('2026-01-01T01:00:00Z'), phase: 'Drifted' })
  while (world.report()?.status?.phase !== 'Drifted') await turn()
  await again.stop()
})

void t.test('repeated attempts that stay blocked write no report', async (t) => {
  const world = cluster()
  const agent = start(world)
  const blocked = (at: string): SyncReportStatus => ({ phase: 'Blocked', reason: 'TemplateFailed', startedAt: at, finishedAt: at })
  agent.report(blocked('2026-01-01T00:00:00Z'))
  while (world.report()?.status?.phase !== 'Blocked') await turn()
  const before = world.seen.length
  for (let minute = 10; minute < 40; minute++) {
    agent.report({ phase: 'Syncing', startedAt: `2026-01-01T00:${minute}:00Z` })
    agent.report(blocked(`2026-01-01T00:${minute}:01Z`))
    for (let turns = 0; turns < 5; turns++) await turn()
  }
  await agent.stop()
  t.equal(world.seen.length, before)
})
