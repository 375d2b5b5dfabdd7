/**
 * When a gateway may start, as the kubelet is told at /startz.
 */
import { renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { endInterrupted } from '../../../../runtime/agent/end-interrupted.ts'
import type { FollowDeps } from '../../../../runtime/agent/follow.ts'
import { systemClock } from '../../../../runtime/clock.ts'
import { silentLog } from '../../../../runtime/log.ts'
import { clockAhead, follow, startProbe } from '../../../support/follower.ts'
import type { Tree } from '../../../support/memory-source.ts'
import { temporaryFolder } from '../../../support/repository.ts'
import { until } from '../../../support/world.ts'

void t.test('a gateway on an empty volume starts with its first commit, also when nothing was published at first', async (t) => {
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

void t.test('a gateway that no commit has come for is let start at the deadline, with a finding until one has', async (t) => {
  const profile = { mappings: [{ source: 'projects', destination: 'projects' }], startDeadline: '1s' }
  const { follower, followed, reports, reported } = follow(t, { profile })
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
  const { follower, followed, reported, reports } = follow(t, { clock })
  const startz = await startProbe(t, follower)
  follower.observe({ ...followed({ 'projects/a': '1' }, false), status: {} })
  await reported('Pending')
  ahead.ms = 600_000
  t.equal(await startz(), 200)
  await until(() => reports.find(({ findings }) => findings !== undefined), 'the deadline is reported')
})

void t.test('the deadline goes on over restarts of the agent', async (t) => {
  const { follower, followed, reported } = follow(t, { waitedMs: 600_000 })
  const startz = await startProbe(t, follower)
  follower.observe({ ...followed({ 'projects/a': '1' }, false), status: {} })
  t.match(await reported('Pending'), { findings: [{ rule: 'started-without-commit' }] })
  t.equal(await startz(), 200)
})

void t.test('a gateway with a whole commit starts soon, whatever keeps the published one from it', async (t) => {
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
      async ({ follower, followed, reported, gate }) => {
        gate.hangs = true
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

/** An agent over a volume with a whole commit, in a pod that is `waitedMs` old, and with a publish that is interrupted until `recover` has ended. */
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

void t.test('in a new sandbox of an older pod a gateway waits until an interrupted publish was ended', async (t) => {
  // Beyond startGrace, and with a whole commit not beyond anything else.
  for (const waitedMs of [60_000, 7_200_000]) {
    const ending = Promise.withResolvers<void>()
    const startz = await overInterrupted(t, { waitedMs, recover: async () => ending.promise })
    t.equal(await startz(), 503)
    ending.resolve()
    await until(async () => ((await startz()) === 200 ? true : undefined), 'the gateway may start')
  }
})

void t.test('an interrupted publish that cannot be ended is tried again, and holds the gateway for half a minute', async (t) => {
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

void t.test(
  'while nobody can tell whether a publish is interrupted the gateway waits, and both probe and report say why at once',
  async (t) => {
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
    const why = 'the agent first ends a publish that was interrupted, and tries again: ".cluster-sync" is a symbolic link'
    await until(() => follower.health().why?.startsWith(why) || undefined, 'the probe says why')
    t.same(reports, [], 'nobody knows to whom')
    follower.observe(followed({ 'projects/a': '2' }, false))
    t.match(await reported('Blocked'), { reason: 'SymbolicLink', message: /"\.cluster-sync" is a symbolic link/ })
    t.equal(await startz(), 503, 'it is tried again')

    rmSync(own)
    renameSync(aside, own)
    await until(async () => ((await startz()) === 200 ? true : undefined), 'the gateway may start')
    t.match(await reported('Synced'), { reason: undefined, findings: undefined })
    t.equal(ahead.ms, 0)
  },
)

void t.test('a data directory that can never be read holds an old gateway no longer than one without a commit', async (t) => {
  const dataDir = temporaryFolder(t, 'unread')
  symlinkSync(temporaryFolder(t, 'elsewhere'), path.join(dataDir, '.cluster-sync'))
  const { ahead, clock } = clockAhead()
  const { follower, followed, reported } = follow(t, { dataDir, clock })
  const startz = await startProbe(t, follower)
  follower.observe(followed({ 'projects/a': '1' }, false))
  await reported('Blocked')
  ahead.ms = 30_000
  await until(() => follower.health().why === 'the data volume holds no whole commit yet' || undefined, 'it is no longer tried first')
  t.equal(await startz(), 503, 'nobody has seen a whole commit')
  t.match(await reported('Blocked'), { reason: 'SymbolicLink' })
  ahead.ms = 600_000
  await until(async () => ((await startz()) === 200 ? true : undefined), 'the gateway may start')
  await until(async () => (await reported('Blocked')).findings?.[0]?.rule === 'started-without-commit' || undefined, 'that is reported')
})

void t.test('a gateway starts though each agent dies of an interrupted publish', async (t) => {
  const dies = async (signal: AbortSignal): Promise<void> => await systemClock.wait(3_600_000, signal)
  t.equal(await (await overInterrupted(t, { waitedMs: 7_200_000, recoveringMs: 599_000, recover: dies }))(), 503)
  let isAsked = false
  const startz = await overInterrupted(t, { waitedMs: 7_200_000, recoveringMs: 600_000, recover: async () => void (isAsked = true) })
  t.equal(await startz(), 200)
  t.notOk(isAsked, 'the kubelet may ask before the next one dies')
})
