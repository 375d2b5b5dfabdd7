/**
 * Guards the files of one mirror: any number of readers, and one writer at a time that fetches, cleans up or drops. The namespaces that
 * share the mirror take turns, and each is charged for its own calls of git.
 */
import type { Clock } from '../../platform/clock.ts'
import { type CommitHash, isCommitHash } from '../../api/values.ts'
import { countPacks } from '../disk/mirror-folder.ts'
import { onVolume } from '../command/no-room.ts'
import { readRawObject } from '../disk/raw-object.ts'
import { committedAt, createRunLocal, type Push } from './fetch.ts'
import type { Fetched, Indirect, Listing } from './listing.ts'
import { type FolderOptions, type FolderState, openFolderState } from './folder-state.ts'
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
  commit: FolderState['commit']
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
  /** Refuses all changes from now on, so that another writer may use the folder, unless one is running or waiting. Returns whether it does. */
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
  const { folder, limits, clock, signal: stop } = options
  const local = createRunLocal(limits)
  const writer = new OneWriter((namespace) => waitsForItself(options, namespace))
  const state = openFolderState(options)
  const writeFor = async <Value>(turn: WriterTurn, work: (own: AbortSignal) => Promise<Value>): Promise<Value> =>
    await writer.run(turn, (giveWay) => onVolume(() => work(turn.signal === undefined ? giveWay : AbortSignal.any([turn.signal, giveWay]))))
  const write = async <Value>(work: () => Promise<Value>): Promise<Value> => await writeFor({ namespace: '' }, work)
  let fetches = 0
  let tidying: Promise<void> | undefined

  const ready = async (signal: AbortSignal): Promise<void> => {
    if (state.is('unseen')) await write(() => state.prepare(signal))
  }
  const has = async (commit: CommitHash, signal: AbortSignal): Promise<boolean> => {
    await ready(signal)
    return await state.has(commit, signal)
  }
  const isTidyDue = (minPacks: number): boolean => state.is('sound') && countPacks(folder) >= minPacks
  const tidyWhenQuiet = async (namespace: string): Promise<void> => {
    for (let before = -1; before !== fetches;) {
      before = fetches
      await clock.wait(quietMs, stop)
    }
    await write(async () => {
      if (isTidyDue(packsToTidy)) await state.tidy(namespace, stop)
    })
  }
  const fetch = async (namespace: string, what: string, signal: AbortSignal): Promise<Fetched> => {
    const waits = !writer.isIdle
    return await writeFor({ namespace, equal: `fetch ${what}`, signal }, async (own) => {
      fetches += 1
      await state.prepare(own)
      // The namespace before may have fetched it.
      if (waits && state.is('sound') && isCommitHash(what) && (await state.has(what, own))) return { commit: what, tag: undefined }
      if (isTidyDue(maxPacks)) await state.tidy(namespace, own)
      return await state.fetch(namespace, what, own)
    })
  }
  return (namespace) => ({
    fetch: (what, signal) => fetch(namespace, what, signal),
    list: (followed, signal) =>
      writeFor({ namespace, equal: `list ${followed}`, signal }, async (own) => {
        await state.prepare(own)
        return await state.list(namespace, followed, own)
      }),
    isThere: (ref, signal) =>
      writeFor({ namespace, equal: `find ${ref}`, signal }, async (own) => {
        await state.prepare(own)
        return await state.isThere(namespace, ref, own)
      }),
    commit: (parent, edits, message, signal) =>
      writeFor({ namespace }, async () => {
        await state.prepare(signal)
        return await state.commit(parent, edits, message, signal)
      }),
    push: (what, signal) => writeFor({ namespace, signal }, (own) => state.push(namespace, what, own)),
    async rawObject(type, id, signal) {
      await ready(signal)
      return await readRawObject((args, own, input) => local(folder, args, own, input), type, id, signal)
    },
    has,
    committedAt: (commit, signal) => committedAt(local, folder, commit, signal),
    suspect: state.suspect,
    isSuspect: () => state.is('suspect'),
    trust: state.trust,
    tidyUp() {
      if (tidying !== undefined || !isTidyDue(packsToTidy)) return
      tidying = tidyWhenQuiet(namespace)
        .catch(() => undefined)
        .finally(() => (tidying = undefined))
    },
    drop: () => write(async () => state.drop()),
    async dropIfIdle() {
      if (!writer.isIdle) return false
      await write(async () => state.drop())
      return true
    },
    async tidyIfIdle(signal) {
      if (!writer.isIdle || state.is('suspect')) return false
      const own = AbortSignal.any([stop, signal])
      try {
        await write(async () => {
          await state.prepare(own)
          if (state.is('sound')) await state.tidy(namespace, own, true)
        })
      } catch (error) {
        if (stop.aborted || !own.aborted) throw error
      }
      return true
    },
    close: () => writer.close(),
    async settled() {
      await tidying
      await writer.settled()
    },
  })
}

/** Whether a call of git for this mirror waits for memory because its namespace uses its share: that may take minutes. */
function waitsForItself({ memory, remote }: FolderOptions, namespace: string): boolean {
  const waits = memory.limiter.waits(namespace)
  return waits.some(({ owner, waitedMs, exceedsShare }) => owner === remote.url.text && exceedsShare && waitedMs >= maxWaitMs)
}
