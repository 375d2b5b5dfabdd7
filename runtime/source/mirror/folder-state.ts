/**
 * The state of a mirror's folder, and what may be done in each. A mirror is a cache: when git cannot work with its files, a new one is
 * fetched beside it and takes its place in the same call. If that fails in the same way, the host is to blame and the old one stays.
 *
 *     unseen --prepare--> sound --doubt, prepare--> doubted --fetch--> sound
 */
import { rmSync } from 'node:fs'
import { asFault, Fault } from '../../fault.ts'
import type { CommitHash, ObjectFormat } from '../../gatewaysync/values.ts'
import type { Log } from '../../log.ts'
import { type Edit, makeCommit, type Message } from '../content/make-commit.ts'
import {
  createFolder,
  isOwnFailure,
  isThoroughDue,
  keepCommit,
  keepRef,
  type Local,
  openFolder,
  repack,
  replaceFolder,
  sizeOfFolder,
  sweep,
} from '../disk/mirror-folder.ts'
import { volumeFault } from '../git/no-room.ts'
import type { GitLimits } from '../git/git.ts'
import type { GitMemory } from '../git/memory.ts'
import { openHost } from '../host/call-host.ts'
import type { Network } from '../remote/network.ts'
import type { Remote } from '../remote/remote.ts'
import { createFetches, createRunLocal, type Fetched, type Push } from './fetch.ts'
import { createPresentCommits, type PresentCommits } from './present-commits.ts'
import type { Reservation } from './volume.ts'

/** Only the one writer may call `prepare`, `fetch`, `isThere`, `commit`, `push`, `tidy` and `drop`. */
export type FolderState = {
  /** Opens the folder if that has not been done: creates an absent one, doubts a damaged one. Throws the faults of git. */
  prepare(signal: AbortSignal): Promise<void>
  /** Fetches into the folder or, when it is doubted, into a new one that replaces it. Throws RefNotFound and the faults of git. */
  fetch(what: string, signal: AbortSignal): Promise<Fetched>
  /** Whether the host has a ref; undefined when the folder is doubted. Throws the faults of git. */
  isThere(ref: string, signal: AbortSignal): Promise<boolean | undefined>
  /** Makes a commit on one that the folder holds, and keeps it. Throws CommitGone, PayloadMalformed and the faults of git. */
  commit(parent: CommitHash, edits: readonly Edit[], message: Message, signal: AbortSignal): Promise<CommitHash>
  /** Pushes a commit of the folder. Throws PushRefused and the faults of git. */
  push(what: Push, signal: AbortSignal): Promise<void>
  /** Merges packs; a failure is logged. `thorough`: also drops what is not needed; by default when that is due. */
  tidy(signal: AbortSignal, thorough?: boolean): Promise<void>
  drop(): void
  /** Whether a failure to read or fetch may be the folder's fault; if so, it is doubted from now on. */
  doubt(error: unknown): boolean
  /** The host has nothing of what was asked for: where a new mirror was told so too, the folder is doubted no more. */
  trust(): void
  is(state: State): boolean
  /** Whether a commit was fetched and kept. Readers may call it too, once the folder is prepared. Throws the faults of git. */
  has(commit: CommitHash, signal: AbortSignal): Promise<boolean>
}

type State = 'unseen' | 'sound' | 'doubted'

/** One mirror: where it lies, what it mirrors, and the shares of disk and memory that it works within. */
export type FolderOptions = {
  folder: string
  remote: Remote
  network: Network
  limits: GitLimits
  memory: GitMemory
  /** Room for the pack of a fetch. Throws SourceVolumeFull. */
  reserve(size: 'usual' | 'most'): Promise<Reservation>
  log: Log
  /** The commits that a clean-up keeps; undefined: all. */
  keptCommits(): ReadonlySet<string> | undefined
}

/** Nothing is read or written before the first call. */
export function openFolderState(options: FolderOptions): FolderState {
  const { folder, remote, limits, log } = options
  const aside = `${folder}.new`
  const local = createRunLocal(limits)
  const fetches = createFetches({
    url: remote.url,
    callHost: openHost(options),
    hostAs: (other) => openHost({ ...options, remote: other }),
    limits,
    reserve: options.reserve,
  })
  const present = createPresentCommits((...how) => isKept((...call) => local(folder, ...call), ...how))
  let state: State = 'unseen'
  let format: ObjectFormat = 'sha1'
  /** The mirror's size after its last thorough clean-up; 0 when this process has made none. */
  let thoroughBytes = 0
  /** Whether the host had nothing for a new mirror either, since the folder was last doubted. */
  let isToldAnew = false

  const doubt = (error: unknown): boolean => {
    if (!isOwnFailure(error)) return false
    if (state !== 'doubted') warn(log, error, 'a mirror may be damaged')
    state = 'doubted'
    isToldAnew = false
    present.forget()
    return true
  }

  /** Fetches into a new mirror, which replaces the old one only when it holds what was asked for. */
  const fetchAnew = async (what: string, signal: AbortSignal): Promise<Fetched> => {
    const before = format
    try {
      createFolder(aside, format)
      format = await fetches.formatOfHost(aside, what, format, signal)
      if (format !== before) createFolder(aside, format)
      const fetched = await fetches.fetch({ at: aside, format }, what, signal)
      replaceFolder(folder, aside)
      present.forget()
      state = 'sound'
      log.info({ message: remote.url.protocol, commit: fetched.commit }, 'a mirror was made anew')
      return fetched
    } catch (thrown) {
      const error = volumeFault(thrown)
      const reason = error instanceof Fault ? error.reason : undefined
      format = before
      // The new mirror failed in the same way, so the old one is not to blame. Without room for a new one, what the old one has is served still.
      if (isOwnFailure(error) || reason === 'SourceVolumeFull') state = 'unseen'
      // What was asked for may have another name, which a doubted mirror must not be asked for.
      isToldAnew = reason === 'RefNotFound'
      rmSync(aside, { recursive: true, force: true })
      throw error
    }
  }

  return {
    async prepare(signal) {
      if (state !== 'unseen') return
      const found = await openFolder(folder, limits, signal)
      if (found.kind === 'absent') {
        createFolder(aside, format)
        replaceFolder(folder, aside)
      } else if (found.kind === 'sound') format = found.format
      state = 'sound'
      if (found.kind === 'damaged') doubt(new Fault('GitFailed', found.why))
    },
    async fetch(what, signal) {
      if (state !== 'sound') return await fetchAnew(what, signal)
      try {
        const fetched = await fetches.fetch({ at: folder, format }, what, signal)
        present.add(fetched.commit)
        return fetched
      } catch (error) {
        if (!signal.aborted && doubt(error)) return await fetchAnew(what, signal)
        // A killed fetch leaves lock files that would fail every later one.
        sweep(folder)
        throw error
      }
    },
    isThere: async (ref, signal) => (state === 'sound' ? await fetches.isThere({ at: folder, format }, ref, signal) : undefined),
    commit: (...how) => commitIn({ folder, limits, present }, ...how),
    push: (what, signal) => fetches.push(folder, what, signal),
    async tidy(signal, thorough = isThoroughDue(sizeOfFolder(folder), thoroughBytes)) {
      present.forget()
      try {
        if (await repack((...call) => local(folder, ...call), { kept: options.keptCommits(), thorough }, signal))
          thoroughBytes = sizeOfFolder(folder)
      } catch (error) {
        if (signal.aborted) throw error
        sweep(folder)
        if (!doubt(error)) warn(log, error, 'a mirror was not tidied up')
      } finally {
        present.forget()
      }
    },
    drop() {
      rmSync(folder, { recursive: true, force: true })
      present.forget()
      state = 'unseen'
    },
    doubt,
    trust() {
      if (state === 'doubted' && isToldAnew) state = 'unseen'
    },
    is: (asked) => state === asked,
    has: present.has,
  }
}

/** `local` runs git in the folder. */
async function isKept(local: Local, commit: CommitHash, signal: AbortSignal): Promise<boolean> {
  const found = await local(['cat-file', '--batch-check=%(objecttype)'], signal, `${keepRef(commit)}\n`)
  return found.toString('latin1').startsWith('commit')
}

async function commitIn(
  { folder, limits, present }: Pick<FolderOptions, 'folder' | 'limits'> & { present: PresentCommits },
  ...[parent, edits, message, signal]: Parameters<FolderState['commit']>
): Promise<CommitHash> {
  if (!(await present.has(parent, signal))) throw new Fault('CommitGone', `the mirror holds commit ${parent} no more`)
  const commit = await makeCommit({ folder, limits }, parent, edits, message, signal)
  keepCommit(folder, commit)
  present.add(commit)
  return commit
}

function warn(log: Log, error: unknown, what: string): void {
  const { reason, message } = asFault(error)
  log.warn({ reason, message }, what)
}
