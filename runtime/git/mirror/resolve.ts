/**
 * Resolves a ref to a commit on the git host. Concurrent identical requests share a result; after a push, only one that started after the push.
 */
import type { Clock } from '../../platform/clock.ts'
import { isIndirect, commonPrefix, isTagSelector, selectorText } from '../../api/followed-ref.ts'
import { candidateRefs, isCommitHash, printable } from '../../api/values.ts'
import type { Reading } from '../content/reading.ts'
import { evictOldest } from './bounded.ts'
import { createCoalesce } from './coalesce.ts'
import type { Commits, NamedCommit } from './commits.ts'
import type { MirrorFiles } from './mirror-files.ts'
import { counted } from '../../platform/text/counted.ts'
import { Fault } from '../../platform/fault.ts'

/** `name` is the full name of the chosen ref, or the requested hash. `fetchedAt`: the time of the request to the host, RFC 3339. */
export type Resolved = NamedCommit & {
  fetchedAt: string
  /**
   * RFC 3339; undefined if the commit claims an impossible time. Throws RefNotFound for an object that is not a commit, and the faults of
   * git.
   */
  committedAt: Promise<string | undefined>
}

/**
 * `ref`: a ref, or a default branch or selector as `followedRef` writes it. `fresh`: after a push, so that an earlier answer does not
 * suffice. Throws RefNotFound, AmbiguousRef and the faults of git.
 */
export type Resolve = (ref: string, options: { fresh: boolean }, signal: AbortSignal) => Promise<Resolved>

type Deps = {
  /** Whether the repository is an artifact in a registry. */
  isArtifact: boolean
  files: Pick<MirrorFiles, 'committedAt' | 'isThere' | 'list' | 'tidyUp'>
  commits: Pick<Commits, 'byHash' | 'byRef' | 'byRevision' | 'listed'>
  reading: Pick<Reading, 'whole'>
  clock: Clock
}

/** Maximum number of branches in the cache of branches without a tag of the same name. */
const maxBranches = 1_000
/** Lifetime of an entry of that cache. */
const untaggedForMs = 3_600_000

/** `signal` aborts all running work. */
export function createResolve({ isArtifact, files, commits, reading, clock }: Deps, signal: AbortSignal): Resolve {
  const shared = createCoalesce<Resolved>(signal)
  const tagChecks = createTagChecks({ files, clock })
  const find = async (ref: string, own: AbortSignal): Promise<NamedCommit> => {
    if (isArtifact) return await commits.byRevision(ref, own)
    if (isCommitHash(ref)) return await commits.byHash(ref, own)
    if (!isIndirect(ref)) return await namedCommit(commits, ref, own)
    const { found, tags } = await files.list(ref, own)
    if (found === undefined) throw nothingFollowed(ref, tags)
    return await commits.listed(found, own)
  }
  const resolveNow = async (ref: string, fresh: boolean, own: AbortSignal): Promise<Resolved> => {
    const fetchedAt = clock.now().toString({ smallestUnit: 'second' })
    const found = await find(ref, own)
    if (found.name === `refs/heads/${ref}`) {
      if (await tagChecks.hasTag(ref, fresh, own)) throw ambiguousRef(ref)
    } else {
      tagChecks.forget(ref)
    }
    const { committed, commit } = found
    const readTime = (): Promise<string | undefined> => reading.whole(commit, () => files.committedAt(commit, signal), signal)
    const committedAt = committed === undefined ? readTime() : Promise.resolve(committed.at)
    // Callers that use it get its failure.
    committedAt.catch(() => undefined)
    files.tidyUp()
    return { ...found, fetchedAt, committedAt }
  }

  /** For each ref the latest request caused by a push. */
  const latestQueries = new Map<string, Promise<unknown>>()
  /** A caller that arrives during a request may have pushed after it began, so it shares the next one. */
  const resolveFresh = (ref: string, own: AbortSignal): Promise<Resolved> => {
    const running = latestQueries.get(ref)
    const query = async (together: AbortSignal): Promise<Resolved> => {
      await running?.catch(() => undefined)
      const answer = resolveNow(ref, true, together)
      latestQueries.set(ref, answer)
      return await answer.finally(() => latestQueries.get(ref) === answer && latestQueries.delete(ref))
    }
    return shared(`${running === undefined ? 'push' : 'next push'} ${ref}`, query, own)
  }
  return (ref, { fresh }, own) =>
    fresh ? resolveFresh(ref, own) : shared(`poll ${ref}`, (together) => resolveNow(ref, false, together), own)
}

/** Tries one name after the other instead of listing all refs: fetching an exact ref brings nothing that is already held. */
async function namedCommit(commits: Pick<Commits, 'byRef'>, ref: string, signal: AbortSignal): Promise<NamedCommit> {
  const found = await commits.byRef(candidateRefs(ref), signal)
  if (found === undefined) throw refNotFound(ref)
  return found
}

/**
 * Whether a tag has the name of a branch. That needs a separate request, made when a branch is first resolved by its short name and hourly
 * with a poll; once such a tag exists, each time.
 */
function createTagChecks({ files, clock }: Pick<Deps, 'files' | 'clock'>) {
  /** By branch: the time until which a poll can skip the request, in ms of the monotonic clock. */
  const untaggedUntilMs = new Map<string, number>()
  return {
    /** Throws the faults of git. */
    async hasTag(branch: string, fresh: boolean, signal: AbortSignal): Promise<boolean> {
      const untilMs = untaggedUntilMs.get(branch)
      if (untilMs !== undefined && (fresh || clock.monotonicMs() < untilMs)) return false
      untaggedUntilMs.delete(branch)
      const isThere = await files.isThere(`refs/tags/${branch}`, signal)
      if (isThere === false) untaggedUntilMs.set(branch, clock.monotonicMs() + untaggedForMs)
      evictOldest(untaggedUntilMs, maxBranches)
      return isThere === true
    },
    /** For a name that is not a branch, or no longer one. */
    forget: (ref: string) => void untaggedUntilMs.delete(ref),
  }
}

/** AmbiguousRef, for a short name that is both a branch and a tag. */
function ambiguousRef(ref: string): Fault {
  const name = printable(ref)
  return new Fault('AmbiguousRef', `"${name}" is both a branch and a tag on the git host; write refs/heads/${name} or refs/tags/${name}`)
}

/** RefNotFound with advice if the name may be a short hash, which no git host resolves. */
function refNotFound(ref: string): Fault {
  const kinds = ref.startsWith('refs/') ? 'ref' : 'branch or tag'
  const isShortHash = /^[0-9a-f]{4,63}$/.test(ref)
  const advice = isShortHash ? '; for a commit, write its full hash of 40 or 64 digits' : ''
  return new Fault('RefNotFound', `the git host has no ${kinds} "${printable(ref)}"${advice}`)
}

/** RefNotFound for a git host without a default branch, or without a matching tag; `count`: its tags with the prefix of the selector. */
function nothingFollowed(followed: string, count: number): Fault {
  if (!isTagSelector(followed)) return new Fault('RefNotFound', 'the git host reports no default branch; set spec.git.ref to a branch')
  const what = `no tag that matches ${selectorText(followed)}`
  const prefix = commonPrefix(followed)
  const which = prefix === '' ? 'in total' : `whose names begin with "${prefix}"`
  return new Fault('RefNotFound', `the git host has ${what}; it has ${counted(count, 'tag')} ${which}`)
}
