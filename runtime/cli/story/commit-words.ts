/**
 * What a person knows a commit by: its first line and its author. Read once from the commit itself.
 */
import { printable } from '../../gatewaysync/values.ts'
import type { CommitWords } from './events.ts'
import type { CommitFacts } from './narrate.ts'

/** Longer ones are cut. In characters. */
const maxSubject = 72
const maxAuthor = 40
/** Of so many commits words are kept: the published one and some that were refused. */
const maxKept = 20

/** Takes a commit as git stores it; undefined where it says neither. Never throws. Pure. */
export function parseCommitWords(raw: Buffer): CommitWords | undefined {
  const text = raw.toString('utf8')
  const end = text.indexOf('\n\n')
  if (end < 0) return undefined
  const [, author = ''] = /^author ([^<\n]*?) *</m.exec(text.slice(0, end + 1)) ?? []
  const [subject = ''] = text.slice(end).trimStart().split('\n', 1)
  if (subject === '' && author === '') return undefined
  return { subject: printable(subject.trim() || 'no message', maxSubject), author: printable(author || 'nobody', maxAuthor) }
}

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
