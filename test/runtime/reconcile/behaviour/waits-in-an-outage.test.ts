/**
 * How often a git host that is away is asked: seldom for those who poll, and soon again for whoever waits for an answer, however long the
 * outage has lasted and however many share the repository.
 */
import t, { type Test } from 'tap'
import { systemClock } from '../../../../runtime/clock.ts'
import { Fault } from '../../../../runtime/fault.ts'
import { dueForLookup } from '../../../../runtime/gatewaysync/decide/lookup.ts'
import type { WantedRef } from '../../../../runtime/gatewaysync/decide/request.ts'
import { parseCommitHash, parseRefName } from '../../../../runtime/gatewaysync/values.ts'
import { createLookups } from '../../../../runtime/reconcile/lookups.ts'
import type { SyncKey } from '../../../../runtime/reconcile/records.ts'
import { specWith } from '../../../support/gatewaysync.ts'

const sharingKey = 'plant.git main'
const spec = specWith({ polling: { interval: '1m' } })
const ref = parseRefName('main')
const poll: WantedRef = { ref, request: undefined, undecided: false }
const push = (id: string): WantedRef => ({ ref, request: { id, ref, specRef: 'main', by: undefined, at: undefined }, undecided: true })
const commit = parseCommitHash('a'.repeat(40))

/** What one follows; its jitter is from 0 to 1. */
type Want = { wanted: WantedRef; jitter: number }

/** GatewaySyncs of one repository, which look once a second. */
function fleet() {
  let [nowMs, isAway] = [0, false]
  const clock = { ...systemClock, monotonicMs: () => nowMs }
  const lookups = createLookups({ clock, concurrency: 200, ready: () => undefined, signal: new AbortController().signal })
  const wants = new Map<SyncKey, Want>()
  const askedMs: number[] = []
  const resolve = async () => {
    if (askedMs.at(-1) !== nowMs) askedMs.push(nowMs)
    if (isAway) throw new Fault('GitTimeout', 'slow')
    return { commit, committedAt: Promise.resolve(undefined), fetchedAt: '2026-01-01T00:00:00Z', name: 'refs/heads/main', tag: undefined }
  }
  const look = (key: SyncKey, { wanted, jitter }: Want): void => {
    const [last, shared] = [lookups.last(key), lookups.shared(key, sharingKey)]
    const due = dueForLookup({ spec, wanted, lookupKey: 'q', last, shared, nowMs, jitter })
    if (due.kind === 'later') return
    lookups.start(key, {
      specKey: 's',
      lookupKey: 'q',
      sharingKey,
      host: 'git.example',
      wanted,
      why: due.why,
      async run(share) {
        const { fetchedAt } = await share(resolve)
        return {
          kind: 'resolved',
          commit,
          committedAt: undefined,
          fetchedAt,
          verified: undefined,
          verdict: { kind: 'notChecked' },
          durationMs: 1,
        }
      },
    })
  }
  return {
    want: (key: SyncKey, wanted: WantedRef, jitter = 0.5) => wants.set(key, { wanted, jitter }),
    leave: () => (isAway = true),
    /** Returns at which seconds of that time the host was asked. */
    async pass(seconds: number): Promise<number[]> {
      const startMs = nowMs
      askedMs.length = 0
      for (; nowMs < startMs + seconds * 1000; nowMs += 1000) {
        for (const [key, want] of wants) look(key, want)
        await lookups.settled()
      }
      return askedMs.map((ms) => (ms - startMs) / 1000)
    },
  }
}

/** Three who poll a host that has been away for an hour. */
async function afterAnHour(t: Test) {
  const { want, leave, pass } = fleet()
  for (const key of ['plant/a', 'plant/b', 'plant/c']) want(key, poll)
  await pass(120)
  leave()
  const asked = await pass(3_600)
  t.ok(asked.length < 20, `${asked.length} questions for polls`)
  return { want, pass }
}

/** After 5 s, doubling, up to 5 min. */
const soonAgain = [0, 5, 15, 35, 75, 155, 315, 615]

void t.test('a push late in an outage is asked about again after 5 s, doubling, and the next one too', async (t) => {
  const { want, pass } = await afterAnHour(t)
  want('plant/a', push('r1'))
  t.same(await pass(900), soonAgain)
  want('plant/a', push('r2'))
  t.same((await pass(60)).slice(0, 4), soonAgain.slice(0, 4))
})

void t.test('so is a new GatewaySync of a repository that others have asked for in vain', async (t) => {
  const { want, pass } = await afterAnHour(t)
  want('plant/new', poll)
  t.same(await pass(900), soonAgain)
})

void t.test('a hundred pushes at once ask the host as often as the most impatient of them', async (t) => {
  const { want, pass } = await afterAnHour(t)
  for (let index = 0; index < 100; index += 1) want(`plant/${index}`, push(`r${index}`), index / 100)
  // Each wait is that of the one with the least jitter, a tenth shorter; the others count what it was told.
  t.same(await pass(900), [0, 5, 14, 32, 68, 140, 284, 554, 824])
})

void t.test('a push whose wait has become long does not slow down a later one of another GatewaySync', async (t) => {
  const { want, pass } = await afterAnHour(t)
  want('plant/a', push('r1'))
  await pass(400)
  want('plant/b', push('r2'))
  t.same((await pass(60)).slice(0, 4), soonAgain.slice(0, 4))
})
