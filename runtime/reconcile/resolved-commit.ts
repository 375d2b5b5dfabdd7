/**
 * The result of resolving a ref. Pure: a type.
 */
import type { CommitHash } from '../gatewaysync/values.ts'

/** A commit that is in the mirror. Times are RFC 3339. */
export type ResolvedCommit = {
  commit: CommitHash
  /** Undefined when the commit claims an impossible time. Throws RefNotFound for what is no commit, and the faults of git. */
  committedAt: Promise<string | undefined>
  fetchedAt: string
  /** The full name of the ref that led to it, or the hash. */
  name: string
  /** The annotated tag that the ref holds. */
  tag: CommitHash | undefined
  /** Whether the ref is a branch and a tag has the same name; never throws. */
  hasTagToo?: Promise<boolean>
}
