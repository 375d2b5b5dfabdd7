/**
 * How the agents of a fleet stand to the controller's own version. Pure.
 */

/** `unknown`: the agent has told no version that can be compared, or nothing at all. */
export const skews = ['same', 'older', 'newer', 'unknown'] as const
export type Skew = (typeof skews)[number]

/** How many agents are of which kind. Versions are those of the semantic versioning; what stands behind a hyphen does not count. */
export function countSkews(own: string, theirs: Iterable<string | undefined>): Record<Skew, number> {
  const counts: Record<Skew, number> = { same: 0, older: 0, newer: 0, unknown: 0 }
  for (const version of theirs) counts[skewOf(own, version)] += 1
  return counts
}

function skewOf(own: string, version: string | undefined): Skew {
  if (version === own) return 'same'
  const [ours, other] = [numbersOf(own), numbersOf(version ?? '')]
  if (ours === undefined || other === undefined) return 'unknown'
  const index = ours.findIndex((number, at) => number !== other[at])
  if (index < 0) return 'same'
  return (other[index] ?? 0) < (ours[index] ?? 0) ? 'older' : 'newer'
}

function numbersOf(version: string): number[] | undefined {
  return /^(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?:[-+]|$)/.exec(version)?.slice(1).map(Number)
}
