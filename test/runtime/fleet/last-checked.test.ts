/**
 * The time of the last poll of the git host, for a status that records an unchanged result at most once an hour.
 */
import t from 'tap'
import { durationMs } from '../../../runtime/api/schema/fields.ts'
import { lastChecked, lastCheckedText } from '../../../runtime/fleet/last-checked.ts'
import { fleetView } from '../../../runtime/fleet/fleet-view.ts'
import { syncText } from '../../../runtime/fleet/status-text.ts'
import { Temporal } from '../../../runtime/platform/temporal.ts'
import { isWorthWriting } from '../../../runtime/reconcile/decide/columns.ts'
import { condition, now, syncFacts } from '../../support/fleet-facts.ts'

const at = (checkedAt: Temporal.Instant, pollingInterval: string | undefined, when: Temporal.Instant): string | undefined => {
  const last = lastChecked({ checkedAt: checkedAt.toString(), pollingInterval }, when)
  return last === undefined ? undefined : lastCheckedText(last, when)
}

void t.test('the shown time of the last poll is never wrong for a status that is written as rarely as possible', async (t) => {
  const wrong: string[] = []
  const kinds = new Set<string>()
  for (const interval of ['5s', '60s', '25m', '90m']) {
    const everyMs = durationMs(interval) ?? 0
    const pollMs = Math.round(everyMs * 1.1)
    const end = now.add({ hours: 6 })
    let written = now
    for (let asked = now; Temporal.Instant.compare(asked, end) < 0; asked = asked.add({ milliseconds: pollMs })) {
      const before = { source: { ref: 'main', checkedAt: written.toString() } }
      if (isWorthWriting({ source: { checkedAt: asked.toString() } }, before, asked)) written = asked
      for (const part of [0, 0.5, 0.99]) {
        const agoMs = Math.round(pollMs * part)
        const words = at(written, interval, asked.add({ milliseconds: agoMs })) ?? ''
        const [kind = '', hours = ''] = /^checked (?:within the last (?:hour$)?(\d+)?)?/.exec(words) ?? []
        kinds.add(kind.replace(/\d+/, 'some'))
        const isTrue = kind === 'checked ' ? written === asked : agoMs < Number(hours || 1) * 3_600_000
        if (kind === '' || !isTrue) wrong.push(`${interval}, asked ${agoMs} ms ago: ${words}`)
      }
    }
  }
  t.strictSame(wrong, [])
  t.strictSame([...kinds].toSorted(), ['checked ', 'checked within the last hour', 'checked within the last some'])
})

void t.test('an unknown time of the last poll is not shown', async (t) => {
  const later = (duration: Temporal.DurationLike) => now.add(duration)
  t.equal(at(now, '60s', later({ seconds: 44 })), 'checked 44s ago')
  t.equal(at(now, '60s', later({ minutes: 58 })), 'checked within the last hour')
  t.equal(at(now, '60s', later({ hours: 5 })), 'last known response 5h ago', 'the status would have been written since')
  t.equal(at(now, undefined, later({ minutes: 58 })), 'last known response 58m ago')
  t.equal(at(now, '60s', now.subtract({ seconds: 2 })), 'checked 0s ago', 'a clock that is ahead')
  for (const checkedAt of [undefined, 'soon']) t.equal(lastChecked({ checkedAt, pollingInterval: '60s' }, now), undefined)
})

void t.test('status of one GatewaySync shows the last poll next to the repository', async (t) => {
  const read = (minutes: number, spec: object = {}, status: object = {}): string | undefined => {
    const facts = syncFacts('line-1', status)
    const syncs = [{ ...facts, spec: { ...(facts.spec as object), ...spec } }]
    const view = fleetView({ from: 'cluster', syncs, pods: [], reports: [], notes: [] }, now)
    const lines = syncText(view, now.add({ minutes }), { width: 120, color: false, symbols: false })
    return lines.find((line) => line.includes('repository'))?.replace(/^.*git, /, '')
  }
  t.equal(read(0), 'checked 12s ago')
  t.equal(read(58), 'checked within the last hour')
  t.equal(read(58, { polling: { interval: '2h' } }), 'checked 58m ago')
  t.equal(read(58, { polling: { enabled: false } }), 'last known response 58m ago')
  t.equal(read(58, {}, { conditions: [condition('SourceReady', 'False', 'GitUnreachable', 'away')] }), 'last known response 58m ago')
  t.equal(read(58, {}, { observedGeneration: 0 }), 'last known response 58m ago', 'of another spec')
})
