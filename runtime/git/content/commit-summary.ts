/**
 * Parses the subject and author of a commit, for display. Pure.
 */
import { printable } from '../../api/values.ts'

/** Made printable, and cut to 72 and 40 characters. */
export type CommitSummary = { subject: string; author: string }

/** Longer ones are cut. In characters. */
const maxSubject = 72
const maxAuthor = 40

/** Parses a commit as git stores it; undefined if both are missing. Never throws. */
export function parseCommitSummary(raw: Buffer): CommitSummary | undefined {
  const text = raw.toString('utf8')
  const end = text.indexOf('\n\n')
  if (end < 0) return undefined
  const author = /^author ([^<\n]*)</m.exec(text.slice(0, end + 1))?.[1]?.trim() ?? ''
  const [subject = ''] = text.slice(end).trimStart().split('\n', 1)
  if (subject === '' && author === '') return undefined
  return { subject: printable(subject.trim() || 'no message', maxSubject), author: printable(author || 'unknown author', maxAuthor) }
}
