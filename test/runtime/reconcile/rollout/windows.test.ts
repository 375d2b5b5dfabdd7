import t from 'tap'
import { Temporal } from '../../../../runtime/platform/temporal.ts'
import { isOpen, nextOpening } from '../../../../runtime/reconcile/rollout/windows.ts'

const utc = { timeZone: 'UTC' }
const day = { ...utc, days: ['Mon' as const, 'Sun' as const], from: '08:30', to: '18:00' }
const night = { ...day, from: '22:00', to: '06:00' }
/** 5 January 2026 is a Monday. */
const at = (date: number, time: string) => Temporal.Instant.from(`2026-01-${String(date).padStart(2, '0')}T${time}:00Z`)

void t.test('a window is open from its first minute up to its last one, on its days', async (t) => {
  const rows: [number, string, boolean][] = [
    [5, '08:29', false],
    [5, '08:30', true],
    [5, '17:59', true],
    [5, '18:00', false],
    [6, '12:00', false],
    [11, '12:00', true],
  ]
  for (const [date, time, open] of rows) t.equal(isOpen([day], at(date, time)), open, `${date} ${time}`)
  t.equal(isOpen(undefined, at(6, '12:00')), true, 'without windows')
  t.equal(isOpen([], at(5, '12:00')), false)
  t.equal(isOpen([night, day], at(5, '12:00')), true, 'one of several')
  t.equal(isOpen([{ ...day, timeZone: 'Asia/Tokyo' }], at(4, '23:30')), true, 'in its time zone')
})

void t.test('a window past midnight belongs to the day on which it opens', async (t) => {
  const rows: [number, string, boolean][] = [
    [5, '21:59', false],
    [5, '22:00', true],
    [6, '00:00', true],
    [6, '05:59', true],
    [6, '06:00', false],
    [6, '22:00', false],
    [7, '05:00', false],
    [5, '05:59', true],
    [5, '06:00', false],
    [4, '05:00', false],
    [5, '12:00', false],
  ]
  for (const [date, time, open] of rows) t.equal(isOpen([night], at(date, time)), open, `${date} ${time}`)
  const whole = { ...day, days: ['Mon' as const], from: '00:00', to: '00:00' }
  t.strictSame([isOpen([whole], at(5, '00:00')), isOpen([whole], at(5, '23:59')), isOpen([whole], at(6, '00:00'))], [true, true, false])
})

void t.test('the next opening is later than now, and the first of several windows', async (t) => {
  const next = (date: number, time: string, ...windows: (typeof day)[]) => nextOpening(windows, at(date, time))?.toString()
  t.equal(next(5, '08:29', day), '2026-01-05T08:30:00Z')
  t.equal(next(5, '08:30', day), '2026-01-11T08:30:00Z', 'it is open')
  t.equal(next(5, '09:00', day, night), '2026-01-05T22:00:00Z')
  t.equal(next(5, '09:00', night, day), '2026-01-05T22:00:00Z')
  t.equal(nextOpening(undefined, at(5, '09:00')), undefined)
})
