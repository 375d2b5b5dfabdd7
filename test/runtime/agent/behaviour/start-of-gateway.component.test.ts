/**
 * When a gateway may start, as the kubelet is told at /startz.
 */
import t from 'tap'
import { clockAhead, follow, startProbe } from '../../../support/follower.ts'
import type { Tree } from '../../../support/memory-source.ts'
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

void t.test('in a new sandbox of an old pod a gateway waits until an interrupted publish was ended, or could not be', async (t) => {
  for (const end of ['resolve', 'reject'] as const) {
    const ending = Promise.withResolvers<void>()
    const { follower } = follow(t, { waitedMs: 7_200_000, recover: async () => ending.promise })
    const startz = await startProbe(t, follower)
    t.equal(await startz(), 503)
    ending[end](new Error('the disk is away') as never)
    await until(async () => ((await startz()) === 200 ? true : undefined), 'the gateway may start')
  }
})
