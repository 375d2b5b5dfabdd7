/**
 * When an agent reports and uploads the local changes of its gateway: independently of syncs, and with backoff after failures.
 */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { type Clock, systemClock } from '../../../../runtime/platform/clock.ts'
import { Fault } from '../../../../runtime/platform/fault.ts'
import { captureAnnotations, changesAnnotations } from '../../../../runtime/api/names.ts'
import { matchObject } from '../../../support/assertions.ts'
import { follow } from '../../../support/follower.ts'
import { until } from '../../../support/world.ts'

/** A clock with shortened waits that records the requested ones. */
function shortWaits() {
  const waits: number[] = []
  const wait: Clock['wait'] = async (ms, own) => {
    waits.push(ms)
    await systemClock.wait(Math.min(ms, 5), own)
  }
  return { waits, clock: { ...systemClock, wait } }
}

void t.test('a failed upload of changes is retried with backoff, and never before a failed sync is retried', async (t) => {
  const asking = { [captureAnnotations.at]: 'now' }
  const grown = async (waits: number[], fromMs: number, what: string): Promise<true> =>
    await until(() => (waits.some((ms) => ms > fromMs && ms < 200_000) ? true : undefined), what)
  await t.test('the wait grows after each rejected upload', async (t) => {
    const { waits, clock } = shortWaits()
    const capture = async (): Promise<'done'> => {
      throw new Fault('PayloadMalformed', 'the changes are not permitted')
    }
    const { follower, followed } = follow(t, {
      clock,
      capture,
      profile: { mappings: [{ source: 'projects', destination: 'projects' }], syncPeriod: '300s' },
    })
    const sync = followed({ 'projects/a': '1' }, false)
    follower.observe({ ...sync, annotations: asking, spec: { ...(sync.spec as object), capture: {} } })
    await grown(waits, 30_000, 'the waits grow although each sync is well')
  })
  await t.test('a pending upload does not shorten the backoff of a failing sync', async (t) => {
    const { waits, clock } = shortWaits()
    const { follower, followed } = follow(t, { clock, capture: async () => 'again' })
    const sync = followed({ 'projects/a': '1' }, false)
    const published = { commit: 'f'.repeat(40), ref: 'main', at: '2026-03-01T12:00:00Z' }
    const status = { ...sync.status, published }
    follower.observe({ ...sync, status, annotations: asking, spec: { ...(sync.spec as object), capture: {} } })
    // The gateway has no commit yet, so sync retries back off to ten seconds; the upload alone would wait five.
    await grown(waits, 6_000, 'the waits of the failed sync grow')
  })
})

void t.test('a request for changes is answered in the report at once, and the answer is removed with the request', async (t) => {
  const { follower, followed, reported, reports } = follow(t, {
    profile: { mappings: [{ source: 'projects', destination: 'projects' }], syncPeriod: '300s' },
    listChanges: async (_source, { commit }, { request }) => told(request, commit),
  })
  const sync = followed({ 'projects/a': '1' }, false)
  follower.observe(sync)
  await reported('Synced')
  follower.observe({ ...sync, annotations: { [changesAnnotations.at]: 'before', [changesAnnotations.gateway]: 'another' } })
  follower.observe({ ...sync, annotations: { [changesAnnotations.at]: 'now' } })
  matchObject(t, await until(() => reports.at(-1)?.changes, 'it is in the report'), { request: 'now', changed: 1 })
  t.equal(reports.at(-1)?.phase, 'Synced')
  follower.observe(sync)
  await until(() => (reports.at(-1)?.changes === undefined ? true : undefined), 'it is no longer there')
})

void t.test('a request that is not withdrawn is answered for ten minutes, then the changes leave the report', async (t) => {
  let aheadMs = 0
  const { waits, clock } = shortWaits()
  const { follower, followed, reports } = follow(t, {
    profile: { mappings: [{ source: 'projects', destination: 'projects' }], syncPeriod: '1h' },
    clock: { ...clock, monotonicMs: () => systemClock.monotonicMs() + aheadMs },
    listChanges: async (_source, { commit }, { request }) => told(request, commit),
  })
  const asked = { ...followed({ 'projects/a': '1' }, false), annotations: { [changesAnnotations.at]: 'now' } }
  follower.observe(asked)
  await until(() => reports.at(-1)?.changes, 'it is in the report')
  await until(() => (waits.some((ms) => ms > 590_000 && ms <= 600_000) ? true : undefined), 'it waits no longer than that')
  aheadMs = 600_000
  await until(() => (reports.at(-1)?.changes === undefined ? true : undefined), 'it is no longer there')
  follower.observe({ ...asked, annotations: { [changesAnnotations.at]: 'later' } })
  matchObject(t, await until(() => reports.at(-1)?.changes, 'who asks then is answered'), { request: 'later' })
})

void t.test('a listing of changes that fails at first is retried, and does not block the sync', async (t) => {
  let tries = 0
  const { follower, followed, reports } = follow(t, {
    profile: { mappings: [{ source: 'projects', destination: 'projects' }], syncPeriod: '300s' },
    clock: shortWaits().clock,
    listChanges: async (_source, { commit }, { request }) => {
      if ((tries += 1) === 1) throw new Fault('DeliveryUnreachable', 'not yet')
      return tries === 2 ? undefined : told(request, commit)
    },
  })
  follower.observe({ ...followed({ 'projects/a': '1' }, false), annotations: { [changesAnnotations.at]: 'now' } })
  matchObject(t, await until(() => reports.at(-1)?.changes, 'it is in the report'), { request: 'now' })
  t.ok(reports.some(({ phase, changes }) => phase === 'Synced' && changes === undefined))
})

void t.test('a slow listing of changes is aborted and retried, and delays neither the sync nor the capture', async (t) => {
  let tries = 0
  const captured: string[] = []
  const { follower, followed, reports } = follow(t, {
    profile: { mappings: [{ source: 'projects', destination: 'projects' }], syncPeriod: '300s' },
    clock: shortWaits().clock,
    listTimeoutMs: 20,
    listChanges: async (_source, { commit }, { request }, signal) => {
      if ((tries += 1) > 1) return told(request, commit)
      return await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }))
    },
    capture: async (_source, _target, { request }) => {
      captured.push(`${request} after ${tries}`)
      return 'done'
    },
  })
  const sync = followed({ 'projects/a': '1' }, false)
  const annotations = { [changesAnnotations.at]: 'now', [captureAnnotations.at]: 'push' }
  follower.observe({ ...sync, annotations, spec: { ...(sync.spec as object), capture: {} } })
  matchObject(t, await until(() => reports.at(-1)?.changes, 'it is in the report'), { request: 'now' })
  t.ok(reports.some(({ phase, changes }) => phase === 'Synced' && changes === undefined))
  t.equal(captured[0], 'push after 1')
})

void t.test('an agent that cannot list changes does not keep trying', async (t) => {
  const { waits, clock } = shortWaits()
  const { follower, followed, reported } = follow(t, {
    profile: { mappings: [{ source: 'projects', destination: 'projects' }], syncPeriod: '300s' },
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

void t.test('with trigger: Drift, drift is watched independently of syncs, after requested captures', async (t) => {
  const seen: (readonly string[] | undefined)[] = []
  const asked: string[] = []
  const { dataDir, follower, followed, reported, reports } = follow(t, {
    profile: { mappings: [{ source: 'projects', destination: 'projects' }], syncPeriod: '300s' },
    capture: async (_source, _target, { request }) => {
      asked.push(request)
      return 'done'
    },
    captureQuiet: async (_source, _target, { quietMs, drift }) => {
      t.equal(quietMs, 90_000)
      seen.push(drift?.paths)
      return 50
    },
  })
  const sync = followed({ 'projects/a': '1' }, false)
  const capturing = (capture: object) => ({ ...sync, spec: { ...(sync.spec as object), capture } })
  follower.observe(capturing({ trigger: 'Request' }))
  await reported('Synced')
  t.strictSame(seen, [], 'only where the spec says so')
  writeFileSync(path.join(dataDir, 'projects/a'), 'repaired')
  follower.observe({ ...capturing({ trigger: 'Drift', quietPeriod: '90s' }), annotations: { [captureAnnotations.at]: 'now' } })
  await until(() => (seen.at(-1)?.[0] === 'projects/a' ? true : undefined), 'the drift is told though no sync is due')
  t.equal(seen[0], undefined, 'before a sync has seen it there is none')
  t.equal(asked[0], 'now')
  writeFileSync(path.join(dataDir, 'projects/a'), '1')
  await until(() => (seen.length > 1 && seen.at(-1) === undefined ? true : undefined), 'it is gone')
  t.ok(reports.length > 0)
})
