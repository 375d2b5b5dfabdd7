/**
 * The state of a mirror's folder, and what may be done in each. A mirror is a cache: when git cannot work with its files, a new one is
 * fetched beside it and takes its place in the same call. If that fails in the same way, the host is to blame and the old one stays.
 *
 *     unseen --prepare--> sound --suspect, prepare--> suspect --fetch--> sound
 */
import { rmSync } from 'node:fs'
import { asFault, Fault } from '../../platform/fault.ts'
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
import { volumeFault } from '../command/no-room.ts'
import type { GitLimits } from '../command/git.ts'
import type { GitMemory } from '../command/memory.ts'
import { type CallHost, openHost } from '../host/call-host.ts'
import type { Network } from '../remote/network.ts'
import type { Remote } from '../remote/remote.ts'
import { createFetches, createRunLocal, type Fetches, type Push } from './fetch.ts'
import type { Fetched, Indirect, Listing } from './listing.ts'
import { createPresentCommits, type PresentCommits } from './present-commits.ts'
import type { Reservation } from './volume.ts'

/**
 * Only the one writer may call `prepare`, `fetch`, `list`, `isThere`, `commit`, `push`, `tidy` and `drop`. `namespace`: which one a call to
 * the host is for.
 */
export type FolderState = {
  /** Opens the folder if that has not been done: creates an absent one, marks a damaged one as suspect. Throws the faults of git. */
  prepare(signal: AbortSignal): Promise<void>
  /** Fetches into the folder or, when it is suspect, into a new one that replaces it. Throws RefNotFound and the faults of git. */
  fetch(namespace: string, what: string, signal: AbortSignal): Promise<Fetched>
  /** Lists the followed ref on the host. Throws RepositoryTooLarge and the faults of git. */
  list(namespace: string, followed: Indirect, signal: AbortSignal): Promise<Listing>
  /** Whether the host has a ref; undefined when the folder is suspect. Throws the faults of git. */
  isThere(namespace: string, ref: string, signal: AbortSignal): Promise<boolean | undefined>
  /** Creates a commit on top of one in the folder, and keeps it. Throws CommitGone, PayloadMalformed and the faults of git. */
  commit(parent: CommitHash, edits: readonly Edit[], message: Message, signal: AbortSignal): Promise<CommitHash>
  /** Pushes a commit of the folder. Throws PushRefused and the faults of git. */
  push(namespace: string, what: Push, signal: AbortSignal): Promise<void>
  /** Merges packs, within git's memory; a failure is logged. `thorough`: also drops unneeded objects; by default when that is due. */
  tidy(namespace: string, signal: AbortSignal, thorough?: boolean): Promise<void>
  drop(): void
  /** Whether a failure to read or fetch may be caused by the folder; if so, it is suspect from now on. */
  suspect(error: unknown): boolean
  /** The host does not have the requested commit: if a new mirror got the same answer, the folder is no longer suspect. */
  trust(): void
  is(state: State): boolean
  /** Whether a commit was fetched and kept. Readers may call it too, once the folder is prepared. Throws the faults of git. */
  has(commit: CommitHash, signal: AbortSignal): Promise<boolean>
}

type State = 'unseen' | 'sound' | 'suspect'

/** One mirror: its folder and repository, and its shares of disk and memory. */
export type FolderOptions = {
  folder: string
  remote: Remote
  network: Network
  limits: GitLimits
  memory: GitMemory
  /** Reserves space for the pack of a fetch. Throws SourceVolumeFull. */
  reserve(namespace: string, size: 'usual' | 'most'): Promise<Reservation>
  log: Log
  /** The commits that a clean-up keeps; undefined: all. */
  keptCommits(): ReadonlySet<string> | undefined
}

/** Nothing is read or written before the first call. */
export function openFolderState(options: FolderOptions): FolderState {
  const { folder, remote, limits, log } = options
  const aside = `${folder}.new`
  const local = createRunLocal(limits)
  const fetches = openFetches(options)
  const present = createPresentCommits((commit, own) => isCommit((...call) => local(folder, ...call), keepRef(commit), own))
  let state: State = 'unseen'
  let format: ObjectFormat = 'sha1'
  /** The mirror's size after its last thorough clean-up; 0 when this process has made none. */
  let thoroughBytes = 0
  /** Whether the host had nothing for a new mirror either, since the folder last became suspect. */
  let isMissingInNew = false

  const suspect = (error: unknown): boolean => {
    if (!isOwnFailure(error)) return false
    if (state !== 'suspect') warn(log, error, 'a mirror may be damaged')
    state = 'suspect'
    isMissingInNew = false
    present.forget()
    return true
  }

  /** Fetches into a new mirror, which replaces the old one only when it holds the requested commit. */
  const fetchNew = async (namespace: string, what: string, signal: AbortSignal): Promise<Fetched> => {
    try {
      const { fetched, format: formatOfHost } = await fetchIntoNew({ folder, aside, namespace, format, fetches }, what, signal)
      format = formatOfHost
      present.forget()
      state = 'sound'
      log.info({ message: remote.url.protocol, commit: fetched.commit }, 'recreated a mirror')
      return fetched
    } catch (thrown) {
      const error = volumeFault(thrown)
      const reason = error instanceof Fault ? error.reason : undefined
      // The new mirror failed in the same way, so the old one is not the cause. Without space for a new one, the old one is still served.
      if (isOwnFailure(error) || reason === 'SourceVolumeFull') state = 'unseen'
      // The requested commit may have another name, which a suspect mirror must not be used for.
      isMissingInNew = reason === 'RefNotFound' || reason === 'CommitNotServed'
      throw error
    }
  }

  return {
    async prepare(signal) {
      if (state !== 'unseen') return
      const found = await openOrCreate({ folder, aside, format, limits }, signal)
      state = 'sound'
      if (found.kind === 'sound') format = found.format
      else if (found.kind === 'damaged') suspect(new Fault('GitFailed', found.why))
    },
    async fetch(namespace, what, signal) {
      if (state !== 'sound') return await fetchNew(namespace, what, signal)
      try {
        const fetched = await fetches.fetch({ at: folder, namespace, format }, what, signal)
        present.add(fetched.commit)
        return fetched
      } catch (error) {
        if (!signal.aborted && suspect(error)) return await fetchNew(namespace, what, signal)
        // A killed fetch leaves lock files that would fail every later one.
        sweep(folder)
        throw error
      }
    },
    async list(namespace, followed, signal) {
      const read = (at: string) => fetches.list({ at, namespace, format }, followed, signal)
      try {
        if (state === 'sound') return await read(folder)
      } catch (error) {
        if (signal.aborted || !suspect(error)) throw error
      }
      return await inNewFolder(aside, format, read).catch((error: unknown) => {
        // The new folder failed in the same way, so the old one is not the cause.
        if (isOwnFailure(error)) state = 'unseen'
        throw error
      })
    },
    isThere: async (namespace, ref, signal) =>
      state === 'sound' ? await fetches.isThere({ at: folder, namespace, format }, ref, signal) : undefined,
    commit: (...how) => commitIn({ folder, limits, present }, ...how),
    push: (namespace, what, signal) => fetches.push({ at: folder, namespace }, what, signal),
    async tidy(namespace, signal, thorough = isThoroughDue(sizeOfFolder(folder), thoroughBytes)) {
      present.forget()
      try {
        if (await repackWithin(options, namespace, thorough, signal)) thoroughBytes = sizeOfFolder(folder)
      } catch (error) {
        if (signal.aborted) throw error
        if (!suspect(error)) warn(log, error, 'a mirror was not tidied up')
      } finally {
        present.forget()
      }
    },
    drop() {
      rmSync(folder, { recursive: true, force: true })
      present.forget()
      state = 'unseen'
    },
    suspect,
    trust() {
      if (state === 'suspect' && isMissingInNew) state = 'unseen'
    },
    is: (asked) => state === asked,
    has: present.has,
  }
}

function openFetches(options: FolderOptions): Fetches {
  const { remote, limits, reserve } = options
  const hostAs = (other: Remote): CallHost => openHost({ ...options, remote: other })
  return createFetches({ url: remote.url, callHost: hostAs(remote), hostAs, limits, reserve })
}

/** Checks the folder of a mirror, and creates it if it is absent. */
async function openOrCreate(
  { folder, aside, format, limits }: { folder: string; aside: string; format: ObjectFormat; limits: GitLimits },
  signal: AbortSignal,
) {
  const found = await openFolder(folder, limits, signal)
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
  // Not the git host's: how long this takes says nothing about it.
  const user = { namespace, host: '', repository: remote.url.text }
  const kept = keptCommits()
  const repackAs = async (size: 'small' | 'large'): Promise<boolean> =>
    await memory.run(size, user, signal, async (ofSize, own) => {
      const local = createRunLocal({ ...limits, ...ofSize })
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

async function commitIn(
  { folder, limits, present }: Pick<FolderOptions, 'folder' | 'limits'> & { present: PresentCommits },
  ...[parent, edits, message, signal]: Parameters<FolderState['commit']>
): Promise<CommitHash> {
  if (!(await present.has(parent, signal))) throw new Fault('CommitGone', `the mirror no longer has commit ${parent}`)
  const commit = await makeCommit({ folder, limits }, parent, edits, message, signal)
  keepCommit(folder, commit)
  present.add(commit)
  return commit
}

function warn(log: Log, error: unknown, what: string): void {
  const { reason, message } = asFault(error)
  log.warn({ reason, message }, what)
}
