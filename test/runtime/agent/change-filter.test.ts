/**
 * How long an agent answers a request for changes, even if the requester never withdraws it.
 */
import t from 'tap'
import { pendingAfter } from '../../../runtime/agent/change-filter.ts'
import { changesAnnotations } from '../../../runtime/api/names.ts'

const minutes = 60_000
const at = '2026-01-01T12:00:00Z'
const asking = (id: string) => ({ [changesAnnotations.at]: id })

const rows: Record<string, { before?: string; id: string; isFirst?: boolean; forMs: number }> = {
  'a request that comes': { id: `${at}/a`, forMs: 10 * minutes },
  'one of a clock that is a day late, or early': { id: '2025-12-31T12:00:00Z/a', forMs: 10 * minutes },
  'one after another': { before: 'of somebody else', id: 'by hand', forMs: 10 * minutes },
  'one that is known goes on as it was': { before: `${at}/a`, id: `${at}/a`, forMs: minutes },
  'one that stands there at the start': { id: '2026-01-01T11:57:00Z/a', isFirst: true, forMs: 7 * minutes },
  'one that was left there': { id: '2026-01-01T11:00:00Z/a', isFirst: true, forMs: -50 * minutes },
  'one of the future': { id: '2026-01-01T13:00:00Z/a', isFirst: true, forMs: 10 * minutes },
  'one without a time at the start': { id: 'by hand', isFirst: true, forMs: 10 * minutes },
}

for (const [name, { before, id, isFirst = false, forMs }] of Object.entries(rows)) {
  void t.test(name, async (t) => {
    const known = before === undefined ? undefined : { id: before, untilMs: 1_000 + minutes }
    t.strictSame(pendingAfter(known, asking(id), { isFirst, at, nowMs: 1_000 }), { id, untilMs: 1_000 + forMs })
  })
}

void t.test('a request that is withdrawn and made again gets the full time again', async (t) => {
  const how = { isFirst: false, at, nowMs: 5 }
  t.equal(pendingAfter({ id: 'a', untilMs: 1 }, {}, how), undefined)
  t.strictSame(pendingAfter(undefined, asking('a'), how), { id: 'a', untilMs: 5 + 10 * minutes })
})
