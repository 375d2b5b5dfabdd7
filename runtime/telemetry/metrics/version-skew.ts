/**
 * Compares the versions of a fleet's agents with the controller's own. Pure.
 */

/** `unknown`: the agent has reported no comparable version. */
export const skews = ['same', 'older', 'newer', 'unknown'] as const
/** How an agent's version compares with the controller's. */
export type Skew = (typeof skews)[number]

/** Counts the agents of each kind. Versions are semantic versions; everything after a hyphen or plus sign is ignored. */
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
