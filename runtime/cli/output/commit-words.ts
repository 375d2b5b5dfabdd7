/**
 * Caches the subjects and authors of commits for the run output, and when the git host returned them.
 */
import { type CommitWords, parseCommitWords } from '../../git/content/commit-words.ts'
import type { CommitFacts } from './narrate.ts'

/** Maximum number of cached commits: the published one and some refused ones. */
const maxKept = 20

export type CommitCache = {
  /** Reads the subject and author of a commit in the mirror, unless cached. Never rejects: the output works without them. */
  learn(commit: string, read: () => Promise<Buffer>): Promise<void>
  /** The git host was asked at `askedMs` of the monotonic clock, and returned this commit. */
  named(commit: string, askedMs: number): void
  /** `nowMs` is monotonic. */
  about(commit: string, nowMs: number): CommitFacts
}

/** Creates the cache. */
export function createCommitCache(): CommitCache {
  const known = new Map<string, { words?: CommitWords | undefined; askedMs?: number }>()
  return {
    async learn(commit, read) {
      if (known.get(commit)?.words !== undefined) return
      const raw = await read().catch(() => undefined)
      known.set(commit, { ...known.get(commit), words: raw === undefined ? undefined : parseCommitWords(raw) })
      const [oldest] = known.keys()
      if (known.size > maxKept && oldest !== undefined) known.delete(oldest)
    },
    named(commit, askedMs) {
      known.set(commit, { ...known.get(commit), askedMs })
    },
    about(commit, nowMs) {
      const { words, askedMs } = known.get(commit) ?? {}
      return { words, durationMs: askedMs === undefined ? undefined : nowMs - askedMs }
    },
  }
}
