/**
 * Fetches from the git host of one mirror: single refs and commits, without history, into a folder that the caller chooses.
 */
import { Fault, type Reason } from '../../platform/fault.ts'
import { commonPrefix, isTagSelector } from '../../api/followed-ref.ts'
import type { RepositoryUrl } from '../../api/schema/repository-url.ts'
import { type CommitHash, isCommitHash, type ObjectFormat, objectFormatOf, parseCommitHash } from '../../api/values.ts'
import { forgetIncoming, incomingRef, isCommit, keepCommit, keepRef, sweep, writeConfig } from '../disk/mirror-folder.ts'
import { type GitLimits, runGit } from '../command/git.ts'
import { smallLimits } from '../command/memory.ts'
import { commitTime, requireSmallHead, requireSmallObject } from '../disk/raw-object.ts'
import type { CallHost, HostCall } from '../host/call-host.ts'
import type { Remote } from '../remote/remote.ts'
import { createHistorySearch } from './history-search.ts'
import { type Fetched, type Indirect, type Listing, readListing } from './listing.ts'
import type { Reservation } from './volume.ts'

/** Runs a git without network in the folder `at` and returns its output. Throws the faults of git. */
export type RunLocal = (at: string, args: readonly string[], signal: AbortSignal, input?: string) => Promise<Buffer>

/** A folder of a mirror, and the namespace that the call is for, which its cost is charged to. */
type MirrorFolder = { at: string; namespace: string }
type Into = MirrorFolder & { format: ObjectFormat }

/** Only the one writer of a mirror may call these. */
export type Fetches = {
  /**
   * Fetches one exact ref or full hash and keeps the commit behind it under a ref of the mirror. Throws RefNotFound, CommitNotServed and
   * the faults of git.
   */
  fetch(into: Into, what: string, signal: AbortSignal): Promise<Fetched>
  /** Lists the followed ref on the host, without fetching it. Throws RepositoryTooLarge and the faults of git. */
  list(into: Into, followed: Indirect, signal: AbortSignal): Promise<Listing>
  /** Whether the host has a ref; fetched objects are not kept. Throws the faults of git. */
  isThere(into: Into, ref: string, signal: AbortSignal): Promise<boolean>
  /**
   * The object format of the host, `fallback` if the host shows no object; a mirror with the other format cannot fetch from it. Throws the faults of
   * git.
   */
  formatOfHost(place: MirrorFolder, what: string, fallback: ObjectFormat, signal: AbortSignal): Promise<ObjectFormat>
  /**
   * Creates a branch at the host for a commit of the folder, or moves one that points to an ancestor. Throws PushRefused if the branch is
   * something else by then, and the faults of git.
   */
  push(place: MirrorFolder, what: Push, signal: AbortSignal): Promise<void>
}

/** A commit to push. `moves`: the branch exists and moves to this commit; otherwise it must be new. `as`: with other credentials. */
export type Push = { commit: CommitHash; branch: string; moves?: boolean; as?: Remote }

type Deps = {
  url: RepositoryUrl
  callHost: CallHost
  /** The same host, called with the credentials of another remote. */
  hostAs(remote: Remote): CallHost
  limits: GitLimits
  /** Reserves space for the pack of a fetch. Throws SourceVolumeFull. */
  reserve(namespace: string, size: 'usual' | 'most'): Promise<Reservation>
}

const queryTimeoutMs = 30_000
const fetchTimeoutMs = 600_000
/** Tags of tags are rare. */
const maxTags = 5
const localTimeoutMs = 60_000
/** The maximum size of a fetch that only checks whether a ref exists: enough for a tag of a commit that is held here. */
const glimpseBytes = 64 * 1024
/** Faults that prove that the host has the ref: it had begun to send it. */
const reasonsAfterSendBegan: ReadonlySet<Reason> = new Set([
  'RepositoryTooLarge',
  'RepositoryRefused',
  'GitOutOfMemory',
  'GitObjectMissing',
])

/** Each call is ended after a minute. By default it has the memory to read refs, commits and tags. */
export function createRunLocal(all: GitLimits, limits = smallLimits(all)): RunLocal {
  return (at, args, signal, input = '') => runGit({ folder: at, args, input, timeoutMs: localTimeoutMs }, { limits, signal })
}

/** Fetches no submodules, no tags beside a commit, and history only if a commit cannot be fetched without it. */
export function createFetches(deps: Deps): Fetches {
  const { url, callHost, hostAs, limits } = deps
  const local = createRunLocal(limits)
  const history = openHistorySearch(deps, local)
  return {
    async fetch({ at, namespace, format }, what, signal) {
      writeConfig(at, format)
      try {
        await fetchPack(deps, { at, namespace, args: fetchArguments(url, `+${what}:${incomingRef}`) }, signal)
      } catch (error) {
        if (!isCommitHash(what) || !(error instanceof Fault) || error.reason !== 'CommitNotServed') throw error
        await history.find({ at, namespace }, what, signal)
        await requireSmallObject((...call) => local(at, ...call), what, signal)
        keepCommit(at, what)
        return { commit: what, tag: undefined }
      }
      if (!isCommitHash(what)) history.follow(namespace, what)
      const fetched = await readIncoming(local, at, what, signal)
      keepCommit(at, fetched.commit)
      return fetched
    },
    async list({ at, namespace, format }, followed, signal) {
      writeConfig(at, format)
      const [kind, pattern] = isTagSelector(followed) ? ['--tags', `refs/tags/${commonPrefix(followed)}*`] : ['--symref', followed]
      const args = ['ls-remote', '-q', kind, '--end-of-options', url.text, pattern]
      const output = await callHost({ at, namespace, args, timeoutMs: queryTimeoutMs }, signal)
      return await readListing(output, followed, signal)
    },
    async isThere({ at, namespace, format }, ref, signal) {
      writeConfig(at, format)
      try {
        const args = ['fetch', '--dry-run', ...fetchArguments(url, ref)]
        await callHost({ at, namespace, args, timeoutMs: queryTimeoutMs, maxPackBytes: glimpseBytes }, signal)
        return true
      } catch (error) {
        sweep(at)
        if (!signal.aborted && error instanceof Fault && error.reason === 'RefNotFound') return false
        if (!signal.aborted && error instanceof Fault && reasonsAfterSendBegan.has(error.reason)) return true
        throw error
      }
    },
    async formatOfHost(place, what, fallback, signal) {
      if (isCommitHash(what)) return objectFormatOf(what)
      const args = ['ls-remote', '-q', '--end-of-options', url.text, 'HEAD', what]
      const output = await callHost({ ...place, args, timeoutMs: queryTimeoutMs }, signal)
      const [id = ''] = output.toString('latin1').split('\t')
      return id === '' ? fallback : objectFormatOf(id)
    },
    async push(place, what, signal) {
      const call = what.as === undefined ? callHost : hostAs(what.as)
      await call({ ...place, args: pushArguments(url, what), timeoutMs: fetchTimeoutMs }, signal)
    },
  }
}

function openHistorySearch(deps: Deps, local: RunLocal): ReturnType<typeof createHistorySearch> {
  const { url, callHost, limits } = deps
  return createHistorySearch({
    async list(place, signal) {
      const args = ['ls-remote', '-q', '--end-of-options', url.text, 'HEAD', 'refs/heads/*', 'refs/tags/*']
      return (await callHost({ ...place, args, timeoutMs: queryTimeoutMs }, signal)).toString('latin1')
    },
    fetch: (place, refspecs, depth, signal) =>
      fetchPack(deps, { ...place, args: fetchArguments(url, undefined, depth), input: refspecs.join('\n') }, signal),
    has: ({ at }, commit, signal) => isCommit((...call) => local(at, ...call), commit, signal),
    maxPackBytes: limits.maxPackBytes,
  })
}

/** Few fetches need more than a small share of the volume; one that does is repeated with space for the largest pack allowed. */
async function fetchPack(
  { callHost, reserve, limits }: Deps,
  { at, namespace, args, input = '' }: Pick<HostCall, 'at' | 'namespace' | 'args' | 'input'>,
  signal: AbortSignal,
): Promise<void> {
  for (const size of ['usual', 'most'] as const) {
    const { maxPackBytes, release } = await reserve(namespace, size)
    try {
      await callHost({ at, namespace, args: ['fetch', ...args], input, timeoutMs: fetchTimeoutMs, maxPackBytes }, signal)
      return
    } catch (error) {
      if (!(error instanceof Fault) || error.reason !== 'RepositoryTooLarge') throw error
      sweep(at)
      if (size === 'most' || maxPackBytes >= limits.maxPackBytes) throw tooLarge(limits.maxPackBytes, error)
    } finally {
      release()
    }
  }
}

/** The arguments after `fetch`: this number of commits of one ref, or of those that git reads from its input if there is no `refspec`. */
function fetchArguments({ text }: RepositoryUrl, refspec: string | undefined, depth = 1): string[] {
  return [
    '-q',
    '--no-tags',
    '--no-write-fetch-head',
    '--no-recurse-submodules',
    `--depth=${depth}`,
    // Offers the host one commit to compare with; offering every kept one doubles the time in a large repository.
    `--negotiation-tip=${incomingRef}*`,
    '--force',
    ...(refspec === undefined ? ['--stdin'] : []),
    '--end-of-options',
    text,
    ...(refspec === undefined ? [] : [refspec]),
  ]
}

function pushArguments({ text }: RepositoryUrl, { commit, branch, moves = false }: Push): string[] {
  const ref = `refs/heads/${branch}`
  // An empty lease: the branch must not exist yet. Without one the host moves a branch only to a descendant. No commit of others is lost.
  const lease = moves ? [] : [`--force-with-lease=${ref}:`]
  return ['push', '-q', '--no-verify', '--no-follow-tags', ...lease, '--end-of-options', text, `${commit}:${ref}`]
}

/**
 * The commit that the last fetch brought, and the tag that points to it. Throws RepositoryTooLarge for a commit or tag over 1 MiB, which no
 * later fetch then compares with, RefNotFound for anything else, and the faults of git.
 */
async function readIncoming(local: RunLocal, at: string, what: string, signal: AbortSignal): Promise<Fetched> {
  const own = (...call: [readonly string[], AbortSignal, string]): Promise<Buffer> => local(at, ...call)
  const tags: CommitHash[] = []
  try {
    let object = await requireSmallHead(own, incomingRef, signal)
    // A branch never points to a tag.
    while (object.type === 'tag' && !what.startsWith('refs/heads/')) {
      tags.push(object.id)
      if (tags.length > maxTags) throw new Fault('RepositoryTooLarge', `more than ${maxTags} tags point to each other`)
      const tag = (await own(['cat-file', 'tag', object.id], signal, '')).toString('latin1')
      object = await requireSmallObject(own, parseCommitHash(/^object ([0-9a-f]+)\n/.exec(tag)?.[1] ?? ''), signal)
    }
    const { id, type, ...time } = object
    if (type !== 'commit') throw new Fault('RefNotFound', `the git host has a ${type} of this name, not a commit`)
    return { commit: id, tag: what.startsWith('refs/tags/') ? tags[0] : undefined, ...time }
  } catch (error) {
    if (error instanceof Fault && error.reason === 'RepositoryTooLarge') forgetIncoming(at)
    throw error
  }
}

/**
 * The commit time of a kept commit, RFC 3339; undefined if the commit claims an impossible time. Throws RefNotFound for an object that is
 * not a commit, and the faults of git.
 */
export async function committedAt(local: RunLocal, at: string, commit: CommitHash, signal: AbortSignal): Promise<string | undefined> {
  const line = (await local(at, ['log', '-1', '--format=%H %ct', keepRef(commit), '--'], signal)).toString('latin1')
  const [id = '', time = ''] = line.trim().split(' ')
  if (id !== commit) throw new Fault('RefNotFound', `${commit} on the git host is not a commit`)
  return commitTime(time)
}

function tooLarge(maxPackBytes: number, cause: Fault): Fault {
  const limit = Math.round(maxPackBytes / (1024 * 1024))
  return new Fault('RepositoryTooLarge', `the pack of the commit is larger than ${limit} MiB, the maximum for one fetch`, { cause })
}
