/**
 * The commits that callers have lately been given: a status that names one may be on its way, so a clean-up must leave them.
 */
import type { CommitHash } from '../../gatewaysync/values.ts'
import { forgetOldest } from './bounded.ts'

export type RecentCommits = {
  /** A caller has been given this commit, or was told that it is there. */
  add(commit: CommitHash): void
  /** Those since the last call. */
  take(): ReadonlySet<CommitHash>
}

const most = 1_000

/** Holds at most 1,000 commits; beyond that the one that was added first is forgotten. */
export function createRecentCommits(): RecentCommits {
  let recent = new Set<CommitHash>()
  return {
    add(commit) {
      recent.add(commit)
      forgetOldest(recent, most)
    },
    take() {
      const taken = recent
      recent = new Set()
      return taken
    },
  }
}
