/**
 * The commits of one mirror: those that it holds, and those that it fetches when they are asked for. Where the mirror's files cannot be
 * read, they are doubted, and the next fetch makes them anew.
 */
import { Fault } from '../../fault.ts'
import { type CommitHash, isCommitHash, printable } from '../../gatewaysync/values.ts'
import { forgetOldest } from './bounded.ts'
import { createCoalesce } from './coalesce.ts'
import type { Fetched, LocalCommit } from './fetch.ts'
import type { MirrorFiles } from './mirror-files.ts'
import type { RecentCommits } from './recent-commits.ts'

/** A commit under the name that led to it. */
export type NamedCommit = Fetched & {
  /** The full name of a ref, or the hash that was asked for. */
  name: string
}

export type Commits = {
  has(commit: CommitHash, signal: AbortSignal): Promise<boolean>
  /** Makes sure that a commit is there, if need be by fetching it. Throws CommitGone and the faults of git. */
  ensure(commit: CommitHash, signal: AbortSignal): Promise<void>
  /** The commit as it is held, else as the host has it. Throws RefNotFound and the faults of git. */
  byHash(commit: CommitHash, signal: AbortSignal): Promise<NamedCommit>
  /** What the host has under the full name of a ref; undefined where there is no such ref. Throws the faults of git. */
  byRef(ref: string, signal: AbortSignal): Promise<NamedCommit | undefined>
  /**
   * A commit, or the annotated tag that `name` holds, byte by byte as git stores it; fetched anew where a clean-up has dropped it. Throws
   * NotVerified for one that is too large to be looked at, CommitGone where `name` holds it no more, and the faults of git.
   */
  rawObject(type: 'commit' | 'tag', id: CommitHash, name: string, signal: AbortSignal): Promise<Buffer>
}

/** Commits whose names are remembered. */
const mostNames = 1_000

/** `signal` ends everything that is under way. */
export function openCommits(files: MirrorFiles, recent: RecentCommits, signal: AbortSignal): Commits {
  const fetching = createCoalesce<void>(signal)
  /** By which name a commit came, for hosts that give none by its hash. */
  const names = new Map<CommitHash, string>()

  const handOut = <Known extends LocalCommit>(held: Known): Known => {
    recent.add(held.commit)
    return held
  }
  const fetch = async (what: string, own: AbortSignal): Promise<NamedCommit> => {
    const fetched = handOut(await files.fetch(what, own))
    if (!isCommitHash(what)) names.set(fetched.commit, what)
    forgetOldest(names, mostNames)
    return { ...fetched, name: what }
  }
  const fetchIfThere = async (what: string, own: AbortSignal): Promise<NamedCommit | undefined> => {
    try {
      return await fetch(what, own)
    } catch (error) {
      if (error instanceof Fault && error.reason === 'RefNotFound') return undefined
      throw error
    }
  }
  const has = async (commit: CommitHash, own: AbortSignal): Promise<boolean> => {
    const found = await files.has(commit, own)
    if (found) recent.add(commit)
    return found
  }
  /** Undefined where the files are doubted, before or after the look into them. */
  const unlessDoubted = async <Value>(read: () => Promise<Value>, own: AbortSignal): Promise<Value | undefined> => {
    if (files.isDoubted()) return undefined
    try {
      return await read()
    } catch (error) {
      if (own.aborted || !files.doubt(error)) throw error
      return undefined
    }
  }
  /** By its hash, and where the host gives nothing by a hash, by the name that it came by before. */
  const fetchCommit = async (commit: CommitHash, own: AbortSignal): Promise<void> => {
    for (const name of [commit, names.get(commit)]) {
      if (name !== undefined && (await fetchIfThere(name, own))?.commit === commit) return
    }
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
      const held = await unlessDoubted(() => files.find(commit, own), own)
      return held === undefined ? await fetch(commit, own) : { ...handOut(held), name: commit, tag: undefined }
    },
    byRef: fetchIfThere,
    async rawObject(type, id, name, own) {
      const held = await unlessDoubted(() => files.rawObject(type, id, own), own)
      if (held !== undefined) return held
      await fetch(name, own)
      const fetched = await files.rawObject(type, id, own)
      if (fetched === undefined) throw new Fault('CommitGone', `${printable(name)} holds ${type} ${id} no more`)
      return fetched
    },
  }
}
