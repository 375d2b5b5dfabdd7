/**
 * Remembers which commits were found in a mirror: each answer of delivery asks for one, and looking it up takes a process of git.
 */
import type { CommitHash } from '../../gatewaysync/values.ts'

/** Remembers only commits that were found, 1,000 at most. */
export type PresentCommits = {
  /** Looks the commit up only when it is not remembered. Throws what `look` throws. */
  has(commit: CommitHash, signal: AbortSignal): Promise<boolean>
  add(commit: CommitHash): void
  /** To be called before and after anything is removed: what was found meanwhile may be gone. */
  forget(): void
}

const most = 1_000

/** `look` tells whether the mirror holds a commit now. */
export function createPresentCommits(look: (commit: CommitHash, signal: AbortSignal) => Promise<boolean>): PresentCommits {
  const present = new Set<CommitHash>()
  let timesForgotten = 0
  const add = (commit: CommitHash): void => {
    if (present.size >= most) present.clear()
    present.add(commit)
  }
  return {
    async has(commit, signal) {
      if (present.has(commit)) return true
      const before = timesForgotten
      const isThere = await look(commit, signal)
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
