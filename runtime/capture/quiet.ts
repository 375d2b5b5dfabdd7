/**
 * When changes that nobody asks for were left alone for long enough, with `on: Drift`. They are handed on once their digest was the same at two
 * looks that are `quietMs` apart. A look reads the files and asks for the commit, so it is made no more often than twice in that time, and
 * hardly ever once the changes are over. Pure; all times are monotonic, in ms.
 */

/** What was seen of the changes. */
export type Watched = {
  digest: string
  /** What could be told of them without a look. */
  outside: string
  /** Since when the digest is the same. */
  sinceMs: number
  lookedMs: number
  /** Whether there is nothing to hand on, or no more. */
  isOver: boolean
}

/** What cannot be told without a look, such as a new file, is found after this long though the changes are over. */
const restMs = 3_600_000

/** When the next look is due; `outside` is what can be told without one. */
export function nextLookMs(watched: Watched | undefined, outside: string, quietMs: number): number {
  if (watched === undefined) return 0
  const { sinceMs, lookedMs, isOver } = watched
  const soonestMs = lookedMs + quietMs / 2
  if (watched.outside !== outside) return soonestMs
  return Math.max(soonestMs, isOver ? lookedMs + restMs : sinceMs + quietMs)
}

/** What a look at `nowMs` makes known, and whether the changes are to be handed on. `isNothing`: there are none that can be. */
export function afterLook(
  before: Watched | undefined,
  { digest, outside, isNothing }: { digest: string; outside: string; isNothing: boolean },
  nowMs: number,
  quietMs: number,
): { watched: Watched; isQuiet: boolean } {
  const same = before?.digest === digest ? before : { sinceMs: nowMs, isOver: isNothing }
  const { sinceMs, isOver } = same
  return { watched: { digest, outside, sinceMs, lookedMs: nowMs, isOver }, isQuiet: !isOver && nowMs - sinceMs >= quietMs }
}
