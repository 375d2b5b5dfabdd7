/**
 * Tests what GatewaySyncs of one ref learn from the answers of the git host to each other.
 */
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import * as v from 'valibot'
import { systemClock } from '../../../../runtime/platform/clock.ts'
import { Fault, type Reason } from '../../../../runtime/platform/fault.ts'
import { dueForResolution } from '../../../../runtime/reconcile/decide/source-resolution.ts'
import { gatewaySyncSpec } from '../../../../runtime/api/schema/spec.ts'
import { parseCommitHash } from '../../../../runtime/api/values.ts'
import { FairLimiter } from '../../../../runtime/platform/async/fair-limiter.ts'
import { Resolutions, type Resolution } from '../../../../runtime/reconcile/source/resolutions.ts'
import { matchObject } from '../../../support/assertions.ts'
import { desired, openResolution, setUp } from '../../../support/source-resolutions.ts'

/** A source resolution as in a reconcile: the answer of the host is shared, and nothing is validated. */
function sharedResolution(why: Resolution['why'], host: () => Promise<string>, changes: Partial<Resolution> = {}): Resolution {
  return {
    specKey: 's',
    host: 'git.example',
    repository: 'plant',
    resolutionKey: 'q',
    desired,
    sharingKey: 'plant.git main',
    why,
    async run(share) {
      const resolved = await share(async () => ({
        commit: parseCommitHash((await host()).repeat(40)),
        committedAt: Promise.resolve(undefined),
        fetchedAt: '2026-01-01T00:00:00Z',
        name: 'refs/heads/main',
        tag: undefined,
      }))
      const { commit, fetchedAt } = resolved
      const committedAt = await resolved.committedAt
      return { kind: 'resolved', commit, committedAt, fetchedAt, verified: undefined, verdict: { kind: 'notChecked' }, durationMs: 1 }
    },
    ...changes,
  }
}

void t.test('a hundred concurrent source resolutions of one ref cause at most two fetches', async (t) => {
  const { resolutions, answered } = setUp(8)
  let asked = 0
  let [running, fetches] = [undefined as Promise<string> | undefined, 0]
  // A mirror shares a running lookup with equal ones.
  const host = async (): Promise<string> => {
    asked += 1
    if (running === undefined) {
      fetches += 1
      running = turn().then(() => 'a')
      void running.finally(() => (running = undefined))
    }
    return await running
  }
  const keys = Array.from({ length: 100 }, (_, index) => `plant/${index}` as const)
  for (const key of keys) {
    resolutions.shared(key, 'plant.git main')
    resolutions.start(key, sharedResolution('first', host))
  }
  while (answered.length < keys.length) await turn()
  t.ok(fetches <= 2, `${fetches} fetches`)
  t.ok(asked <= 12, `${asked} resources asked for themselves`)
  for (const key of keys) t.equal(resolutions.last(key)?.commit, 'a'.repeat(40))
})

void t.test('polls join a running query of the host, and one of them starts over if it is abandoned', async (t) => {
  const { resolutions, answered } = setUp(8)
  const answers: PromiseWithResolvers<string>[] = []
  const host = async (): Promise<string> => {
    const answer = Promise.withResolvers<string>()
    answers.push(answer)
    return await answer.promise
  }
  const keys = ['plant/a', 'plant/b', 'plant/c'] as const
  for (const key of keys) resolutions.shared(key, 'plant.git main')
  for (const key of keys) {
    resolutions.start(key, sharedResolution('poll', host))
    await turn()
  }
  t.equal(answers.length, 1)
  resolutions.forget('plant/a')
  answers[0]?.reject(new Error('nobody waits'))
  while (answers.length < 2) await turn()
  resolutions.start('plant/a', sharedResolution('request', host))
  while (answers.length < 3) await turn()
  answers[1]?.resolve('a')
  while (!answered.includes('plant/b') || !answered.includes('plant/c')) await turn()
  t.notOk(answered.includes('plant/a'), 'a push is not answered by a question from before it')
  answers[2]?.resolve('a')
  while (!answered.includes('plant/a')) await turn()
  t.equal(answers.length, 3)
})

void t.test('a result for one follower is news for all followers of the ref, without another query', async (t) => {
  const { resolutions, answered } = setUp(8)
  let commit = 'a'
  let asked = 0
  const host = async (): Promise<string> => {
    asked += 1
    return commit
  }
  const keys = ['plant/a', 'plant/b', 'plant/c'] as const
  for (const key of keys) {
    resolutions.shared(key, 'plant.git main')
    resolutions.start(key, sharedResolution('first', host))
  }
  while (answered.length < 3) await turn()
  answered.length = 0
  commit = 'b'
  asked = 0
  resolutions.start('plant/a', sharedResolution('request', host))
  while (answered.length < 3) await turn()
  t.strictSame(answered.toSorted(), [...keys], 'who asked has an answer, the others have news')
  matchObject(t, resolutions.shared('plant/b', 'plant.git main'), { hostAnswer: 'b'.repeat(40), fault: undefined })
  for (const key of ['plant/b', 'plant/c'] as const) resolutions.start(key, sharedResolution('shared', host))
  while (resolutions.last('plant/c')?.commit !== 'b'.repeat(40)) await turn()
  t.equal(asked, 1)
  resolutions.forget('plant/b')
  commit = 'c'
  answered.length = 0
  resolutions.start('plant/a', sharedResolution('poll', host))
  while (!answered.includes('plant/a')) await turn()
  t.strictSame(answered.toSorted(), ['plant/a', 'plant/c'], 'who is gone hears of nothing')
})

void t.test('a shared fault counts as one failure, and clears for all when the host answers', async (t) => {
  const { resolutions, answered } = setUp(8)
  let down = true
  const host = async (): Promise<string> => {
    await turn()
    if (down) throw new Fault('GitUnreachable', 'away')
    return 'a'
  }
  const keys = ['plant/a', 'plant/b', 'plant/c'] as const
  for (const key of keys) {
    resolutions.shared(key, 'plant.git main')
    resolutions.start(key, sharedResolution('poll', host))
  }
  while (keys.some((key) => resolutions.last(key) === undefined)) await turn()
  matchObject(t, resolutions.shared('plant/a', 'plant.git main'), { failures: 1, fault: { reason: 'GitUnreachable' } })
  resolutions.start('plant/a', sharedResolution('retry', host))
  while (resolutions.shared('plant/a', 'plant.git main')?.failures !== 2) await turn()
  down = false
  answered.length = 0
  resolutions.start('plant/b', sharedResolution('retry', host))
  while (answered.length < 3) await turn()
  matchObject(t, resolutions.shared('plant/c', 'plant.git main'), { failures: 0, fault: undefined })
})

void t.test('a poll does not wait for the query of another namespace, and learns only faults of the host from it', async (t) => {
  const { resolutions, answered } = setUp(8)
  const asked: PromiseWithResolvers<string>[] = []
  const host = async (): Promise<string> => {
    const answer = Promise.withResolvers<string>()
    asked.push(answer)
    return await answer.promise
  }
  for (const key of ['loud/a', 'loud/b', 'quiet/a'] as const) resolutions.shared(key, 'plant.git main')
  const failWith = async (reason: Reason): Promise<void> => {
    resolutions.start('loud/a', sharedResolution('retry', host))
    while (asked.length === 0) await turn()
    asked.splice(0)[0]?.reject(new Fault(reason, 'of the test'))
    while (resolutions.last('loud/a')?.fault?.reason !== reason) await turn()
  }
  resolutions.start('loud/a', sharedResolution('poll', host))
  resolutions.start('quiet/a', sharedResolution('poll', host))
  while (asked.length < 2) await turn()
  for (const one of asked.splice(0)) one.resolve('a')
  while (answered.length < 2) await turn()

  await failWith('SourceVolumeFull')
  matchObject(t, resolutions.shared('loud/b', 'plant.git main'), { failures: 1, fault: { reason: 'SourceVolumeFull' } })
  matchObject(t, resolutions.shared('quiet/a', 'plant.git main'), { failures: 0, fault: undefined })
  await failWith('GitUnreachable')
  matchObject(t, resolutions.shared('loud/b', 'plant.git main'), { failures: 1, fault: { reason: 'GitUnreachable' } })
  matchObject(t, resolutions.shared('quiet/a', 'plant.git main'), { failures: 1, fault: { reason: 'GitUnreachable' } })
})

void t.test('a push is not answered by an earlier result, and goes before waiting polls', async (t) => {
  const { resolutions, answered, stop } = setUp(1)
  let commit = 'a'
  const host = async (): Promise<string> => commit
  resolutions.shared('plant/a', 'plant.git main')
  resolutions.start('plant/a', sharedResolution('poll', host))
  while (answered.length === 0) await turn()
  commit = 'b'
  const held = openResolution('holds the only place')
  resolutions.start('plant/held', held)
  const polls = [openResolution('p1'), openResolution('p2')]
  for (const [index, poll] of polls.entries()) resolutions.start(`plant/p${index}`, poll)
  answered.length = 0
  resolutions.start('plant/a', sharedResolution('request', host))
  held.answer()
  while (!answered.includes('plant/a')) await turn()
  t.equal(resolutions.last('plant/a')?.commit, 'b'.repeat(40))
  stop.abort()
  await resolutions.settled()
})

void t.test('a host is polled at the shortest interval of its followers, and less often while it fails', async (t) => {
  let nowMs = 0
  const stop = new AbortController()
  const clock = { ...systemClock, monotonicMs: () => nowMs }
  const resolutions = new Resolutions({ clock, hosts: new FairLimiter({ total: 8, clock }), ready: () => undefined, signal: stop.signal })
  let [asked, isAway] = [0, false]
  let running: Promise<string> | undefined
  // A mirror shares a running lookup with equal ones.
  const host = async (): Promise<string> => {
    running ??= turn().then(() => {
      asked += 1
      running = undefined
      if (isAway) throw new Fault('GitTimeout', 'slow')
      return 'a'
    })
    return await running
  }
  const specFor = (interval: string) =>
    v.parse(gatewaySyncSpec({ allowLocal: false }), {
      git: { repo: 'https://git.example/plant.git', ref: 'main' },
      polling: { interval },
      sync: { profiles: { default: { mappings: [{ source: 'a', destination: 'a' }] } } },
    })
  const [patient, impatient] = [specFor('5m'), specFor('20s')]
  const followers = Array.from({ length: 30 }, (_, index) => ({ key: `plant/${index}` as const, spec: index === 17 ? impatient : patient }))
  /** Lets each follower check every second whether a source resolution is due. */
  const pass = async (seconds: number): Promise<number> => {
    const before = asked
    for (let second = 0; second < seconds; second += 1) {
      nowMs += 1_000
      for (const { key, spec } of followers) {
        const [last, shared] = [resolutions.last(key), resolutions.shared(key, 'plant.git main')]
        const due = dueForResolution({ spec, desired, resolutionKey: 'q', last, shared, nowMs, jitter: clock.random() })
        if (due.kind === 'now') resolutions.start(key, sharedResolution(due.why, host))
      }
      await resolutions.settled()
    }
    return asked - before
  }
  await pass(10)
  // Every 20 s, give or take a tenth, and checked once a second.
  const polls = await pass(3_600)
  t.ok(polls >= 3_600 / 23 && polls <= 3_600 / 18, `${polls} polls in an hour`)
  isAway = true
  await pass(60)
  const retries = await pass(3_600)
  t.ok(retries >= 11 && retries <= 18, `${retries} tries in an hour: after 30 s, doubling up to 5 min`)
  isAway = false
  await pass(400)
  const again = await pass(600)
  t.ok(again >= 600 / 23 && again <= 600 / 18, `${again} polls in ten minutes once it answers`)
})
