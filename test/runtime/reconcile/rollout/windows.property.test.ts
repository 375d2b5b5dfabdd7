/**
 * Tests rollout windows in local time, including days with a daylight saving time change.
 */
import fc from 'fast-check'
import t from 'tap'
import { isOpen, nextOpening } from '../../../../runtime/reconcile/rollout/windows.ts'
import { Temporal } from '../../../../runtime/platform/temporal.ts'

const days = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const
const minute = fc.integer({ min: 0, max: 24 * 60 - 1 })
const timeOf = (minutes: number): string => `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`
const zone = fc.constantFrom('Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kolkata', 'UTC')
const someWindow = fc
  .record({ days: fc.subarray([...days], { minLength: 1 }), from: minute, to: minute, timeZone: zone })
  .filter(({ from, to }) => from !== to)
  .map(({ from, to, ...others }) => ({ ...others, from: timeOf(from), to: timeOf(to) }))
const at = (text: string): Temporal.Instant => Temporal.Instant.from(text)

void t.test('a window is open at its next opening, which lies in the future', async () => {
  fc.assert(
    fc.property(someWindow, fc.integer({ min: 0, max: 365 * 24 * 60 }), (window, minutes) => {
      const now = at('2026-01-01T00:00:00Z').add({ minutes })
      const opening = nextOpening([window], now)
      return opening !== undefined && Temporal.Instant.compare(opening, now) > 0 && isOpen([window], opening)
    }),
    { numRuns: 500 },
  )
})

void t.test('an opening time skipped by the clock change opens the window at the change', async (t) => {
  const window = { days: ['Sun' as const], from: '02:30', to: '05:00', timeZone: 'Europe/Berlin' }
  const moved = at('2026-03-29T01:00:00Z')
  t.equal(nextOpening([window], at('2026-03-29T00:00:00Z'))?.toString(), moved.toString())
  t.ok(isOpen([window], moved))
  t.notOk(isOpen([window], moved.subtract({ seconds: 1 })))
})

void t.test('a window skipped entirely by the clock change opens a week later', async (t) => {
  const window = { days: ['Sun' as const], from: '02:10', to: '02:50', timeZone: 'Europe/Berlin' }
  t.equal(nextOpening([window], at('2026-03-29T00:00:00Z'))?.toString(), '2026-04-05T00:10:00Z')
})
