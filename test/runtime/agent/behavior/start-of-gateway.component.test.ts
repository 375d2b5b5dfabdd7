/**
 * When a gateway may start, as the agent answers the kubelet at /startz.
 */
import { renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { endInterrupted } from '../../../../runtime/agent/recover.ts'
import type { FollowDeps } from '../../../../runtime/agent/follow.ts'
import { systemClock } from '../../../../runtime/platform/clock.ts'
import { silentLog } from '../../../../runtime/platform/log/log.ts'
import { matchObject } from '../../../support/assertions.ts'
import { clockAhead, follow, startProbe } from '../../../support/follower.ts'
import type { Tree } from '../../../support/memory-source.ts'
import { temporaryFolder } from '../../../support/repository.ts'
import { until } from '../../../support/world.ts'

void t.test('a gateway on an empty volume starts with its first commit, even if none was published at first', async (t) => {
  const { ahead, clock } = clockAhead()
  const { follower, followed, reported } = follow(t, { clock })
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

void t.test('a gateway without a commit starts at startDeadline, with a finding until a commit is applied', async (t) => {
  const profile = { mappings: [{ source: 'projects', destination: 'projects' }], startDeadline: '1s' }
  const { follower, followed, reports, reported } = follow(t, { profile })
  const startz = await startProbe(t, follower)
  const complete = followed({ 'projects/a': '1' }, false)
  follower.observe({ ...complete, status: {} })
  const late = await until(() => reports.find(({ findings }) => findings !== undefined), 'the deadline is reported')
  matchObject(t, late, { phase: 'Pending', findings: [{ rule: 'started-without-commit' }] })
  t.equal(await startz(), 200)
  follower.observe(complete)
  t.equal((await reported('Synced')).findings, undefined)
})

void t.test('a deadline that a probe notices first is still reported', async (t) => {
  const { ahead, clock } = clockAhead()
  const { follower, followed, reported, reports } = follow(t, { clock })
  const startz = await startProbe(t, follower)
  follower.observe({ ...followed({ 'projects/a': '1' }, false), status: {} })
  await reported('Pending')
  ahead.ms = 600_000
  t.equal(await startz(), 200)
  await until(() => reports.find(({ findings }) => findings !== undefined), 'the deadline is reported')
})

void t.test('startDeadline counts across restarts of the agent', async (t) => {
  const { follower, followed, reported } = follow(t, { waitedMs: 600_000 })
  const startz = await startProbe(t, follower)
  follower.observe({ ...followed({ 'projects/a': '1' }, false), status: {} })
  matchObject(t, await reported('Pending'), { findings: [{ rule: 'started-without-commit' }] })
  t.equal(await startz(), 200)
})

void t.test('a gateway with a complete commit starts after startGrace when the published commit cannot be applied', async (t) => {
  const [first, second]: Tree[] = [{ 'projects/a': '1' }, { elsewhere: '2' }]
  const rows: [string, (world: ReturnType<typeof follow>) => Promise<void>][] = [
    [
      'the published commit is refused',
      async ({ follower, followed, reported }) => {
        follower.observe(followed(second ?? {}, false))
        await reported('Blocked')
      },
    ],
    [
      'delivery does not end',
      async ({ follower, followed, reported, fetching }) => {
        fetching.hangs = true
        follower.observe(followed({ 'projects/a': '3' }, false))
        await reported('Syncing')
      },
    ],
    ['the API server is away', async () => {}],
  ]
  for (const [name, happens] of rows) {
    const before = follow(t)
    before.follower.observe(before.followed(first ?? {}, false))
    await before.reported('Synced')
    await before.end()
    const { ahead, clock } = clockAhead()
    const again = follow(t, { dataDir: before.dataDir, clock })
    const startz = await startProbe(t, again.follower)
    await happens(again)
    t.equal(await startz(), 503, `${name}: it is tried for a moment`)
    ahead.ms = 30_000
    t.equal(await startz(), 200, name)
    t.equal(again.reports.at(-1)?.findings, undefined, `${name}: nothing is amiss`)
    await again.end()
  }
})

/**
 * Starts an agent over a volume with a complete commit, in a pod that is `waitedMs` old. An apply on the volume is interrupted until
 * `recover` has ended.
 */
async function overInterrupted(
  t: Pick<Test, 'teardown'>,
  options: { recover(signal: AbortSignal): Promise<void> } & Omit<NonNullable<Parameters<typeof follow>[1]>, 'recover'>,
) {
  const before = follow(t)
  before.follower.observe(before.followed({ 'projects/a': '1' }, false))
  await before.reported('Synced')
  await before.end()
  const journal = path.join(before.dataDir, '.cluster-sync/journal')
  writeFileSync(journal, '')
  const { dataDir } = before
  const { clock = systemClock, recoveringMs = 0 } = options
  const recover: FollowDeps['recover'] = async (failed, signal) => {
    const ending = async (): Promise<void> => {
      await options.recover(signal)
      rmSync(journal)
    }
    await endInterrupted({ recover: ending, failed, clock, log: silentLog }, { dataDir, recoveringMs }, signal)
  }
  const again = follow(t, { ...options, dataDir, recover })
  return await startProbe(t, again.follower)
}

void t.test('in a new sandbox of an old pod a gateway waits until an interrupted apply is recovered', async (t) => {
  // Both ages exceed startGrace, and the volume holds a complete commit: only the recovery can hold the gateway.
  for (const waitedMs of [60_000, 7_200_000]) {
    const ending = Promise.withResolvers<void>()
    const startz = await overInterrupted(t, { waitedMs, recover: async () => ending.promise })
    t.equal(await startz(), 503)
    ending.resolve()
    await until(async () => ((await startz()) === 200 ? true : undefined), 'the gateway may start')
  }
})

void t.test('a failing recovery of an interrupted apply is retried and holds the gateway for at most 30 seconds', async (t) => {
  let tries = 0
  const fails = async (times: number): Promise<void> => {
    tries += 1
    if (tries <= times) throw new Error('the disk is full')
  }
  const soon = await overInterrupted(t, { waitedMs: 7_200_000, recover: async () => fails(1) })
  t.equal(await soon(), 503, 'after the first try')
  await until(async () => ((await soon()) === 200 ? true : undefined), 'the gateway may start')
  t.equal(tries, 2)

  const { ahead, clock } = clockAhead()
  const never = await overInterrupted(t, { waitedMs: 7_200_000, clock, recover: async () => fails(Number.POSITIVE_INFINITY) })
  await until(() => (tries > 3 ? true : undefined), 'it was tried again')
  t.equal(await never(), 503)
  ahead.ms = 30_000
  await until(async () => ((await never()) === 200 ? true : undefined), 'the gateway may start')
})

void t.test('while an interrupted apply cannot be ruled out the gateway waits, and probe and report give the reason', async (t) => {
  const before = follow(t)
  before.follower.observe(before.followed({ 'projects/a': '1' }, false))
  await before.reported('Synced')
  await before.end()
  const { dataDir } = before
  const own = path.join(dataDir, '.cluster-sync')
  const aside = path.join(temporaryFolder(t, 'aside'), 'own')
  renameSync(own, aside)
  symlinkSync(aside, own)

  const { ahead, clock } = clockAhead()
  const { follower, followed, reported, reports } = follow(t, { dataDir, waitedMs: 7_200_000, clock })
  const startz = await startProbe(t, follower)
  const why = 'the agent is recovering an interrupted apply, and retries: ".cluster-sync" is a symbolic link'
  await until(() => follower.health().why?.startsWith(why) || undefined, 'the probe says why')
  t.strictSame(reports, [], 'nobody knows to whom')
  follower.observe(followed({ 'projects/a': '2' }, false))
  matchObject(t, await reported('Blocked'), { reason: 'SymbolicLink', message: /"\.cluster-sync" is a symbolic link/ })
  t.equal(await startz(), 503, 'it is tried again')

  rmSync(own)
  renameSync(aside, own)
  await until(async () => ((await startz()) === 200 ? true : undefined), 'the gateway may start')
  matchObject(t, await reported('Synced'), { reason: undefined, findings: undefined })
  t.equal(ahead.ms, 0)
})

void t.test('an unreadable data directory holds an old gateway no longer than one without a commit', async (t) => {
  const dataDir = temporaryFolder(t, 'unread')
  symlinkSync(temporaryFolder(t, 'elsewhere'), path.join(dataDir, '.cluster-sync'))
  const { ahead, clock } = clockAhead()
  const { follower, followed, reported } = follow(t, { dataDir, clock })
  const startz = await startProbe(t, follower)
  follower.observe(followed({ 'projects/a': '1' }, false))
  await reported('Blocked')
  ahead.ms = 30_000
  await until(() => follower.health().why === 'the data volume has no complete commit yet' || undefined, 'it is no longer tried first')
  t.equal(await startz(), 503, 'no agent has found a complete commit')
  matchObject(t, await reported('Blocked'), { reason: 'SymbolicLink' })
  ahead.ms = 600_000
  await until(async () => ((await startz()) === 200 ? true : undefined), 'the gateway may start')
  await until(async () => (await reported('Blocked')).findings?.[0]?.rule === 'started-without-commit' || undefined, 'that is reported')
})

void t.test('a gateway starts ten minutes after recovery began even if each agent dies during the recovery', async (t) => {
  const dies = async (signal: AbortSignal): Promise<void> => await systemClock.wait(3_600_000, signal)
  t.equal(await (await overInterrupted(t, { waitedMs: 7_200_000, recoveringMs: 599_000, recover: dies }))(), 503)
  let isAsked = false
  const startz = await overInterrupted(t, { waitedMs: 7_200_000, recoveringMs: 600_000, recover: async () => void (isAsked = true) })
  t.equal(await startz(), 200)
  t.notOk(isAsked, 'the kubelet may ask before the next one dies')
})
