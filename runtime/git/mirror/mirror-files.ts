/**
 * Guards the files of one mirror: any number of readers, and one writer at a time that fetches, cleans up or drops. The namespaces that
 * share the mirror take turns, and each is charged for its own calls of git.
 */
import type { Clock } from '../../platform/clock.ts'
import { type CommitHash, isCommitHash } from '../../api/values.ts'
import type { Edit, Message } from '../content/make-commit.ts'
import { countPacks } from '../disk/mirror-folder.ts'
import { onVolume } from '../command/volume-fault.ts'
import { readRawObject } from '../disk/raw-object.ts'
import { committedAt, createRunLocal, type Push, type RunLocal } from './fetch.ts'
import type { Fetched, Indirect, Listing } from './listing.ts'
import { type FolderOptions, FolderState } from './folder-state.ts'
import { OneWriter, type WriterTurn } from './one-writer.ts'

/** The operations of one namespace on a mirror's files; each waits for its turn if it writes. */
export type MirrorFiles = {
  /**
   * Fetches one exact ref or full hash and keeps the commit behind it under a ref of the mirror. Throws RefNotFound and the faults of git.
   */
  fetch(what: string, signal: AbortSignal): Promise<Fetched>
  /**
   * An object byte by byte as git stores it; undefined if it does not exist with that type. Throws NotVerified for one that is too large.
   */
  rawObject(type: 'commit' | 'tag', id: CommitHash, signal: AbortSignal): Promise<Buffer | undefined>
  /** Lists the followed ref on the host, without fetching it. Throws RepositoryTooLarge and the faults of git. */
  list(followed: Indirect, signal: AbortSignal): Promise<Listing>
  /** Whether the host has a ref; fetched objects are not kept. Undefined when the files are suspect. Throws the faults of git. */
  isThere(ref: string, signal: AbortSignal): Promise<boolean | undefined>
  /** Creates a commit on top of one in these files, and keeps it. Throws CommitGone, PayloadMalformed and the faults of git. */
  commit(parent: CommitHash, edits: readonly Edit[], message: Message, signal: AbortSignal): Promise<CommitHash>
  /** Pushes a commit of these files. Throws PushRefused and the faults of git. */
  push(what: Push, signal: AbortSignal): Promise<void>
  /** Whether a commit was fetched and kept. */
  has(commit: CommitHash, signal: AbortSignal): Promise<boolean>
  /** The commit time of a held commit, RFC 3339; undefined if it claims an impossible time. Throws the faults of git. */
  committedAt(commit: CommitHash, signal: AbortSignal): Promise<string | undefined>
  /** Whether a failed read may be caused by these files; if so, the next fetch makes a new mirror. */
  suspect(error: unknown): boolean
  isSuspect(): boolean
  /** The host lacks the requested object. If a new mirror got the same answer, these files count as sound again. */
  trust: FolderState['trust']
  /** When there are many packs, merges them once nothing has been fetched for two seconds. Returns at once; never throws. */
  tidyUp(): void
  /** Removes everything from the disk; the next use creates the mirror again. */
  drop(): Promise<void>
  /** Drops, or tidies up thoroughly, only when no work is running or waiting; returns false otherwise, without doing anything. */
  dropIfIdle(): Promise<boolean>
  tidyIfIdle(signal: AbortSignal): Promise<boolean>
  /** Refuses all further changes, so that another writer may use the folder, unless one is running or waiting. Returns whether it does. */
  close(): boolean
  /** Settles when no work is running. */
  settled(): Promise<void>
}

/** `signal` ends the clean-up that runs beside other work. */
type Options = FolderOptions & { clock: Clock; signal: AbortSignal }

/** From this many packs on they are merged once nothing has been fetched for a while. */
const packsToTidy = 30
/** A push that arrives during the clean-up has to wait for it, and one push is often followed by another. */
const quietMs = 2_000
/** How long a namespace may hold the mirror while it waits for memory that it uses itself. */
const maxWaitMs = 1_000
/** From this many packs on they are merged before the next fetch: a process that is always busy, or ends after each fetch, has no other time. */
const maxPacks = 55

/**
 * Returns the files as each namespace uses them. Nothing is read or written before the first call. Reads throw the faults of git; the caller
 * passes them to `suspect`. A full volume is SourceVolumeFull.
 */
export function openMirrorFiles(options: Options): (namespace: string) => MirrorFiles {
  const files = new SharedFiles(options)
  const { state } = files
  return (namespace) => ({
    fetch: (what, signal) => files.fetch(namespace, what, signal),
    list: (followed, signal) =>
      files.change({ namespace, equal: `list ${followed}`, signal }, (own) => state.list(namespace, followed, own)),
    isThere: (ref, signal) => files.change({ namespace, equal: `find ${ref}`, signal }, (own) => state.isThere(namespace, ref, own)),
    commit: (...how) => files.commit(namespace, ...how),
    push: (what, signal) => files.write({ namespace, signal }, (own) => state.push(namespace, what, own)),
    rawObject: (type, id, signal) => files.rawObject(type, id, signal),
    has: (commit, signal) => files.has(commit, signal),
    committedAt: (commit, signal) => files.committedAt(commit, signal),
    suspect: (error) => state.suspect(error),
    isSuspect: () => state.is('suspect'),
    trust: () => state.trust(),
    tidyUp: () => files.tidyUp(namespace),
    drop: () => files.drop(),
    async dropIfIdle() {
      if (!files.isIdle) return false
      await files.drop()
      return true
    },
    tidyIfIdle: (signal) => files.tidyIfIdle(namespace, signal),
    close: () => files.close(),
    settled: () => files.settled(),
  })
}

/** The files, which all namespaces share. */
class SharedFiles {
  readonly state: FolderState
  readonly #options: Options
  readonly #local: RunLocal
  readonly #writer: OneWriter
  #fetches = 0
  #tidying: Promise<void> | undefined

  constructor(options: Options) {
    this.#options = options
    this.#local = createRunLocal(options.limits)
    this.#writer = new OneWriter((namespace) => waitsForItself(options, namespace))
    this.state = new FolderState(options)
  }

  get isIdle(): boolean {
    return this.#writer.isIdle
  }

  close(): boolean {
    return this.#writer.close()
  }

  async settled(): Promise<void> {
    await this.#tidying
    await this.#writer.settled()
  }

  /** Runs `work` in a turn of the writer. */
  async write<Value>(turn: WriterTurn, work: (own: AbortSignal) => Promise<Value>): Promise<Value> {
    return await this.#writer.run(turn, (giveWay) =>
      onVolume(() => work(turn.signal === undefined ? giveWay : AbortSignal.any([turn.signal, giveWay]))),
    )
  }

  /** Runs `work` in a turn of the writer, once the folder is prepared. */
  async change<Value>(turn: WriterTurn, work: (own: AbortSignal) => Promise<Value>): Promise<Value> {
    return await this.write(turn, async (own) => {
      await this.state.prepare(own)
      return await work(own)
    })
  }

  async fetch(namespace: string, what: string, signal: AbortSignal): Promise<Fetched> {
    const { state } = this
    const waits = !this.isIdle
    return await this.write({ namespace, equal: `fetch ${what}`, signal }, async (own) => {
      this.#fetches += 1
      await state.prepare(own)
      // The namespace before may have fetched it.
      if (waits && state.is('sound') && isCommitHash(what) && (await state.has(what, own))) return { commit: what, tag: undefined }
      if (this.#isTidyDue(maxPacks)) await state.tidy(namespace, own)
      return await state.fetch(namespace, what, own)
    })
  }

  async commit(...how: Parameters<FolderState['commit']>): Promise<CommitHash> {
    const [namespace, , , , signal] = how
    return await this.write({ namespace }, async () => {
      await this.state.prepare(signal)
      return await this.state.commit(...how)
    })
  }

  async has(commit: CommitHash, signal: AbortSignal): Promise<boolean> {
    await this.#ready(signal)
    return await this.state.has(commit, signal)
  }

  async rawObject(type: 'commit' | 'tag', id: CommitHash, signal: AbortSignal): Promise<Buffer | undefined> {
    await this.#ready(signal)
    return await readRawObject((args, own, input) => this.#local(this.#options.folder, args, own, input), type, id, signal)
  }

  async committedAt(commit: CommitHash, signal: AbortSignal): Promise<string | undefined> {
    return await committedAt(this.#local, this.#options.folder, commit, signal)
  }

  tidyUp(namespace: string): void {
    if (this.#tidying !== undefined || !this.#isTidyDue(packsToTidy)) return
    this.#tidying = this.#tidyWhenQuiet(namespace)
      .catch(() => undefined)
      .finally(() => (this.#tidying = undefined))
  }

  async tidyIfIdle(namespace: string, signal: AbortSignal): Promise<boolean> {
    const { state } = this
    const { signal: stop } = this.#options
    if (!this.isIdle || state.is('suspect')) return false
    const own = AbortSignal.any([stop, signal])
    try {
      await this.change({ namespace, signal: own }, async (either) => {
        if (state.is('sound')) await state.tidy(namespace, either, true)
      })
    } catch (error) {
      if (stop.aborted || !own.aborted) throw error
    }
    return true
  }

  async drop(): Promise<void> {
    await this.#writeForAll(async () => this.state.drop())
  }

  async #writeForAll(work: () => Promise<void>): Promise<void> {
    await this.write({ namespace: '' }, work)
  }

  async #ready(signal: AbortSignal): Promise<void> {
    if (this.state.is('unseen')) await this.#writeForAll(() => this.state.prepare(signal))
  }

  #isTidyDue(minPacks: number): boolean {
    return this.state.is('sound') && countPacks(this.#options.folder) >= minPacks
  }

  async #tidyWhenQuiet(namespace: string): Promise<void> {
    const { clock, signal: stop } = this.#options
    for (let before = -1; before !== this.#fetches;) {
      before = this.#fetches
      await clock.wait(quietMs, stop)
    }
    // In a turn of the namespace that pays for it, so that it gives way while it waits for that namespace's memory.
    await this.write({ namespace, signal: stop }, async (own) => {
      if (this.#isTidyDue(packsToTidy)) await this.state.tidy(namespace, own)
    })
  }
}

/** Whether a call of git for this mirror waits for memory because its namespace uses its share: that may take minutes. */
function waitsForItself({ memory, remote }: FolderOptions, namespace: string): boolean {
  const waits = memory.limiter.waits(namespace)
  return waits.some(({ owner, waitedMs, exceedsShare }) => owner === remote.url.text && exceedsShare && waitedMs >= maxWaitMs)
}
