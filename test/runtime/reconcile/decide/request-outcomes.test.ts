/**
 * Tests how long a request may be pending, and which outcome each request gets.
 */
import t from 'tap'
import { requestingEvents } from '../../../../runtime/api/names.ts'
import type { RequestOutcome } from '../../../../runtime/api/schema/status.ts'
import { parseRefName } from '../../../../runtime/api/values.ts'
import { Temporal } from '../../../../runtime/platform/temporal.ts'
import {
  isRefused,
  outcomeOf,
  pendingForMs,
  pendingSince,
  recordAnswer,
  recordOutcome,
  recordOverfull,
  type SyncRequest,
} from '../../../../runtime/reconcile/decide/request-outcomes.ts'

const at = '2026-01-01T00:00:00Z'
const later = '2026-01-01T00:01:00Z'
const answered = (id: string, outcome: RequestOutcome['outcome'], since = at): RequestOutcome => ({ id, ref: 'main', outcome, at: since })
const requestBy = (by: string | undefined): SyncRequest => ({ id: 'r1', ref: parseRefName('main'), specRef: 'main', by, at: undefined })

void t.test('a webhook request is pending for less than two minutes since it was first seen, any other not at all', async (t) => {
  const now = Temporal.Instant.from('2026-01-01T00:02:00Z')
  const since = (by: string | undefined, ...requests: RequestOutcome[]) =>
    pendingSince(requestBy(by), requests.length === 0 ? {} : { requests }, now)?.toString()
  for (const by of requestingEvents) t.equal(since(by), now.toString(), by)
  for (const by of [undefined, 'cli:operator', '']) t.equal(since(by), undefined, String(by))
  t.equal(since('push', answered('r1', 'Pending', '2026-01-01T00:00:00.001Z')), '2026-01-01T00:00:00.001Z')
  t.equal(since('push', answered('r1', 'Pending', at)), undefined)
  t.equal(since('push', answered('other', 'Pending', at)), now.toString(), 'of another request')
  t.equal(since('push', answered('r1', 'Handled', at)), now.toString(), 'a final outcome is of an earlier request')
})

void t.test('the time that a request has been pending is counted from its outcome', async (t) => {
  const now = Temporal.Instant.from('2026-01-01T00:00:07Z')
  const pendingFor = (request: SyncRequest | undefined, ...requests: RequestOutcome[]) =>
    pendingForMs(request, requests.length === 0 ? {} : { requests }, now)
  const request = requestBy('push')
  t.equal(pendingFor(request, answered('other', 'Pending', later), answered('r1', 'Pending', at)), 7_000)
  t.equal(pendingFor(request, answered('r1', 'Refused', at)), undefined)
  t.equal(pendingFor(request, answered('other', 'Pending', at)), undefined)
  t.equal(pendingFor(undefined, answered('r1', 'Pending', at)), undefined)
  t.equal(pendingFor(request), undefined)
})

void t.test('the newest outcome is last; a final one is kept, and a pending one keeps its time until it is final', async (t) => {
  const [other, pending] = [answered('other', 'Handled'), answered('r1', 'Pending')]
  const request = { id: 'r1', ref: 'v2' }
  const record = (known: RequestOutcome[], outcome: RequestOutcome['outcome']) => recordOutcome(known, request, { outcome }, later)
  t.strictSame(record([other], 'Pending'), [other, { ...request, outcome: 'Pending', at: later }])
  t.strictSame(record([pending, other], 'Pending'), [other, { ...request, outcome: 'Pending', at }])
  t.strictSame(record([pending, other], 'Handled'), [other, { ...request, outcome: 'Handled', at: later }])
  const handled = answered('r1', 'Handled')
  for (const outcome of ['Pending', 'Refused'] as const) t.strictSame(record([handled, other], outcome), [handled, other])
  const refusal = recordOutcome([], request, { outcome: 'Refused', reason: 'RefNotFound', message: 'm'.repeat(1025) }, at)
  t.strictSame(refusal, [{ ...request, outcome: 'Refused', at, reason: 'RefNotFound', message: 'm'.repeat(1024) }])
  const many = Array.from({ length: 20 }, (_, index) => answered(`r${index + 2}`, 'Handled'))
  t.strictSame(record(many, 'Handled'), [...many.slice(1), { ...request, outcome: 'Handled', at: later }], 'the last 20 are kept')
})

void t.test('only a final outcome counts, and a request is refused by its own', async (t) => {
  const status = { requests: [answered('r1', 'Refused'), answered('r2', 'Handled'), answered('r3', 'Pending')] }
  t.strictSame(
    ['r1', 'r2', 'r3', 'r4'].map((id) => [outcomeOf(status, id), isRefused(status, id)]),
    [
      ['Refused', true],
      ['Handled', false],
      [undefined, false],
      [undefined, false],
    ],
  )
  t.strictSame([outcomeOf({}, 'r1'), isRefused({}, 'r1')], [undefined, false])
})

void t.test('an answer to a request that superseded none is its only outcome', async (t) => {
  t.strictSame(recordAnswer([], requestBy('push'), { outcome: 'Handled' }, at), [answered('r1', 'Handled')])
  t.strictSame(recordOverfull([], requestBy('push'), at), [])
})

void t.test('of more than 8 waiting requests the oldest without a final outcome are superseded', (t) => {
  const superseded = Array.from({ length: 10 }, (_, index) => ({ id: `r${index}`, ref: 'main' }))
  const request = { id: 'r10', ref: 'main', superseded } as unknown as Parameters<typeof recordOverfull>[1]
  const outcomes = (requests: Parameters<typeof recordOverfull>[0]) =>
    recordOverfull(requests, request, at).map(({ id, outcome, message }) => `${id} ${outcome} ${message ?? ''}`)
  const why = 'later requests arrived before the git host answered'
  t.strictSame(outcomes([]), [`r0 Superseded ${why}`, `r1 Superseded ${why}`])
  t.strictSame(outcomes([answered('r0', 'Handled')]), ['r0 Handled ', `r1 Superseded ${why}`])
  t.strictSame(outcomes([answered('r9', 'Handled')]), ['r9 Handled ', `r0 Superseded ${why}`], 'an answered one takes no place')
  t.strictSame(outcomes([answered('r0', 'Pending')]), [`r0 Superseded ${why}`, `r1 Superseded ${why}`])
  t.strictSame(outcomes([answered('other', 'Handled')]), ['other Handled ', `r0 Superseded ${why}`, `r1 Superseded ${why}`])
  t.strictSame(recordOverfull([], { ...request, superseded: [] }, at), [])
  t.end()
})

void t.test('an answer counts for earlier requests of the same ref, and supersedes those of others', (t) => {
  const request = {
    id: 'r2',
    ref: 'main',
    superseded: [
      { id: 'r0', ref: 'main' },
      { id: 'r1', ref: 'v1' },
    ],
  } as unknown as Parameters<typeof recordAnswer>[1]
  t.strictSame(
    recordAnswer([], request, { outcome: 'Refused', reason: 'RefNotFound', message: 'no such ref' }, at).map(({ at: _at, ...one }) => one),
    [
      { id: 'r0', ref: 'main', outcome: 'Refused', reason: 'RefNotFound', message: 'no such ref' },
      { id: 'r1', ref: 'v1', outcome: 'Superseded', message: 'a later request arrived before this one was handled' },
      { id: 'r2', ref: 'main', outcome: 'Refused', reason: 'RefNotFound', message: 'no such ref' },
    ],
  )
  t.end()
})
