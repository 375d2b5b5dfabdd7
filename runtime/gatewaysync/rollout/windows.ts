/**
 * When gateways may begin to take a commit, by the clocks of a plant. Pure.
 */
import type { RolloutWindow } from '../schema/spec.ts'

/** ISO weekdays, from 1. */
const weekdays = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const

/** Whether one of the windows is open; without any it always is. Wall clocks decide, so an hour that is repeated in autumn counts twice. */
export function isOpen(windows: readonly RolloutWindow[] | undefined, now: Temporal.Instant): boolean {
  return windows === undefined || windows.some((window) => holds(window, now))
}

/** When one of the windows opens next; undefined where there are none. Where one is open, this is the next one's beginning. */
export function nextOpening(windows: readonly RolloutWindow[] | undefined, now: Temporal.Instant): Temporal.Instant | undefined {
  const openings = (windows ?? []).flatMap((window) => {
    const today = now.toZonedDateTimeISO(window.timeZone).toPlainDate()
    // A clock that is put forward may skip a whole window of a day; the day a week later then has one.
    return Array.from({ length: 15 }, (_, days) => today.add({ days }))
      .filter((date) => opensOn(window, date.dayOfWeek))
      .map((date) => openingOn(window, date))
      .filter((instant) => Temporal.Instant.compare(instant, now) > 0 && holds(window, instant))
  })
  return openings.toSorted((a, b) => Temporal.Instant.compare(a, b)).at(0)
}

/** Where the clock skips the time of opening, the window opens as soon as the clock has moved. */
function openingOn({ timeZone, from }: RolloutWindow, date: Temporal.PlainDate): Temporal.Instant {
  const opening = date.toZonedDateTime({ timeZone, plainTime: from })
  const isSkipped = opening.hour * 60 + opening.minute !== minutesOf(from)
  return ((isSkipped ? opening.getTimeZoneTransition('previous') : null) ?? opening).toInstant()
}

function holds(window: RolloutWindow, now: Temporal.Instant): boolean {
  const local = now.toZonedDateTimeISO(window.timeZone)
  const minute = local.hour * 60 + local.minute
  const [from, to] = [minutesOf(window.from), minutesOf(window.to)]
  const opensToday = opensOn(window, local.dayOfWeek)
  if (from < to) return opensToday && minute >= from && minute < to
  const openedYesterday = opensOn(window, local.dayOfWeek === 1 ? 7 : local.dayOfWeek - 1)
  return (opensToday && minute >= from) || (openedYesterday && minute < to)
}

function opensOn({ days }: RolloutWindow, dayOfWeek: number): boolean {
  return days.some((day) => weekdays.indexOf(day) + 1 === dayOfWeek)
}

function minutesOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number)
  return hours * 60 + minutes
}
