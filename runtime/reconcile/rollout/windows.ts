/**
 * Computes rollout windows: when gateways may begin to take a commit, in the plant's time zone. Pure.
 */
import { Temporal } from '../../platform/temporal.ts'
import type { RolloutWindow } from '../../api/schema/spec.ts'

/** ISO weekdays, from 1. */
const weekdays = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const

/** Whether one of the windows is open; always true without windows. Wall-clock time decides, so an hour repeated in autumn counts twice. */
export function isOpen(windows: readonly RolloutWindow[] | undefined, now: Temporal.Instant): boolean {
  return windows === undefined || windows.some((window) => holds(window, now))
}

/** Returns when a window opens next; undefined without windows. If one is open, this is the next opening. */
export function nextOpening(windows: readonly RolloutWindow[] | undefined, now: Temporal.Instant): Temporal.Instant | undefined {
  const openings = (windows ?? []).flatMap((window) => {
    const today = now.toZonedDateTimeISO(window.timeZone).toPlainDate()
    // A clock that is put forward may skip a whole window of a day; then the day a week later has one.
    return Array.from({ length: 15 }, (_, days) => today.add({ days }))
      .map((date) => openingOn(window, date))
      .filter((instant) => Temporal.Instant.compare(instant, now) > 0 && holds(window, instant))
  })
  return openings.toSorted((a, b) => Temporal.Instant.compare(a, b)).at(0)
}

/** If the clock skips the opening time, the window opens right after the change. */
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
