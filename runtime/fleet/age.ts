/**
 * Formats how long ago an event happened, in one unit. Pure.
 */
import { Temporal } from '../platform/temporal.ts'
const units = [
  { suffix: 'd', seconds: 86_400 },
  { suffix: 'h', seconds: 3_600 },
  { suffix: 'm', seconds: 60 },
] as const

/**
 * Returns `5s`, `3m`, `2h` or `4d`, in the largest unit with a value of at least two, so 90 minutes are not rounded to one hour. `at` is
 * RFC 3339. Returns undefined for an invalid time. A time in the future counts as now.
 */
export function ageOf(at: string | undefined, now: Temporal.Instant): string | undefined {
  const then = instantOf(at)
  if (then === undefined) return undefined
  const seconds = Math.max(0, Math.floor((now.epochMilliseconds - then.epochMilliseconds) / 1000))
  const unit = units.find((one) => seconds >= 2 * one.seconds)
  return unit === undefined ? `${seconds}s` : `${Math.floor(seconds / unit.seconds)}${unit.suffix}`
}

/** Returns `3m ago`, or `at an unknown time`. */
export function agoOf(at: string | undefined, now: Temporal.Instant): string {
  const age = ageOf(at, now)
  return age === undefined ? 'at an unknown time' : `${age} ago`
}

/** Returns undefined for a text that is not an RFC 3339 time. */
export function instantOf(at: string | undefined): Temporal.Instant | undefined {
  if (at === undefined) return undefined
  try {
    return Temporal.Instant.from(at)
  } catch {
    return undefined
  }
}
