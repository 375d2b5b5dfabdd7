/**
 * The commits of one mirror: those that it holds, and those that it fetches on request. When the mirror's files cannot be read they are
 * doubted, and the next fetch goes into a new mirror.
 */
import { Fault } from '../../fault.ts'
import { type CommitHash, isCommitHash, printable } from '../../gatewaysync/values.ts'
import { forgetOldest } from './bounded.ts'
import { createCoalesce } from './coalesce.ts'
import type { Fetched } from './fetch.ts'
import type { MirrorFiles } from './mirror-files.ts'
import type { RecentCommits } from './recent-commits.ts'

/** A commit under the name that led to it. */
export type NamedCommit = Fetched & {
  /** The full name of a ref, or the hash that was asked for. */
  name: string
}

/** What readers ask a mirror for. */
export type Commits = {
  /** Whether the mirror holds a commit. Throws the faults of git. */
  has(commit: CommitHash, signal: AbortSignal): Promise<boolean>
  /** Fetches a commit unless the mirror holds it. Throws CommitGone and the faults of git. */
  ensure(commit: CommitHash, signal: AbortSignal): Promise<void>
  /** The commit from the mirror, else from the host. Throws RefNotFound and the faults of git. */
  byHash(commit: CommitHash, signal: AbortSignal): Promise<NamedCommit>
  /** Fetches what the host has under the first of these full names of refs that it has; undefined when it has none. Throws the faults of git. */
  byRef(names: readonly string[], signal: AbortSignal): Promise<NamedCommit | undefined>
  /**
   * A commit, or the annotated tag that `name` points to, byte by byte as git stores it; fetched again when a clean-up has dropped it. Throws
   * NotVerified for one that is too large, CommitGone when `name` no longer leads to it, and the faults of git.
   */
  rawObject(type: 'commit' | 'tag', id: CommitHash, name: string, signal: AbortSignal): Promise<Buffer>
}

/** How many commits' names are remembered. */
const mostNames = 1_000

/** `signal` aborts everything that is under way. */
export function openCommits(files: MirrorFiles, recent: RecentCommits, signal: AbortSignal): Commits {
  const fetching = createCoalesce<void>(signal)
  /** By which ref a commit was fetched, for hosts that serve no commit by its hash. */
  const names = new Map<CommitHash, string>()

  const fetch = async (what: string, own: AbortSignal): Promise<NamedCommit> => {
    const fetched = await files.fetch(what, own)
    recent.add(fetched.commit)
    if (!isCommitHash(what)) names.set(fetched.commit, what)
    forgetOldest(names, mostNames)
    return { ...fetched, name: what }
  }
  const fetchIfThere = async (what: string, own: AbortSignal): Promise<NamedCommit | undefined> => {
    try {
      return await fetch(what, own)
    } catch (error) {
      if (isNotFound(error)) return undefined
      throw error
    }
  }
  /** Of these names the first that the host has; with `commit` the first that leads there. */
  const fetchFirst = async (what: readonly string[], own: AbortSignal, commit?: CommitHash): Promise<NamedCommit | undefined> => {
    for (const name of what) {
      const found = await fetchIfThere(name, own)
      if (found !== undefined && (commit ?? found.commit) === found.commit) return found
    }
    files.trust()
    return undefined
  }
  /** Of something that has no other name. */
  const fetchOnly = async (what: string, own: AbortSignal): Promise<NamedCommit> => {
    try {
      return await fetch(what, own)
    } catch (error) {
      if (isNotFound(error)) files.trust()
      throw error
    }
  }
  const has = async (commit: CommitHash, own: AbortSignal): Promise<boolean> => {
    const found = await files.has(commit, own)
    if (found) recent.add(commit)
    return found
  }
  /** Undefined when the files are doubted already, or become so by a failure of this read. */
  const unlessDoubted = async <Value>(read: () => Promise<Value>, own: AbortSignal): Promise<Value | undefined> => {
    if (files.isDoubted()) return undefined
    try {
      return await read()
    } catch (error) {
      if (own.aborted || !files.doubt(error)) throw error
      return undefined
    }
  }
  /** Fetches by the hash, and from a host that serves nothing by a hash, by the ref that led to the commit before. */
  const fetchCommit = async (commit: CommitHash, own: AbortSignal): Promise<void> => {
    const name = names.get(commit)
    if ((await fetchFirst([commit, ...(name === undefined ? [] : [name])], own, commit)) !== undefined) return
    throw new Fault('CommitGone', `neither the mirror nor the git host has commit ${commit} any more`)
  }

  return {
    has,
    async ensure(commit, own) {
      if ((await unlessDoubted(() => has(commit, own), own)) === true) return
      await fetching(commit, (shared) => fetchCommit(commit, shared), own)
      files.tidyUp()
    },
    async byHash(commit, own) {
      const isHeld = await unlessDoubted(() => has(commit, own), own)
      return isHeld === true ? { commit, name: commit, tag: undefined } : await fetchOnly(commit, own)
    },
    byRef: fetchFirst,
    async rawObject(type, id, name, own) {
      const held = await unlessDoubted(() => files.rawObject(type, id, own), own)
      if (held !== undefined) return held
      await fetchOnly(name, own)
      const fetched = await files.rawObject(type, id, own)
      if (fetched === undefined) throw new Fault('CommitGone', `${printable(name)} holds ${type} ${id} no more`)
      return fetched
    },
  }
}

function isNotFound(error: unknown): boolean {
  return error instanceof Fault && error.reason === 'RefNotFound'
}
