/**
 * When an agent tells and offers what was changed on its gateway: in its own time, and after failures with growing waits.
 */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { type Clock, systemClock } from '../../../../runtime/clock.ts'
import { Fault } from '../../../../runtime/fault.ts'
import { captureAnnotations, changesAnnotations } from '../../../../runtime/gatewaysync/names.ts'
import { follow } from '../../../support/follower.ts'
import { until } from '../../../support/world.ts'

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
    const grown = async (waits: number[], fromMs: number, what: string): Promise<true> =>
      await until(() => (waits.some((ms) => ms > fromMs && ms < 200_000) ? true : undefined), what)
    await t.test('the waits after a refused offer grow', async (t) => {
      const { waits, clock } = shortWaits()
      const capture = async (): Promise<'done'> => {
        throw new Fault('PayloadMalformed', 'the changes are not permitted')
      }
      const { follower, followed } = follow(t, {
        clock,
        capture,
        profile: { mappings: [{ source: 'projects', destination: 'projects' }], syncPeriod: 300 },
      })
      const sync = followed({ 'projects/a': '1' }, false)
      follower.observe({ ...sync, annotations: asking, spec: { ...(sync.spec as object), capture: {} } })
      await grown(waits, 30_000, 'the waits grow although each sync is well')
    })
    await t.test('an offer that has to wait leaves the waits of a failing sync as they grow', async (t) => {
      const { waits, clock } = shortWaits()
      const { follower, followed } = follow(t, { clock, capture: async () => 'again' })
      const sync = followed({ 'projects/a': '1' }, false)
      const published = { commit: 'f'.repeat(40), ref: 'main', at: '2026-03-01T12:00:00Z' }
      const status = { ...sync.status, published }
      follower.observe({ ...sync, status, annotations: asking, spec: { ...(sync.spec as object), capture: {} } })
      // Its gateway has nothing yet, so that they end at ten seconds; the offer alone would wait for five.
      await grown(waits, 6_000, 'the waits of the failed sync grow')
    })
  },
)

void t.test('whoever asks what was changed reads it in the report at once, and nobody does once the request is gone', async (t) => {
  const { follower, followed, reported, reports } = follow(t, {
    profile: { mappings: [{ source: 'projects', destination: 'projects' }], syncPeriod: 300 },
    tell: async (_source, { commit }, { request }) => told(request, commit),
  })
  const sync = followed({ 'projects/a': '1' }, false)
  follower.observe(sync)
  await reported('Synced')
  follower.observe({ ...sync, annotations: { [changesAnnotations.at]: 'before', [changesAnnotations.gateway]: 'another' } })
  follower.observe({ ...sync, annotations: { [changesAnnotations.at]: 'now' } })
  t.match(await until(() => reports.at(-1)?.changes, 'it is in the report'), { request: 'now', changed: 1 })
  t.equal(reports.at(-1)?.phase, 'Synced')
  follower.observe(sync)
  await until(() => (reports.at(-1)?.changes === undefined ? true : undefined), 'it is no longer there')
})

void t.test('a request that nobody takes back is answered for ten minutes, and then the report is as before', async (t) => {
  let aheadMs = 0
  const { waits, clock } = shortWaits()
  const { follower, followed, reports } = follow(t, {
    profile: { mappings: [{ source: 'projects', destination: 'projects' }], syncPeriod: 3_600 },
    clock: { ...clock, monotonicMs: () => systemClock.monotonicMs() + aheadMs },
    tell: async (_source, { commit }, { request }) => told(request, commit),
  })
  const asked = { ...followed({ 'projects/a': '1' }, false), annotations: { [changesAnnotations.at]: 'now' } }
  follower.observe(asked)
  await until(() => reports.at(-1)?.changes, 'it is in the report')
  await until(() => (waits.some((ms) => ms > 590_000 && ms <= 600_000) ? true : undefined), 'it waits no longer than that')
  aheadMs = 600_000
  await until(() => (reports.at(-1)?.changes === undefined ? true : undefined), 'it is no longer there')
  follower.observe({ ...asked, annotations: { [changesAnnotations.at]: 'later' } })
  t.match(await until(() => reports.at(-1)?.changes, 'who asks then is answered'), { request: 'later' })
})

void t.test('what cannot be told at first is told as soon as it can be, and keeps no sync from being made', async (t) => {
  let tries = 0
  const { follower, followed, reports } = follow(t, {
    profile: { mappings: [{ source: 'projects', destination: 'projects' }], syncPeriod: 300 },
    clock: shortWaits().clock,
    tell: async (_source, { commit }, { request }) => {
      if ((tries += 1) === 1) throw new Fault('DeliveryUnreachable', 'not yet')
      return tries === 2 ? undefined : told(request, commit)
    },
  })
  follower.observe({ ...followed({ 'projects/a': '1' }, false), annotations: { [changesAnnotations.at]: 'now' } })
  t.match(await until(() => reports.at(-1)?.changes, 'it is in the report'), { request: 'now' })
  t.ok(reports.some(({ phase, changes }) => phase === 'Synced' && changes === undefined))
})

void t.test('what takes too long to tell is told later, and holds up neither the sync nor what is handed on', async (t) => {
  let tries = 0
  const captured: string[] = []
  const { follower, followed, reports } = follow(t, {
    profile: { mappings: [{ source: 'projects', destination: 'projects' }], syncPeriod: 300 },
    clock: shortWaits().clock,
    tellWithinMs: 20,
    tell: async (_source, { commit }, { request }, signal) => {
      if ((tries += 1) > 1) return told(request, commit)
      return await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }))
    },
    capture: async (_source, _wanted, { request }) => {
      captured.push(`${request} after ${tries}`)
      return 'done'
    },
  })
  const sync = followed({ 'projects/a': '1' }, false)
  const annotations = { [changesAnnotations.at]: 'now', [captureAnnotations.at]: 'push' }
  follower.observe({ ...sync, annotations, spec: { ...(sync.spec as object), capture: {} } })
  t.match(await until(() => reports.at(-1)?.changes, 'it is in the report'), { request: 'now' })
  t.ok(reports.some(({ phase, changes }) => phase === 'Synced' && changes === undefined))
  t.equal(captured[0], 'push after 1')
})

void t.test('who can tell nothing does not try for ever', async (t) => {
  const { waits, clock } = shortWaits()
  const { follower, followed, reported } = follow(t, {
    profile: { mappings: [{ source: 'projects', destination: 'projects' }], syncPeriod: 300 },
    clock,
  })
  follower.observe({ ...followed({ 'projects/a': '1' }, false), annotations: { [changesAnnotations.at]: 'now' } })
  await reported('Synced')
  await until(() => (waits.length > 3 ? true : undefined), 'it waits')
  t.ok(
    waits.every((ms) => ms > 200_000),
    `for the next sync: ${waits.join(', ')}`,
  )
})

function told(request: string, commit: string) {
  return { request, commit, changed: 1, added: 0, removed: 0, ignored: 0, text: 'projects' }
}

void t.test('with on: Drift what syncs find changed is watched in its own time, after what somebody asks for', async (t) => {
  const seen: (readonly string[] | undefined)[] = []
  const asked: string[] = []
  const { dataDir, follower, followed, reported, reports } = follow(t, {
    profile: { mappings: [{ source: 'projects', destination: 'projects' }], syncPeriod: 300 },
    capture: async (_source, _wanted, { request }) => {
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
