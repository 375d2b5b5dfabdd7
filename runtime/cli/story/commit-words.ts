/**
 * What is known of a commit while its story is told: its words, read once from the commit itself, and when the git host named it.
 */
import { type CommitWords, parseCommitWords } from '../../source/content/commit-words.ts'
import type { CommitFacts } from './narrate.ts'

/** Of so many commits words are kept: the published one and some that were refused. */
const maxKept = 20

export type KnownCommits = {
  /** Reads the words of a commit that is in the mirror, unless they are known. Never rejects: a story without them is told all the same. */
  learn(commit: string, read: () => Promise<Buffer>): Promise<void>
  /** The git host was asked at `askedMs` of the monotonic clock, and this is what it named. */
  named(commit: string, askedMs: number): void
  /** `nowMs` is monotonic. */
  about(commit: string, nowMs: number): CommitFacts
}

/** Subjects and authors of commits, as the story has come to know them. */
export function createKnownCommits(): KnownCommits {
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
