/**
 * Provides the commits of one mirror: those that it holds, and those that it fetches on request. After a read failure the mirror's files are suspect,
 * and the next fetch creates a new mirror.
 */
import { Fault, type Reason } from '../../platform/fault.ts'
import { type CommitHash, printable } from '../../api/values.ts'
import { createCoalesce } from './coalesce.ts'
import { followedArtifact } from './fetch-artifact.ts'
import type { Fetched } from './listing.ts'
import type { ListedRef } from './listing.ts'
import type { MirrorFiles } from './mirror-files.ts'
import type { RecentCommits } from './known-commits.ts'

/** A commit under the name that led to it. */
export type NamedCommit = Fetched & {
  /** The full name of a ref, or the requested hash. */
  name: string
}

/** The operations that readers use. */
export class Commits {
  readonly #files: MirrorFiles
  readonly #recent: RecentCommits
  readonly #fetching: ReturnType<typeof createCoalesce<void>>

  /** `signal` aborts everything in progress. */
  constructor(files: MirrorFiles, recent: RecentCommits, signal: AbortSignal) {
    this.#files = files
    this.#recent = recent
    this.#fetching = createCoalesce<void>(signal)
  }

  /** Whether the mirror holds a commit. Throws the faults of git. */
  async has(commit: CommitHash, signal: AbortSignal): Promise<boolean> {
    const found = await this.#files.has(commit, signal)
    if (found) this.#recent.add(commit)
    return found
  }

  /** Fetches a commit unless the mirror holds it. Throws CommitGone, CommitNotServed and the faults of git. */
  async ensure(commit: CommitHash, signal: AbortSignal): Promise<void> {
    if (await this.#isPresent(commit, signal)) return
    await this.#fetching(commit, (shared) => this.#fetchCommit(commit, shared), signal)
    this.#files.tidyUp()
  }

  /** The commit from the mirror, else from the host. Throws RefNotFound, CommitNotServed and the faults of git. */
  async byHash(commit: CommitHash, signal: AbortSignal): Promise<NamedCommit> {
    const isPresent = await this.#isPresent(commit, signal)
    return isPresent ? { commit, name: commit, tag: undefined } : await this.#fetchOnly(commit, signal)
  }

  /** What an artifact is followed by: a tag, range or digest. Throws RefNotFound and the faults of a registry. */
  async byRevision(followed: string, signal: AbortSignal): Promise<NamedCommit> {
    return await this.#fetchOnly(followedArtifact(followed), signal)
  }

  /** Fetches the first of these full ref names that the host has; undefined if it has none. Throws the faults of git. */
  async byRef(names: readonly string[], signal: AbortSignal): Promise<NamedCommit | undefined> {
    for (const name of names) {
      try {
        return await this.#fetch(name, signal)
      } catch (error) {
        if (reasonOf(error) !== 'RefNotFound') throw error
      }
    }
    this.#files.trust()
    return undefined
  }

  /** What a listing of the host shows: from the mirror, else fetched by its name. Throws RefNotFound and the faults of git. */
  async listed(ref: ListedRef, signal: AbortSignal): Promise<NamedCommit> {
    return (await this.#isPresent(ref.commit, signal)) ? ref : await this.#fetchOnly(ref.name, signal)
  }

  /**
   * A commit, or the annotated tag that `name` points to, byte by byte as git stores it; fetched again when a clean-up has dropped it.
   * Throws NotVerified for one that is too large, CommitGone when `name` no longer leads to it, and the faults of git.
   */
  async rawObject(type: 'commit' | 'tag', id: CommitHash, name: string, signal: AbortSignal): Promise<Buffer> {
    const object = await this.#unlessSuspect(() => this.#files.rawObject(type, id, signal), signal)
    if (object !== undefined) return object
    await this.#fetchOnly(name, signal)
    const fetched = await this.#files.rawObject(type, id, signal)
    if (fetched === undefined) throw new Fault('CommitGone', `${printable(name)} no longer points to ${type} ${id}`)
    return fetched
  }

  async #isPresent(commit: CommitHash, signal: AbortSignal): Promise<boolean> {
    return (await this.#unlessSuspect(() => this.has(commit, signal), signal)) === true
  }

  /** Runs a read; undefined if the files are suspect already, or become so by its failure. */
  async #unlessSuspect<Value>(read: () => Promise<Value>, signal: AbortSignal): Promise<Value | undefined> {
    if (this.#files.isSuspect()) return undefined
    try {
      return await read()
    } catch (error) {
      if (signal.aborted || !this.#files.suspect(error)) throw error
      return undefined
    }
  }

  async #fetchCommit(commit: CommitHash, signal: AbortSignal): Promise<void> {
    try {
      await this.#fetchOnly(commit, signal)
    } catch (error) {
      if (reasonOf(error) !== 'RefNotFound') throw error
      throw new Fault('CommitGone', `neither the mirror nor the git host has commit ${commit} anymore`, { cause: error })
    }
  }

  /** For something without another name. */
  async #fetchOnly(what: string, signal: AbortSignal): Promise<NamedCommit> {
    try {
      return await this.#fetch(what, signal)
    } catch (error) {
      const reason = reasonOf(error)
      if (reason === 'RefNotFound' || reason === 'CommitNotServed') this.#files.trust()
      throw error
    }
  }

  async #fetch(what: string, signal: AbortSignal): Promise<NamedCommit> {
    const fetched = await this.#files.fetch(what, signal)
    this.#recent.add(fetched.commit)
    return { name: what, ...fetched }
  }
}

function reasonOf(error: unknown): Reason | undefined {
  return error instanceof Fault ? error.reason : undefined
}
