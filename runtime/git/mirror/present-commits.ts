/**
 * Caches which commits were found in a mirror: each response of the content server needs one, and finding it takes a git process.
 */
import type { CommitHash } from '../../api/values.ts'

/** Caches only commits that were found, at most 1,000. */
export type PresentCommits = {
  /** Checks the commit only if it is not cached. Throws what `check` throws. */
  has(commit: CommitHash, signal: AbortSignal): Promise<boolean>
  add(commit: CommitHash): void
  /** Clears the cache; call it before and after anything is removed, because commits found meanwhile may be gone. */
  forget(): void
}

const maxCommits = 1_000

/** `check` returns whether the mirror holds a commit now. */
export function createPresentCommits(check: (commit: CommitHash, signal: AbortSignal) => Promise<boolean>): PresentCommits {
  const present = new Set<CommitHash>()
  let timesForgotten = 0
  const add = (commit: CommitHash): void => {
    if (present.size >= maxCommits) present.clear()
    present.add(commit)
  }
  return {
    async has(commit, signal) {
      if (present.has(commit)) return true
      const before = timesForgotten
      const isThere = await check(commit, signal)
      if (isThere && timesForgotten === before) add(commit)
      return isThere
    },
    add,
    forget() {
      present.clear()
      timesForgotten += 1
    },
  }
}
