/**
 * The commits that callers were given lately: a status that names one may be about to be written, so a clean-up must keep them.
 */
import type { CommitHash } from '../../gatewaysync/values.ts'
import { forgetOldest } from './bounded.ts'

/** One for each mirror. */
export type RecentCommits = {
  /** A caller was given this commit, or was told that the mirror holds it. */
  add(commit: CommitHash): void
  /** The commits added since the last call. */
  take(): ReadonlySet<CommitHash>
}

const most = 1_000

/** Holds at most 1,000 commits; beyond that the one added first is forgotten. */
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
