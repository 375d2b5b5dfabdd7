/**
 * How long ago something was, in the one unit that a person thinks in. Pure.
 */
const units = [
  { suffix: 'd', seconds: 86_400 },
  { suffix: 'h', seconds: 3_600 },
  { suffix: 'm', seconds: 60 },
] as const

/**
 * `5s`, `3m`, `2h`, `4d`: the largest unit of which two have passed, so that 90 minutes are not told as one hour. `at` is RFC 3339; undefined
 * for a text that is no time. A clock that is ahead of ours counts as now.
 */
export function ageOf(at: string | undefined, now: Temporal.Instant): string | undefined {
  const then = instantOf(at)
  if (then === undefined) return undefined
  const seconds = Math.max(0, Math.floor((now.epochMilliseconds - then.epochMilliseconds) / 1000))
  const unit = units.find((one) => seconds >= 2 * one.seconds)
  return unit === undefined ? `${seconds}s` : `${Math.floor(seconds / unit.seconds)}${unit.suffix}`
}

/** `3m ago`, or `at an unknown time`. */
export function agoOf(at: string | undefined, now: Temporal.Instant): string {
  const age = ageOf(at, now)
  return age === undefined ? 'at an unknown time' : `${age} ago`
}

/** Undefined for a text that is no time of RFC 3339. */
export function instantOf(at: string | undefined): Temporal.Instant | undefined {
  if (at === undefined) return undefined
  try {
    return Temporal.Instant.from(at)
  } catch {
    return undefined
  }
}
