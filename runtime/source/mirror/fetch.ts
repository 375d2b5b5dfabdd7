/**
 * What one mirror asks of its git host: single refs and commits, without history, into a folder of the caller's choice.
 */
import { Fault, type Reason } from '../../fault.ts'
import type { RepositoryUrl } from '../../gatewaysync/schema/repository-url.ts'
import { type CommitHash, isCommitHash, type ObjectFormat, objectFormatOf, parseCommitHash } from '../../gatewaysync/values.ts'
import { incomingId, incomingRef, keepCommit, keepRef, sweep, writeConfig } from '../disk/mirror-folder.ts'
import { type GitLimits, runGit } from '../git/git.ts'
import type { CallHost } from '../host/call-host.ts'
import type { Remote } from '../remote/remote.ts'
import type { Reservation } from './volume.ts'

/** `tag` is the annotated tag that the fetched ref points to; undefined when it points to the commit itself. */
export type Fetched = { commit: CommitHash; tag: CommitHash | undefined }

/** Runs a git without network in the folder `at` and returns what it prints. Throws the faults of git. */
export type RunLocal = (at: string, args: readonly string[], signal: AbortSignal, input?: string) => Promise<Buffer>

/** A folder of a mirror, and how its objects are named. */
type Into = { at: string; format: ObjectFormat }

/** Only the one writer of a mirror may call these. */
export type Fetches = {
  /** Fetches one exact ref or full hash and keeps the commit behind it under a ref of ours. Throws RefNotFound and the faults of git. */
  fetch(into: Into, what: string, signal: AbortSignal): Promise<Fetched>
  /** Whether the host has a ref; nothing is kept of what it points to. Throws the faults of git. */
  isThere(into: Into, ref: string, signal: AbortSignal): Promise<boolean>
  /**
   * The hash with which the host names objects, `usual` when it has nothing to show that; a mirror of the other format cannot fetch from it.
   * Throws the faults of git.
   */
  formatOfHost(at: string, what: string, usual: ObjectFormat, signal: AbortSignal): Promise<ObjectFormat>
  /**
   * Makes a new branch at the host for a commit of the folder, or moves one on that points to an ancestor. Throws PushRefused where the branch
   * is something else by then, and the faults of git.
   */
  push(at: string, what: Push, signal: AbortSignal): Promise<void>
}

/** A commit to push. `moves`: the branch is there already and goes on to this commit; else it must be new. `as`: with other credentials. */
export type Push = { commit: CommitHash; branch: string; moves?: boolean; as?: Remote }

type Deps = {
  url: RepositoryUrl
  callHost: CallHost
  /** The same host, called with the credentials of another remote. */
  hostAs(remote: Remote): CallHost
  limits: GitLimits
  /** Room for the pack of a fetch. Throws SourceVolumeFull. */
  reserve(size: 'usual' | 'most'): Promise<Reservation>
}

const askTimeoutMs = 30_000
const fetchTimeoutMs = 600_000
const localTimeoutMs = 60_000
/** The most that a fetch may bring that only asks whether a ref exists: enough for a tag of a commit that is held here. */
const glimpseBytes = 64 * 1024
/** Faults that prove that the host has the ref: it had begun to send it. */
const hasBegunToSend: ReadonlySet<Reason> = new Set(['RepositoryTooLarge', 'RepositoryRefused', 'GitOutOfMemory', 'GitObjectMissing'])

/** Each call is ended after a minute. */
export function createRunLocal(limits: GitLimits): RunLocal {
  return (at, args, signal, input = '') => runGit({ folder: at, args, input, timeoutMs: localTimeoutMs }, { limits, signal })
}

/** Never fetches tags along, history or submodules. */
export function createFetches(deps: Deps): Fetches {
  const { url, callHost, hostAs, limits } = deps
  const local = createRunLocal(limits)
  return {
    async fetch({ at, format }, what, signal) {
      writeConfig(at, format)
      await fetchPack(deps, at, fetchArguments(url, `+${what}:${incomingRef}`), signal)
      // A branch holds a commit, as whoever asks when it was committed finds confirmed: no git is waited for that has to look.
      const held = what.startsWith('refs/heads/') ? incomingId(at) : undefined
      const commit = held ?? (await idOf(local, at, `${incomingRef}^{commit}`, signal))
      keepCommit(at, commit)
      return { commit, tag: what.startsWith('refs/tags/') ? await tagBefore(local, at, commit, signal) : undefined }
    },
    async isThere({ at, format }, ref, signal) {
      writeConfig(at, format)
      try {
        const args = ['fetch', '--dry-run', ...fetchArguments(url, ref)]
        await callHost({ at, args, timeoutMs: askTimeoutMs, maxPackBytes: glimpseBytes }, signal)
        return true
      } catch (error) {
        sweep(at)
        if (!signal.aborted && error instanceof Fault && error.reason === 'RefNotFound') return false
        if (!signal.aborted && error instanceof Fault && hasBegunToSend.has(error.reason)) return true
        throw error
      }
    },
    async formatOfHost(at, what, usual, signal) {
      if (isCommitHash(what)) return objectFormatOf(what)
      const args = ['ls-remote', '-q', '--end-of-options', url.text, 'HEAD', what]
      const output = await callHost({ at, args, timeoutMs: askTimeoutMs }, signal)
      const [id = ''] = output.toString('latin1').split('\t')
      return id === '' ? usual : objectFormatOf(id)
    },
    async push(at, { commit, branch, moves = false, as }, signal) {
      const ref = `refs/heads/${branch}`
      // An empty lease: the branch must not exist yet. Without one the host moves a branch only to what follows it. Nobody's work is lost.
      const args = [
        'push',
        '-q',
        '--no-verify',
        '--no-follow-tags',
        ...(moves ? [] : [`--force-with-lease=${ref}:`]),
        '--end-of-options',
        url.text,
        `${commit}:${ref}`,
      ]
      await (as === undefined ? callHost : hostAs(as))({ at, args, timeoutMs: fetchTimeoutMs }, signal)
    },
  }
}

/** Few fetches need more than a small share of the volume; one that does is repeated with room for the largest pack allowed. */
async function fetchPack({ callHost, reserve, limits }: Deps, at: string, args: readonly string[], signal: AbortSignal): Promise<void> {
  const fetchWith = async ({ maxPackBytes }: Reservation): Promise<void> => {
    await callHost({ at, args: ['fetch', ...args], timeoutMs: fetchTimeoutMs, maxPackBytes }, signal)
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

/** The arguments after `fetch` for one ref or commit without its history. */
function fetchArguments({ text }: RepositoryUrl, refspec: string): string[] {
  return [
    '-q',
    '--no-tags',
    '--no-write-fetch-head',
    '--no-recurse-submodules',
    '--depth=1',
    // Offers the host one commit to compare with; offering every kept one doubles the time in a large repository.
    `--negotiation-tip=${incomingRef}*`,
    '--force',
    '--end-of-options',
    text,
    refspec,
  ]
}

/** The tag that the last fetch brought; undefined when it brought the commit itself. */
async function tagBefore(local: RunLocal, at: string, commit: CommitHash, signal: AbortSignal): Promise<CommitHash | undefined> {
  const id = await idOf(local, at, incomingRef, signal)
  return id === commit ? undefined : id
}

/** Throws the faults of git. */
async function idOf(local: RunLocal, at: string, name: string, signal: AbortSignal): Promise<CommitHash> {
  return parseCommitHash((await local(at, ['rev-parse', '--verify', '--end-of-options', name], signal)).toString('latin1').trim())
}

/**
 * When a kept commit was committed, RFC 3339; undefined when it claims an impossible time. Throws RefNotFound for what is no commit, and the
 * faults of git.
 */
export async function committedAt(local: RunLocal, at: string, commit: CommitHash, signal: AbortSignal): Promise<string | undefined> {
  const line = (await local(at, ['log', '-1', '--format=%H %ct', keepRef(commit), '--'], signal)).toString('latin1')
  const [id = '', time = ''] = line.trim().split(' ')
  if (id !== commit) throw new Fault('RefNotFound', `the git host has ${commit} for a commit, and it is none`)
  const seconds = Number(time)
  const isTime = Number.isSafeInteger(seconds) && seconds > 0 && seconds < 8_640_000_000_000
  return isTime ? Temporal.Instant.fromEpochMilliseconds(seconds * 1000).toString({ smallestUnit: 'second' }) : undefined
}

function tooLarge(maxPackBytes: number, cause: Fault): Fault {
  const limit = Math.round(maxPackBytes / (1024 * 1024))
  return new Fault('RepositoryTooLarge', `the pack of the commit is larger than ${limit} MiB, which is the most for one fetch`, { cause })
}
