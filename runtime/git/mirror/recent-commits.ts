/**
 * Records the commits that callers received recently: a status that names one may be about to be written, so a clean-up must keep them.
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
