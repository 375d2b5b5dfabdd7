/**
 * Remembers commits of a mirror: those that were found in it, and those that callers received recently.
 */
import type { CommitHash } from '../../api/values.ts'
import { evictOldest } from './bounded.ts'

/** One for each mirror. */
export type RecentCommits = {
  /** A caller received this commit, or the information that it is in the mirror. */
  add(commit: CommitHash): void
  /** The commits added since the last call. */
  take(): ReadonlySet<CommitHash>
}

const maxCommits = 1_000

/** Holds at most 1,000 commits; beyond that, the oldest one is dropped. */
export function createRecentCommits(): RecentCommits {
  let recent = new Set<CommitHash>()
  return {
    add(commit) {
      recent.add(commit)
      evictOldest(recent, maxCommits)
    },
    take() {
      const taken = recent
      recent = new Set()
      return taken
    },
  }
}

/** Caches only commits that were found, at most 1,000. */
export type PresentCommits = {
  /** Checks the commit only if it is not cached. Throws what `check` throws. */
  has(commit: CommitHash, signal: AbortSignal): Promise<boolean>
  add(commit: CommitHash): void
  /** Clears the cache; call it before and after anything is removed, because commits found meanwhile may be gone. */
  forget(): void
}

const maxPresent = 1_000

/** `check` returns whether the mirror holds a commit now. */
export function createPresentCommits(check: (commit: CommitHash, signal: AbortSignal) => Promise<boolean>): PresentCommits {
  const present = new Set<CommitHash>()
  let timesForgotten = 0
  const add = (commit: CommitHash): void => {
    if (present.size >= maxPresent) present.clear()
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
