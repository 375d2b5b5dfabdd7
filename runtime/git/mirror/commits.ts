/**
 * Provides the commits of one mirror: those that it holds, and those that it fetches on request. After a read failure the mirror's files are suspect,
 * and the next fetch creates a new mirror.
 */
import { Fault, type Reason } from '../../platform/fault.ts'
import { type CommitHash, printable } from '../../api/values.ts'
import { createCoalesce } from './coalesce.ts'
import type { Fetched } from './listing.ts'
import type { ListedRef } from './listing.ts'
import type { MirrorFiles } from './mirror-files.ts'
import type { RecentCommits } from './recent-commits.ts'

/** A commit under the name that led to it. */
export type NamedCommit = Fetched & {
  /** The full name of a ref, or the requested hash. */
  name: string
}

/** The operations that readers use. */
export type Commits = {
  /** Whether the mirror holds a commit. Throws the faults of git. */
  has(commit: CommitHash, signal: AbortSignal): Promise<boolean>
  /** Fetches a commit unless the mirror holds it. Throws CommitGone, CommitNotServed and the faults of git. */
  ensure(commit: CommitHash, signal: AbortSignal): Promise<void>
  /** The commit from the mirror, else from the host. Throws RefNotFound, CommitNotServed and the faults of git. */
  byHash(commit: CommitHash, signal: AbortSignal): Promise<NamedCommit>
  /** Fetches the first of these full ref names that the host has; undefined if it has none. Throws the faults of git. */
  byRef(names: readonly string[], signal: AbortSignal): Promise<NamedCommit | undefined>
  /** What a listing of the host shows: from the mirror, else fetched by its name. Throws RefNotFound and the faults of git. */
  listed(ref: ListedRef, signal: AbortSignal): Promise<NamedCommit>
  /**
   * A commit, or the annotated tag that `name` points to, byte by byte as git stores it; fetched again when a clean-up has dropped it. Throws
   * NotVerified for one that is too large, CommitGone when `name` no longer leads to it, and the faults of git.
   */
  rawObject(type: 'commit' | 'tag', id: CommitHash, name: string, signal: AbortSignal): Promise<Buffer>
}

/** `signal` aborts everything that is under way. */
export function openCommits(files: MirrorFiles, recent: RecentCommits, signal: AbortSignal): Commits {
  const fetching = createCoalesce<void>(signal)

  const fetch = async (what: string, own: AbortSignal): Promise<NamedCommit> => {
    const fetched = await files.fetch(what, own)
    recent.add(fetched.commit)
    return { ...fetched, name: what }
  }
  const fetchFirst = async (names: readonly string[], own: AbortSignal): Promise<NamedCommit | undefined> => {
    for (const name of names) {
      try {
        return await fetch(name, own)
      } catch (error) {
        if (reasonOf(error) !== 'RefNotFound') throw error
      }
    }
    files.trust()
    return undefined
  }
  /** For something without another name. */
  const fetchOnly = async (what: string, own: AbortSignal): Promise<NamedCommit> => {
    try {
      return await fetch(what, own)
    } catch (error) {
      const reason = reasonOf(error)
      if (reason === 'RefNotFound' || reason === 'CommitNotServed') files.trust()
      throw error
    }
  }
  const has = async (commit: CommitHash, own: AbortSignal): Promise<boolean> => {
    const found = await files.has(commit, own)
    if (found) recent.add(commit)
    return found
  }
  /** Undefined when the files are suspect already, or become so by a failure of this read. */
  const unlessSuspect = async <Value>(read: () => Promise<Value>, own: AbortSignal): Promise<Value | undefined> => {
    if (files.isSuspect()) return undefined
    try {
      return await read()
    } catch (error) {
      if (own.aborted || !files.suspect(error)) throw error
      return undefined
    }
  }
  const fetchCommit = async (commit: CommitHash, own: AbortSignal): Promise<void> => {
    try {
      await fetchOnly(commit, own)
    } catch (error) {
      if (reasonOf(error) !== 'RefNotFound') throw error
      throw new Fault('CommitGone', `neither the mirror nor the git host has commit ${commit} any more`, { cause: error })
    }
  }

  return {
    has,
    async ensure(commit, own) {
      if ((await unlessSuspect(() => has(commit, own), own)) === true) return
      await fetching(commit, (shared) => fetchCommit(commit, shared), own)
      files.tidyUp()
    },
    async byHash(commit, own) {
      const isPresent = await unlessSuspect(() => has(commit, own), own)
      return isPresent === true ? { commit, name: commit, tag: undefined } : await fetchOnly(commit, own)
    },
    byRef: fetchFirst,
    async listed(ref, own) {
      const isPresent = await unlessSuspect(() => has(ref.commit, own), own)
      return isPresent === true ? ref : await fetchOnly(ref.name, own)
    },
    async rawObject(type, id, name, own) {
      const object = await unlessSuspect(() => files.rawObject(type, id, own), own)
      if (object !== undefined) return object
      await fetchOnly(name, own)
      const fetched = await files.rawObject(type, id, own)
      if (fetched === undefined) throw new Fault('CommitGone', `${printable(name)} no longer points to ${type} ${id}`)
      return fetched
    },
  }
}

function reasonOf(error: unknown): Reason | undefined {
  return error instanceof Fault ? error.reason : undefined
}
