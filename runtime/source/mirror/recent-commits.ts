/**
 * The commits of a mirror that somebody may be about to write down as needed: a clean-up must leave them.
 */
import type { CommitHash } from '../../gatewaysync/values.ts'
import { forgetOldest } from './bounded.ts'

export type RecentCommits = {
  /** Somebody has been given this commit, or told that it is there. */
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
