/**
 * The files of one mirror and the one writer that changes them. A mirror is a cache: where git cannot work with its own files, a new one
 * is fetched aside and takes their place, in the same call; where that fails in the same way, the host is to blame and the old one stays.
 */
import { rmSync } from 'node:fs'
import { asFault, Fault, type Reason } from '../../fault.ts'
import { type CommitHash, isCommitHash, parseCommitHash } from '../../gatewaysync/values.ts'
import type { Log } from '../../log.ts'
import type { RepositoryUrl } from '../../gatewaysync/schema/repository-url.ts'
import type { Network } from '../remote/network.ts'
import { type GitLimits, runGit } from '../git/git.ts'
import type { GitMemory } from '../git/memory.ts'
import {
  countPacks,
  createFolder,
  incomingRef,
  isOwnFailure,
  isThoroughDue,
  keepRef,
  type ObjectFormat,
  openFolder,
  repack,
  replaceFolder,
  sizeOfFolder,
  sweep,
  writeConfig,
} from '../disk/mirror-folder.ts'
import { openHost } from '../host/call-host.ts'
import { readRawObject } from '../disk/raw-object.ts'
import type { Remote } from '../remote/remote.ts'
import type { Reservation } from './volume.ts'

/** A commit that the mirror has. */
export type Held = { commit: CommitHash; committedAt: string | undefined }

/** `tag` is the annotated tag that the fetched ref holds; undefined where it holds the commit itself. */
export type Fetched = Held & { tag: CommitHash | undefined }

export type MirrorFiles = {
  /** Fetches one exact ref or full hash and keeps the commit behind it under a ref of ours. Throws RefNotFound and the faults of git. */
  fetch(what: string, signal: AbortSignal): Promise<Fetched>
  /** An object byte by byte as git stores it; undefined where there is none of that kind. Throws NotVerified for one that is too large. */
  rawObject(type: 'commit' | 'tag', id: CommitHash, signal: AbortSignal): Promise<Buffer | undefined>
  /** Whether the host has a ref; nothing of what it holds is kept. Undefined where the files are doubted. Throws the faults of git. */
  isThere(ref: string, signal: AbortSignal): Promise<boolean | undefined>
  /** Whether a commit was fetched and kept. */
  has(commit: CommitHash, signal: AbortSignal): Promise<boolean>
  /** The same, and when it was made. */
  find(commit: CommitHash, signal: AbortSignal): Promise<Held | undefined>
  /** A failure to read: whether it may lie in these files. The next fetch makes a new mirror then. */
  doubt(error: unknown): boolean
  isDoubted(): boolean
  /** Makes few packs of many where it is time, beside other work. */
  tidyUp(): void
  /** Removes everything from the disk; used again, the mirror is made anew. */
  drop(): Promise<void>
  /** The same and a clean-up, where nothing is under way or waits; false: something is, and nothing was done. */
  dropIfIdle(): Promise<boolean>
  tidyIfIdle(): Promise<boolean>
  /** Settles when nothing is under way. */
  settled(): Promise<void>
}

type Options = {
  folder: string
  remote: Remote
  network: Network
  limits: GitLimits
  memory: GitMemory
  /** Room for the pack of a fetch. Throws SourceVolumeFull. */
  reserve(size: 'usual' | 'most'): Promise<Reservation>
  log: Log
  /** The commits that a clean-up leaves; undefined: all. */
  keptCommits(): ReadonlySet<string> | undefined
  /** Ends the clean-up, which nobody waits for. */
  signal: AbortSignal
}

const askTimeoutMs = 30_000
const fetchTimeoutMs = 600_000
const localTimeoutMs = 60_000
/** Of a fetch that is only to tell whether there is something: enough for a tag of a commit that is here. */
const glimpseBytes = 64 * 1024
/** What a host can only be told of that has begun to send. */
const hasBegunToSend: ReadonlySet<Reason> = new Set(['RepositoryTooLarge', 'RepositoryRefused', 'GitOutOfMemory', 'GitObjectMissing'])
/** Commits whose presence is remembered. */
const mostPresent = 1_000
/** So many packs are made one beside other work. */
const packsToTidy = 30
/** So many are made one before the next fetch: a process that ends after each one never has the time beside it. */
const mostPacks = 45

export function openMirrorFiles({
  folder,
  remote,
  network,
  limits,
  memory,
  reserve,
  log,
  keptCommits,
  signal: stop,
}: Options): MirrorFiles {
  let queue: Promise<unknown> = Promise.resolve()
  let state: 'unseen' | 'sound' | 'doubted' = 'unseen'
  let format: ObjectFormat = 'sha1'
  let pending = 0
  /** Commits seen to be there since anything was last taken away: each answer of delivery asks, and looking is a process of git. */
  const present = new Set<CommitHash>()
  let takenAway = 0
  /** What the mirror took after its last thorough clean-up; 0 where this process has made none. */
  let thoroughBytes = 0
  const { url } = remote

  /** Called before and after something is taken away: what was seen meanwhile may be gone. */
  const forgetPresent = (): void => {
    present.clear()
    takenAway += 1
  }

  const local = (at: string, args: readonly string[], signal: AbortSignal, input = ''): Promise<Buffer> =>
    runGit({ folder: at, args, input, timeoutMs: localTimeoutMs }, { limits, signal })
  const fromHost = openHost({ remote, network, limits, memory })

  /** One writer at a time; a failed one holds nobody up. */
  const exclusively = <Value>(work: () => Promise<Value>): Promise<Value> => {
    pending += 1
    const run = queue.then(work, work).finally(() => (pending -= 1))
    queue = run.catch(() => undefined)
    return run
  }

  const doubt = (error: unknown): boolean => {
    if (!isOwnFailure(error)) return false
    if (state !== 'doubted') log.warn({ reason: asFault(error).reason, message: asFault(error).message }, 'a mirror may be damaged')
    state = 'doubted'
    forgetPresent()
    return true
  }

  /** Called by the writer; anyone else waits for `ready`. */
  const prepare = async (signal: AbortSignal): Promise<void> => {
    if (state !== 'unseen') return
    const found = await openFolder(folder, limits, signal)
    if (found.kind === 'damaged') {
      log.warn({ reason: 'GitFailed', message: found.why }, 'a mirror may be damaged')
      state = 'doubted'
      return
    }
    if (found.kind === 'absent') {
      await createFolder(aside, format, limits, signal)
      replaceFolder(folder, aside)
    } else format = found.format
    state = 'sound'
  }
  const ready = async (signal: AbortSignal): Promise<void> => {
    if (state === 'unseen') await exclusively(() => prepare(signal))
  }
  const aside = `${folder}.new`

  const look = async (at: string, name: string, signal: AbortSignal): Promise<Held> =>
    parseHeld((await local(at, ['log', '-1', '--format=%H %ct', name, '--'], signal)).toString('latin1'))

  const fetchInto = async (at: string, what: string, signal: AbortSignal): Promise<Fetched> => {
    writeConfig(at, format)
    await fetchPack(at, ['fetch', ...fetchArguments(url, `+${what}:${incomingRef}`)], signal)
    const held = await look(at, `${incomingRef}^{commit}`, signal)
    await local(at, ['update-ref', keepRef(held.commit), held.commit], signal)
    if (at === folder) notePresent(held.commit)
    return { ...held, tag: what.startsWith('refs/tags/') ? await tagBehind(at, held.commit, signal) : undefined }
  }

  /** Few fetches need more than a small share of the volume; one that does begins anew with all that a pack may have. */
  const fetchPack = async (at: string, args: readonly string[], signal: AbortSignal): Promise<void> => {
    const fetchWith = async (room: Reservation): Promise<void> => {
      await fromHost({ at, args, timeoutMs: fetchTimeoutMs, maxPackBytes: room.maxPackBytes }, signal)
    }
    {
      using room = await reserve('usual')
      try {
        return await fetchWith(room)
      } catch (error) {
        if (!(error instanceof Fault) || error.reason !== 'RepositoryTooLarge') throw error
        sweep(at)
        if (room.maxPackBytes >= limits.maxPackBytes) throw tooLarge(limits.maxPackBytes, error)
      }
    }
    using room = await reserve('most')
    try {
      await fetchWith(room)
    } catch (error) {
      if (!(error instanceof Fault) || error.reason !== 'RepositoryTooLarge') throw error
      throw tooLarge(limits.maxPackBytes, error)
    }
  }

  const tagBehind = async (at: string, commit: CommitHash, signal: AbortSignal): Promise<CommitHash | undefined> => {
    const id = parseCommitHash((await local(at, ['rev-parse', incomingRef], signal)).toString('latin1').trim())
    return id === commit ? undefined : id
  }

  /** Into a new mirror, which takes the place of the old one only when it holds what was asked for. */
  const fetchAnew = async (what: string, signal: AbortSignal): Promise<Fetched> => {
    const before = format
    try {
      await createFolder(aside, format, limits, signal)
      format = await formatOfHost(what, signal)
      if (format !== before) await createFolder(aside, format, limits, signal)
      const held = await fetchInto(aside, what, signal)
      replaceFolder(folder, aside)
      forgetPresent()
      state = 'sound'
      log.info({ message: url.protocol, commit: held.commit }, 'a mirror was made anew')
      return held
    } catch (error) {
      rmSync(aside, { recursive: true, force: true })
      // A new mirror meets the same: the old one was not to blame.
      if (isOwnFailure(error)) state = 'unseen'
      format = before
      throw error
    }
  }

  /** How the host names objects; a mirror of the other format cannot fetch from it. */
  const formatOfHost = async (what: string, signal: AbortSignal): Promise<ObjectFormat> => {
    if (isCommitHash(what)) return what.length === 64 ? 'sha256' : 'sha1'
    const args = ['ls-remote', '-q', '--end-of-options', url.text, 'HEAD', what]
    const output = await fromHost({ at: aside, args, timeoutMs: askTimeoutMs }, signal)
    const [id = ''] = output.toString('latin1').split('\t')
    return id === '' ? format : id.length === 64 ? 'sha256' : 'sha1'
  }

  const tidyNow = async (signal: AbortSignal, thorough = isThoroughDue(sizeOfFolder(folder), thoroughBytes)): Promise<void> => {
    forgetPresent()
    try {
      await repack((args, own, input) => local(folder, args, own, input), { kept: keptCommits(), thorough }, signal)
      if (thorough) thoroughBytes = sizeOfFolder(folder)
    } catch (error) {
      if (signal.aborted) throw error
      sweep(folder)
      if (!doubt(error)) log.warn({ reason: asFault(error).reason, message: asFault(error).message }, 'a mirror was not tidied up')
    } finally {
      forgetPresent()
    }
  }

  const dropNow = async (): Promise<void> => {
    rmSync(folder, { recursive: true, force: true })
    forgetPresent()
    state = 'unseen'
  }

  const notePresent = (commit: CommitHash): void => {
    if (present.size >= mostPresent) present.clear()
    present.add(commit)
  }

  const has = async (commit: CommitHash, signal: AbortSignal): Promise<boolean> => {
    if (present.has(commit)) return true
    await ready(signal)
    const before = takenAway
    const found = await local(folder, ['cat-file', '--batch-check=%(objecttype)'], signal, `${keepRef(commit)}\n`)
    const isThere = found.toString('latin1').startsWith('commit')
    if (isThere && takenAway === before) notePresent(commit)
    return isThere
  }

  return {
    fetch: (what, signal) =>
      exclusively(async () => {
        await prepare(signal)
        if (state === 'sound' && countPacks(folder) >= mostPacks) await tidyNow(signal)
        if (state !== 'sound') return await fetchAnew(what, signal)
        try {
          return await fetchInto(folder, what, signal)
        } catch (error) {
          if (!signal.aborted && doubt(error)) return await fetchAnew(what, signal)
          // A killed fetch leaves lock files that would fail every later one.
          sweep(folder)
          throw error
        }
      }),
    isThere: (ref, signal) =>
      exclusively(async () => {
        await prepare(signal)
        if (state !== 'sound') return undefined
        writeConfig(folder, format)
        try {
          const args = ['fetch', '--dry-run', ...fetchArguments(url, ref)]
          await fromHost({ at: folder, args, timeoutMs: askTimeoutMs, maxPackBytes: glimpseBytes }, signal)
          return true
        } catch (error) {
          sweep(folder)
          if (!signal.aborted && error instanceof Fault && error.reason === 'RefNotFound') return false
          if (!signal.aborted && error instanceof Fault && hasBegunToSend.has(error.reason)) return true
          throw error
        }
      }),
    async rawObject(type, id, signal) {
      await ready(signal)
      return await readRawObject((args, own, input) => local(folder, args, own, input), type, id, signal)
    },
    has,
    find: async (commit, signal) => ((await has(commit, signal)) ? await look(folder, keepRef(commit), signal) : undefined),
    doubt,
    isDoubted: () => state === 'doubted',
    tidyUp() {
      if (state !== 'sound' || countPacks(folder) < packsToTidy) return
      exclusively(async () => {
        if (state === 'sound' && countPacks(folder) >= packsToTidy) await tidyNow(stop)
      }).catch(() => undefined)
    },
    drop: () => exclusively(dropNow),
    async dropIfIdle() {
      if (pending > 0) return false
      await exclusively(dropNow)
      return true
    },
    async tidyIfIdle() {
      if (pending > 0 || state === 'doubted') return false
      await exclusively(async () => {
        await prepare(stop)
        if (state === 'sound') await tidyNow(stop, true)
      })
      return true
    },
    async settled() {
      await queue
    },
  }
}

/** Of a fetch of one ref or commit with nothing of its history, behind `fetch`. */
function fetchArguments({ text }: RepositoryUrl, refspec: string): string[] {
  return [
    '-q',
    '--no-tags',
    '--no-write-fetch-head',
    '--no-recurse-submodules',
    '--depth=1',
    // One commit for the host to compare with; with every kept one it takes twice as long in a large repository.
    `--negotiation-tip=${incomingRef}*`,
    '--force',
    '--end-of-options',
    text,
    refspec,
  ]
}

function tooLarge(maxPackBytes: number, cause: Fault): Fault {
  const limit = Math.round(maxPackBytes / (1024 * 1024))
  return new Fault('RepositoryTooLarge', `the pack of the commit is larger than ${limit} MiB, which is the most for one fetch`, { cause })
}

/** `<commit> <seconds since 1970>`; a commit may claim any time. */
function parseHeld(line: string): Held {
  const [commit = '', time = ''] = line.trim().split(' ')
  const seconds = Number(time)
  const isTime = Number.isSafeInteger(seconds) && seconds > 0 && seconds < 8_640_000_000_000
  const instant = isTime ? Temporal.Instant.fromEpochMilliseconds(seconds * 1000) : undefined
  return { commit: parseCommitHash(commit), committedAt: instant?.toString({ smallestUnit: 'second' }) }
}
