/**
 * The state of a mirror's folder, and what may be done in each. A mirror is a cache: when git cannot work with its files, a new one is
 * fetched beside it and takes its place in the same call. If that fails in the same way, the host is the cause and the old one is kept.
 *
 *     unseen --prepare--> sound --suspect, prepare--> suspect --fetch--> sound
 */
import { rmSync } from 'node:fs'
import { asFault, Fault } from '../../platform/fault.ts'
import type { Digest } from '../../api/artifact-revision.ts'
import { isArtifact } from '../../api/schema/repository-url.ts'
import type { CommitHash, ObjectFormat } from '../../api/values.ts'
import type { Log } from '../../platform/log/log.ts'
import { type Edit, makeCommit, type Message } from '../content/make-commit.ts'
import {
  createFolder,
  isCommit,
  isOwnFailure,
  isThoroughDue,
  keepCommit,
  keepRef,
  openFolder,
  repack,
  replaceFolder,
  sizeOfFolder,
  sweep,
} from '../disk/mirror-folder.ts'
import { volumeFault } from '../command/volume-fault.ts'
import type { GitLimits } from '../command/git.ts'
import { type GitMemory, smallLimits } from '../command/memory.ts'
import type { ReadingMemory } from '../command/reading-memory.ts'
import { type CallHost, openHost } from '../host/call-host.ts'
import type { Network } from '../remote/network.ts'
import type { Remote } from '../remote/remote.ts'
import { createArtifactFetches, type Verdicts } from './fetch-artifact.ts'
import { createFetches, createRunLocal, type Fetches, type Push } from './fetch.ts'
import type { Fetched, Indirect, Listing } from './listing.ts'
import type { Reservation } from './volume.ts'
import { createPresentCommits, type PresentCommits } from './known-commits.ts'

type State = 'unseen' | 'sound' | 'suspect'

/** One mirror: its folder and repository, and its shares of disk and memory. */
export type FolderOptions = {
  folder: string
  remote: Remote
  network: Network
  limits: GitLimits
  memory: GitMemory
  readingMemory: ReadingMemory
  /** Reserves space for the pack of a fetch. Throws SourceVolumeFull. */
  reserve(namespace: string, size: 'usual' | 'most'): Promise<Reservation>
  log: Log
  /** The digest of the artifact that a commit was created from, if a status names it. */
  digestOf(commit: CommitHash): Digest | undefined
  verdicts: Verdicts
  /** The commits that a clean-up keeps; undefined: all. */
  keptCommits(): ReadonlySet<string> | undefined
}

/**
 * Nothing is read or written before the first call. Only the one writer may call `prepare`, `fetch`, `list`, `isThere`, `commit`, `push`,
 * `tidy` and `drop`. `namespace`: which one a call to the host is for.
 */
export class FolderState {
  readonly #options: FolderOptions
  readonly #aside: string
  readonly #fetches: Fetches
  readonly #present: PresentCommits
  #state: State = 'unseen'
  #format: ObjectFormat = 'sha1'
  /** The mirror's size after its last thorough clean-up; 0 when this process has made none. */
  #thoroughBytes = 0
  /** Whether the host had nothing for a new mirror either, since the folder last became suspect. */
  #isMissingInNew = false

  constructor(options: FolderOptions) {
    const { folder, limits } = options
    const local = createRunLocal(limits)
    this.#options = options
    this.#aside = `${folder}.new`
    this.#fetches = openFetches(options)
    this.#present = createPresentCommits((commit, own) => isCommit((...call) => local(folder, ...call), keepRef(commit), own))
  }

  is(state: State): boolean {
    return this.#state === state
  }

  /** Opens the folder if that has not been done: creates an absent one, marks a damaged one as suspect. Throws the faults of git. */
  async prepare(signal: AbortSignal): Promise<void> {
    if (this.#state !== 'unseen') return
    const { folder, limits } = this.#options
    const found = await openOrCreate({ folder, aside: this.#aside, format: this.#format, limits }, signal)
    this.#state = 'sound'
    if (found.kind === 'sound') this.#format = found.format
    else if (found.kind === 'damaged') this.suspect(new Fault('GitFailed', found.why))
  }

  /** Fetches into the folder or, when it is suspect, into a new one that replaces it. Throws RefNotFound and the faults of git. */
  async fetch(namespace: string, what: string, signal: AbortSignal): Promise<Fetched> {
    if (this.#state !== 'sound') return await this.#fetchNew(namespace, what, signal)
    const { folder } = this.#options
    try {
      const fetched = await this.#fetches.fetch({ at: folder, namespace, format: this.#format }, what, signal)
      this.#present.add(fetched.commit)
      return fetched
    } catch (error) {
      if (!signal.aborted && this.suspect(error)) return await this.#fetchNew(namespace, what, signal)
      // A killed fetch leaves lock files that would fail every later one.
      sweep(folder)
      throw error
    }
  }

  /** Lists the followed ref on the host. Throws RepositoryTooLarge and the faults of git. */
  async list(namespace: string, followed: Indirect, signal: AbortSignal): Promise<Listing> {
    const read = (at: string) => this.#fetches.list({ at, namespace, format: this.#format }, followed, signal)
    try {
      if (this.#state === 'sound') return await read(this.#options.folder)
    } catch (error) {
      if (signal.aborted || !this.suspect(error)) throw error
    }
    return await inNewFolder(this.#aside, this.#format, read).catch((error: unknown) => {
      // The new folder failed in the same way, so the old one is not the cause.
      if (isOwnFailure(error)) this.#state = 'unseen'
      throw error
    })
  }

  /** Whether the host has a ref; undefined when the folder is suspect. Throws the faults of git. */
  async isThere(namespace: string, ref: string, signal: AbortSignal): Promise<boolean | undefined> {
    if (this.#state !== 'sound') return undefined
    return await this.#fetches.isThere({ at: this.#options.folder, namespace, format: this.#format }, ref, signal)
  }

  /** Creates a commit on top of one in the folder, and keeps it. Throws CommitGone, PayloadMalformed and the faults of git. */
  async commit(namespace: string, parent: CommitHash, edits: readonly Edit[], message: Message, signal: AbortSignal): Promise<CommitHash> {
    const { folder, limits, readingMemory } = this.#options
    if (!(await this.has(parent, signal))) throw new Fault('CommitGone', `the mirror no longer has commit ${parent}`)
    const commit = await makeCommit({ folder, limits, start: readingMemory.startFor(namespace) }, parent, edits, message, signal)
    keepCommit(folder, commit)
    this.#present.add(commit)
    return commit
  }

  /** Pushes a commit of the folder. Throws PushRefused and the faults of git. */
  async push(namespace: string, what: Push, signal: AbortSignal): Promise<void> {
    await this.#fetches.push({ at: this.#options.folder, namespace }, what, signal)
  }

  /** Whether a commit was fetched and kept. Readers may call it too, once the folder is prepared. Throws the faults of git. */
  async has(commit: CommitHash, signal: AbortSignal): Promise<boolean> {
    return await this.#present.has(commit, signal)
  }

  /** Merges packs, within git's memory; a failure is logged. `thorough`: also drops unneeded objects; by default when that is due. */
  async tidy(namespace: string, signal: AbortSignal, thorough = this.#isThoroughDue()): Promise<void> {
    this.#present.forget()
    try {
      if (await repackWithin(this.#options, namespace, thorough, signal)) this.#thoroughBytes = sizeOfFolder(this.#options.folder)
    } catch (error) {
      if (signal.aborted) throw error
      if (!this.suspect(error)) warn(this.#options.log, error, 'a mirror was not cleaned up')
    } finally {
      this.#present.forget()
    }
  }

  drop(): void {
    rmSync(this.#options.folder, { recursive: true, force: true })
    this.#present.forget()
    this.#state = 'unseen'
  }

  /** Whether a failure to read or fetch may be caused by the folder; if so, it is suspect from then on. */
  suspect(error: unknown): boolean {
    if (!isOwnFailure(error)) return false
    if (this.#state !== 'suspect') warn(this.#options.log, error, 'a mirror may be damaged')
    this.#state = 'suspect'
    this.#isMissingInNew = false
    this.#present.forget()
    return true
  }

  /** The host does not have the requested commit: if a new mirror got the same answer, the folder is no longer suspect. */
  trust(): void {
    if (this.#state === 'suspect' && this.#isMissingInNew) this.#state = 'unseen'
  }

  #isThoroughDue(): boolean {
    return isThoroughDue(sizeOfFolder(this.#options.folder), this.#thoroughBytes)
  }

  /** Fetches into a new mirror, which replaces the old one only when it holds the requested commit. */
  async #fetchNew(namespace: string, what: string, signal: AbortSignal): Promise<Fetched> {
    const { folder, remote, log } = this.#options
    try {
      const into = { folder, aside: this.#aside, namespace, format: this.#format, fetches: this.#fetches }
      const { fetched, format } = await fetchIntoNew(into, what, signal)
      this.#format = format
      this.#present.forget()
      this.#state = 'sound'
      log.info({ protocol: remote.url.protocol, commit: fetched.commit }, 'recreated a mirror')
      return fetched
    } catch (thrown) {
      const error = volumeFault(thrown)
      const reason = error instanceof Fault ? error.reason : undefined
      // The new mirror failed in the same way, so the old one is not the cause. Without space for a new one, the old one is still served.
      if (isOwnFailure(error) || reason === 'SourceVolumeFull') this.#state = 'unseen'
      // The requested commit may have another name, which a suspect mirror must not be used for.
      this.#isMissingInNew = reason === 'RefNotFound' || reason === 'CommitNotServed'
      throw error
    }
  }
}

function openFetches(options: FolderOptions): Fetches {
  const { remote, limits, reserve } = options
  if (isArtifact(remote.url)) return createArtifactFetches(options)
  const hostAs = (other: Remote): CallHost => openHost({ ...options, remote: other })
  return createFetches({ url: remote.url, callHost: hostAs(remote), hostAs, limits, reserve })
}

/** Checks the folder of a mirror, and creates it if it is absent. */
async function openOrCreate(
  { folder, aside, format, limits }: { folder: string; aside: string; format: ObjectFormat; limits: GitLimits },
  signal: AbortSignal,
) {
  const found = await openFolder(folder, smallLimits(limits), signal)
  if (found.kind !== 'absent') return found
  createFolder(aside, format)
  replaceFolder(folder, aside)
  return found
}

/** Works in a new folder, which is removed afterwards unless it was moved away: git may fail in the folder of a suspect mirror. */
async function inNewFolder<Value>(at: string, format: ObjectFormat, work: (at: string) => Promise<Value>): Promise<Value> {
  createFolder(at, format)
  try {
    return await work(at)
  } finally {
    rmSync(at, { recursive: true, force: true })
  }
}

/** Fetches into a new mirror with the object format of the host, and replaces the old one with it. */
async function fetchIntoNew(
  {
    folder,
    aside,
    namespace,
    format: fallback,
    fetches,
  }: { folder: string; aside: string; namespace: string; format: ObjectFormat; fetches: Fetches },
  what: string,
  signal: AbortSignal,
): Promise<{ fetched: Fetched; format: ObjectFormat }> {
  return await inNewFolder(aside, fallback, async (at) => {
    const format = await fetches.formatOfHost({ at, namespace }, what, fallback, signal)
    if (format !== fallback) createFolder(at, format)
    const fetched = await fetches.fetch({ at, namespace, format }, what, signal)
    replaceFolder(folder, at)
    return { fetched, format }
  })
}

/** Repacks within a share of git's memory: the small one, or the large one if that does not suffice. */
async function repackWithin(
  { folder, remote, limits, memory, keptCommits }: FolderOptions,
  namespace: string,
  thorough: boolean,
  signal: AbortSignal,
): Promise<boolean> {
  // Not the git host's: the duration is unrelated to it.
  const user = { namespace, host: '', repository: remote.url.text }
  const kept = keptCommits()
  const repackAs = async (size: 'small' | 'large'): Promise<boolean> =>
    await memory.run(size, user, signal, async (ofSize, own) => {
      const local = createRunLocal(limits, { ...limits, ...ofSize })
      try {
        return await repack((...call) => local(folder, ...call), { kept, thorough }, own)
      } catch (error) {
        // Its leftovers would fail the next attempt.
        sweep(folder)
        throw error
      }
    })
  try {
    return await repackAs('small')
  } catch (error) {
    if (!(error instanceof Fault) || error.reason !== 'GitOutOfMemory') throw error
    return await repackAs('large')
  }
}

function warn(log: Log, error: unknown, what: string): void {
  const { reason, message } = asFault(error)
  log.warn({ reason, message }, what)
}
