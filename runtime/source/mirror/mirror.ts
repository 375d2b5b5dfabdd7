/**
 * One bare mirror of one repository: resolves refs, fetches single commits and reads them. Readers need no lock while a ref of ours
 * holds their commit.
 */
import type { Clock } from '../../clock.ts'
import type { VersionedListing } from '../../collections/model/listing.ts'
import type { FramedSource } from '../../delivery/protocol.ts'
import { Fault } from '../../fault.ts'
import { type CommitHash, isCommitHash, printable, type RelativePath } from '../../gatewaysync/values.ts'
import type { Log } from '../../log.ts'
import { createCoalesce } from './coalesce.ts'
import type { GitLimits } from '../git/git.ts'
import type { GitMemory } from '../git/memory.ts'
import { type Fetched, type Held, openMirrorFiles } from './mirror-files.ts'
import { countPacks, sizeOfFolder } from '../disk/mirror-folder.ts'
import { mirrorListing, type Repository } from '../content/mirror-listing.ts'
import { mirrorSource } from '../content/mirror-source.ts'
import type { Network } from '../remote/network.ts'
import type { ListedBlobs } from '../content/listed-blobs.ts'
import { createReading } from '../content/reading.ts'
import { candidateRefs, refNotFound } from './refs.ts'
import type { Remote } from '../remote/remote.ts'
import type { Reservation, Tenant } from './volume.ts'

/** A commit under the name that led to it. */
type Found = Fetched & {
  /** The full name of the ref that won, or the hash that was asked for. */
  name: string
}

export type Resolved = Found & {
  fetchedAt: string
  /** The ref is a branch, and a tag has the same name. */
  hasTagToo?: boolean
}

export type Mirror = {
  /** What it is a mirror of. */
  readonly remote: Remote
  /**
   * What a branch, tag, `refs/…` name or full hash stands for at the git host; the commit is in the mirror then. A `fresh` answer is to a
   * question that began after the call; otherwise one that is under way will do. Throws RefNotFound and the faults of git.
   */
  resolve(ref: string, options: { fresh: boolean }, signal: AbortSignal): Promise<Resolved>
  /** Makes sure that a commit is there, if need be by fetching it by hash. Throws CommitGone and the faults of git. */
  ensure(commit: CommitHash, signal: AbortSignal): Promise<void>
  /**
   * A commit, or the annotated tag that `name` holds, byte by byte as git stores it; fetched anew where a clean-up has dropped it. Throws
   * NotVerified for one that is too large to be looked at, CommitGone where `name` holds it no more, and the faults of git.
   */
  rawObject(type: 'commit' | 'tag', id: CommitHash, name: string, signal: AbortSignal): Promise<Buffer>
  /** The content below the folders that a profile reads. */
  source(roots: (profile: string) => readonly RelativePath[] | undefined): FramedSource
  /** What a commit holds below some folders, for the collection checks; the commit must be there. */
  listing(commit: CommitHash, roots: readonly RelativePath[]): VersionedListing
  /** Lets somebody read a commit who does so in another thread; where the mirror turns out to be damaged, once more in a new one. */
  readBy<Value>(commit: CommitHash, read: (repository: Repository) => Promise<Value>, signal: AbortSignal): Promise<Value>
  /** Removes everything from the disk; asked again, the mirror is made anew. */
  drop(): Promise<void>
  /** What the volume may do with it. */
  readonly tenant: Tenant
  /** Settles when nothing is under way. */
  settled(): Promise<void>
}

export type MirrorOptions = {
  folder: string
  remote: Remote
  network: Network
  limits: GitLimits
  memory: GitMemory
  reserve(size: 'usual' | 'most'): Promise<Reservation>
  listedBlobs: ListedBlobs
  /** The commits that anybody needs; undefined while that is not known. */
  needed(): ReadonlySet<string> | undefined
  clock: Clock
  log: Log
  signal: AbortSignal
}

/** Commits that were told of and may not be needed yet, and the names that they came by. */
const mostRemembered = 1_000
/** A tag of a branch's name is a mishap that somebody mends or makes once. */
const tagLookedForMs = 3_600_000

export function openMirror(options: MirrorOptions): Mirror {
  const { folder, limits, clock } = options
  const resolving = createCoalesce<Resolved>(options.signal)
  const fetching = createCoalesce<void>(options.signal)
  /** Commits told of since the last clean-up: nobody may have written yet that they are needed. */
  let toldOf = new Set<CommitHash>()
  /** By which name a commit came, for hosts that give none by its hash. */
  const names = new Map<CommitHash, string>()
  /** For each branch that was asked for, whether a tag has its name, and until when that is not looked at again. */
  const tagsToo = new Map<string, { isThere: boolean; untilMs: number }>()

  const keptCommits = (): ReadonlySet<string> | undefined => {
    const needed = options.needed()
    if (needed === undefined) return undefined
    const kept = new Set([...needed, ...toldOf])
    toldOf = new Set()
    return kept
  }
  const files = openMirrorFiles({ ...options, keptCommits })

  const tellOf = <Known extends Held>(held: Known): Known => {
    remember(toldOf, held.commit)
    return held
  }
  const has = async (commit: CommitHash, signal: AbortSignal): Promise<boolean> => {
    const found = await files.has(commit, signal)
    if (found) remember(toldOf, commit)
    return found
  }
  const fetch = async (what: string, signal: AbortSignal): Promise<Found> => {
    const held = tellOf(await files.fetch(what, signal))
    if (!isCommitHash(what)) names.set(held.commit, what)
    forgetOldest(names)
    return { ...held, name: what }
  }

  const resolveNow = async (ref: string, fresh: boolean, signal: AbortSignal): Promise<Resolved> => {
    const fetchedAt = clock.now().toString({ smallestUnit: 'second' })
    const found = isCommitHash(ref) ? await heldCommit(ref, signal) : await namedCommit(ref, signal)
    if (found.name === `refs/heads/${ref}`) await lookForTag(ref, fresh, signal)
    else tagsToo.delete(ref)
    files.tidyUp()
    return { ...found, fetchedAt, ...(tagsToo.get(ref)?.isThere === true ? { hasTagToo: true } : {}) }
  }

  /** Costs a question of its own: asked with the first question about a branch, and then now and then with a poll. */
  const lookForTag = async (branch: string, fresh: boolean, signal: AbortSignal): Promise<void> => {
    const known = tagsToo.get(branch)
    if (known !== undefined && (fresh || clock.monotonicMs() < known.untilMs)) return
    try {
      const isThere = await files.isThere(`refs/tags/${branch}`, signal)
      if (isThere === undefined) return
      tagsToo.set(branch, { isThere, untilMs: clock.monotonicMs() + tagLookedForMs })
      forgetOldest(tagsToo)
    } catch (error) {
      // The branch was fetched, and only that was asked for.
      if (signal.aborted) throw error
    }
  }

  /** An answer counts only for a push that came before the question: whoever comes meanwhile shares the next one. */
  const asking = new Map<string, Promise<unknown>>()
  const resolveFresh = (ref: string, signal: AbortSignal): Promise<Resolved> => {
    const running = asking.get(ref)
    const ask = async (own: AbortSignal): Promise<Resolved> => {
      await running?.catch(() => undefined)
      const answer = resolveNow(ref, true, own)
      asking.set(ref, answer)
      return await answer.finally(() => asking.get(ref) === answer && asking.delete(ref))
    }
    return resolving(`${running === undefined ? 'push' : 'next push'} ${ref}`, ask, signal)
  }

  /** The commit as it is kept, or as the host has it. */
  const heldCommit = async (commit: CommitHash, signal: AbortSignal): Promise<Found> => {
    if (!files.isDoubted()) {
      try {
        const held = await files.find(commit, signal)
        if (held !== undefined) return { ...tellOf(held), name: commit, tag: undefined }
      } catch (error) {
        if (signal.aborted || !files.doubt(error)) throw error
      }
    }
    return await fetch(commit, signal)
  }

  /** The host is asked for the one name, not for a list of all that it has: an exact fetch brings nothing that is there already. */
  const namedCommit = async (ref: string, signal: AbortSignal): Promise<Found> => {
    for (const name of candidateRefs(ref)) {
      const held = await fetchIfThere(name, signal)
      if (held !== undefined) return held
    }
    throw refNotFound(ref)
  }

  const fetchIfThere = async (name: string, signal: AbortSignal): Promise<Found | undefined> => {
    try {
      return await fetch(name, signal)
    } catch (error) {
      if (error instanceof Fault && error.reason === 'RefNotFound') return undefined
      throw error
    }
  }

  const ensure: Mirror['ensure'] = async (commit, signal) => {
    if (!files.isDoubted() && (await hasOrDoubts(commit, signal))) return
    await fetching(commit, (own) => fetchCommit(commit, own), signal)
    files.tidyUp()
  }

  const hasOrDoubts = async (commit: CommitHash, signal: AbortSignal): Promise<boolean> => {
    try {
      return await has(commit, signal)
    } catch (error) {
      if (signal.aborted || !files.doubt(error)) throw error
      return false
    }
  }

  /** By its hash, and where the host gives nothing by a hash, by the name that it came by before. */
  const fetchCommit = async (commit: CommitHash, signal: AbortSignal): Promise<void> => {
    for (const name of [commit, names.get(commit)]) {
      if (name !== undefined && (await fetchIfThere(name, signal))?.commit === commit) return
    }
    throw new Fault('CommitGone', `neither the mirror nor the git host has commit ${commit} any more`)
  }

  const rawObject: Mirror['rawObject'] = async (type, id, name, signal) => {
    try {
      const held = files.isDoubted() ? undefined : await files.rawObject(type, id, signal)
      if (held !== undefined) return held
    } catch (error) {
      if (signal.aborted || !files.doubt(error)) throw error
    }
    await fetch(name, signal)
    const fetched = await files.rawObject(type, id, signal)
    if (fetched === undefined) throw new Fault('CommitGone', `${printable(name)} holds ${type} ${id} no more`)
    return fetched
  }

  const repository = { folder, limits }
  const reading = createReading({ doubt: files.doubt, renew: ensure })
  return {
    remote: options.remote,
    resolve: (ref, { fresh }, signal) =>
      fresh ? resolveFresh(ref, signal) : resolving(`poll ${ref}`, (own) => resolveNow(ref, false, own), signal),
    ensure,
    rawObject,
    source: (roots) => mirrorSource({ ...repository, listedBlobs: options.listedBlobs, has, ensure, roots, reading }),
    listing: (commit, roots) => mirrorListing({ ...repository, reading }, commit, roots),
    readBy: (commit, read, signal) => reading.whole(commit, () => read(repository), signal),
    async drop() {
      await files.drop()
      toldOf.clear()
    },
    tenant: {
      measure: () => sizeOfFolder(folder) + sizeOfFolder(`${folder}.new`),
      packs: () => countPacks(folder),
      tidyIfIdle: files.tidyIfIdle,
      dropIfIdle: files.dropIfIdle,
    },
    settled: files.settled,
  }
}

/** Adds to what is remembered, and forgets the oldest where it is much. */
function remember<Value>(known: Set<Value>, value: Value): void {
  known.add(value)
  forgetOldest(known)
}

function forgetOldest<Key>(known: { size: number; keys(): Iterable<Key>; delete(key: Key): boolean }): void {
  if (known.size <= mostRemembered) return
  const [oldest] = known.keys()
  if (oldest !== undefined) known.delete(oldest)
}
