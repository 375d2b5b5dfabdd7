/**
 * What the page asks about commits, and how long it waits for the answer. Nothing of it is kept with the fleet: it is read when somebody looks.
 */
import { deadline } from '../clock.ts'
import type { CommitWords } from '../source/content/commit-words.ts'
import type { FileDiff } from '../sync/plan/preview.ts'
import type { SyncKey } from './people.ts'

/** `total`: how many files differ; `files`: the first of them, with their lines where they may be shown. */
export type CommitChanges = { total: number; files: FileDiff[] }

export type Commits = {
  /** Undefined where it cannot be read, or there is no such GatewaySync. Rejects with the signal's reason only. */
  words(sync: SyncKey, commit: string, signal: AbortSignal): Promise<CommitWords | undefined>
  /** `pair`: commits of the GatewaySync's history. Throws Faults. */
  changes(sync: SyncKey, pair: { from: string; commit: string }, signal: AbortSignal): Promise<CommitChanges>
}

/** A page does without the words that take longer. */
const wordsMs = 1_500

/** The words of those commits that can be read soon, by hash. Never rejects. */
export async function wordsOf(
  commits: Commits | undefined,
  sync: SyncKey,
  hashes: readonly (string | undefined)[],
): Promise<ReadonlyMap<string, CommitWords>> {
  const found = new Map<string, CommitWords>()
  if (commits === undefined) return found
  const limit = deadline(wordsMs)
  await Promise.allSettled(
    [...new Set(hashes.flatMap((hash) => hash ?? []))].map(async (hash) => {
      const words = await commits.words(sync, hash, limit)
      if (words !== undefined) found.set(hash, words)
    }),
  )
  return found
}
