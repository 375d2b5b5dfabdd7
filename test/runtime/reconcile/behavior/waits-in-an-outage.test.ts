/**
 * Tests how often an unavailable git host is queried: rarely for polls and soon again for requests, however long the outage has lasted and
 * however many GatewaySyncs share the repository.
 */
import t, { type Test } from 'tap'
import { systemClock } from '../../../../runtime/platform/clock.ts'
import { Fault } from '../../../../runtime/platform/fault.ts'
import { dueForResolution } from '../../../../runtime/reconcile/decide/source-resolution.ts'
import type { DesiredRef } from '../../../../runtime/reconcile/decide/request.ts'
import { parseCommitHash, parseRefName } from '../../../../runtime/api/values.ts'
import { FairLimiter } from '../../../../runtime/platform/async/fair-limiter.ts'
import { Resolutions } from '../../../../runtime/reconcile/source/resolutions.ts'
import type { SyncKey } from '../../../../runtime/reconcile/store/records.ts'
import { specWith } from '../../../support/gatewaysync.ts'

const sharingKey = 'plant.git main'
const spec = specWith({ polling: { interval: '1m' } })
const ref = parseRefName('main')
const poll: DesiredRef = { ref, request: undefined, undecided: false }
const push = (id: string): DesiredRef => ({ ref, request: { id, ref, specRef: 'main', by: undefined, at: undefined }, undecided: true })
const commit = parseCommitHash('a'.repeat(40))

/** The desired ref of a GatewaySync; its jitter is from 0 to 1. */
type Want = { desired: DesiredRef; jitter: number }

/** GatewaySyncs of one repository that check once a second whether a source resolution is due. */
function fleet() {
  let [nowMs, isAway] = [0, false]
  const clock = { ...systemClock, monotonicMs: () => nowMs }
  const hosts = new FairLimiter({ total: 200, clock })
  const resolutions = new Resolutions({ clock, hosts, ready: () => undefined, signal: new AbortController().signal })
  const wants = new Map<SyncKey, Want>()
  const askedMs: number[] = []
  const resolve = async () => {
    if (askedMs.at(-1) !== nowMs) askedMs.push(nowMs)
    if (isAway) throw new Fault('GitTimeout', 'slow')
    return { commit, committedAt: Promise.resolve(undefined), fetchedAt: '2026-01-01T00:00:00Z', name: 'refs/heads/main', tag: undefined }
  }
  const poll = (key: SyncKey, { desired, jitter }: Want): void => {
    const [last, shared] = [resolutions.last(key), resolutions.shared(key, sharingKey)]
    const due = dueForResolution({ spec, desired, resolutionKey: 'q', last, shared, nowMs, jitter })
    if (due.kind === 'later') return
    resolutions.start(key, {
      specKey: 's',
      resolutionKey: 'q',
      sharingKey,
      host: 'git.example',
      repository: 'plant',
      desired,
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
    want: (key: SyncKey, desired: DesiredRef, jitter = 0.5) => wants.set(key, { desired, jitter }),
    leave: () => (isAway = true),
    /** Returns the seconds within that time at which the host was queried. */
    async pass(seconds: number): Promise<number[]> {
      const startMs = nowMs
      askedMs.length = 0
      for (; nowMs < startMs + seconds * 1000; nowMs += 1000) {
        for (const [key, want] of wants) poll(key, want)
        await resolutions.settled()
      }
      return askedMs.map((ms) => (ms - startMs) / 1000)
    },
  }
}

/** Three polling GatewaySyncs after an outage of an hour. */
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

void t.test('a push late in an outage is retried after 5 s, doubling, and so is the next one', async (t) => {
  const { want, pass } = await afterAnHour(t)
  want('plant/a', push('r1'))
  t.strictSame(await pass(900), soonAgain)
  want('plant/a', push('r2'))
  t.strictSame((await pass(60)).slice(0, 4), soonAgain.slice(0, 4))
})

void t.test('a new GatewaySync of a failing repository is retried after 5 s, doubling', async (t) => {
  const { want, pass } = await afterAnHour(t)
  want('plant/new', poll)
  t.strictSame(await pass(900), soonAgain)
})

void t.test('a hundred concurrent pushes query the host as often as the one with the shortest wait', async (t) => {
  const { want, pass } = await afterAnHour(t)
  for (let index = 0; index < 100; index += 1) want(`plant/${index}`, push(`r${index}`), index / 100)
  // Each wait is that of the GatewaySync with the least jitter, a tenth shorter. The others share its answer.
  t.strictSame(await pass(900), [0, 5, 14, 32, 68, 140, 284, 554, 824])
})

void t.test('a push with a long backoff does not slow down a later push of another GatewaySync', async (t) => {
  const { want, pass } = await afterAnHour(t)
  want('plant/a', push('r1'))
  await pass(400)
  want('plant/b', push('r2'))
  t.strictSame((await pass(60)).slice(0, 4), soonAgain.slice(0, 4))
})
