/**
 * One bare mirror of one repository: resolves refs, fetches single commits and reads them. Readers need no lock while a ref of ours
 * holds their commit.
 */
import type { Clock } from '../../clock.ts'
import type { VersionedListing } from '../../collections/model/listing.ts'
import type { FramedSource } from '../../delivery/protocol.ts'
import type { CommitHash, RelativePath } from '../../gatewaysync/values.ts'
import type { Log } from '../../log.ts'
import type { ListedBlobs } from '../content/listed-blobs.ts'
import { mirrorListing, type Repository } from '../content/mirror-listing.ts'
import { mirrorSource } from '../content/mirror-source.ts'
import { createReading } from '../content/reading.ts'
import { countPacks, sizeOfFolder } from '../disk/mirror-folder.ts'
import type { GitLimits } from '../git/git.ts'
import type { GitMemory } from '../git/memory.ts'
import type { Network } from '../remote/network.ts'
import type { Remote } from '../remote/remote.ts'
import { type Commits, openCommits } from './commits.ts'
import { openMirrorFiles } from './mirror-files.ts'
import { createRecentCommits, type RecentCommits } from './recent-commits.ts'
import { createResolve, type Resolve } from './resolve.ts'
import type { Reservation, Tenant } from './volume.ts'

export type Mirror = {
  /** What it is a mirror of. */
  readonly remote: Remote
  /**
   * What a branch, tag, `refs/…` name or full hash stands for at the git host; the commit is in the mirror then. A `fresh` answer is to a
   * question that began after the call; otherwise one that is under way will do. Throws RefNotFound and the faults of git.
   */
  resolve: Resolve
  /** Makes sure that a commit is there, if need be by fetching it by hash. Throws CommitGone and the faults of git. */
  ensure: Commits['ensure']
  /** A commit or an annotated tag, byte by byte as git stores it. Throws NotVerified, CommitGone and the faults of git. */
  rawObject: Commits['rawObject']
  /** The content below the folders that a profile reads. */
  source(roots: (profile: string) => readonly RelativePath[] | undefined): FramedSource
  /** What a commit holds below some folders, for the collection checks; the commit must be there. */
  listing(commit: CommitHash, roots: readonly RelativePath[]): VersionedListing
  /** Runs a read of a commit, as of another thread; where the mirror turns out to be damaged, once more in a new mirror. */
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

/** Opens a mirror without touching the disk: its folder is made, or looked at, with the first question. */
export function openMirror(options: MirrorOptions): Mirror {
  const { folder, limits, remote, listedBlobs, signal: stop } = options
  const recent = createRecentCommits()
  const files = openMirrorFiles({ ...options, keptCommits: () => keptCommits(options.needed(), recent) })
  const commits = openCommits(files, recent, stop)
  const { has, ensure } = commits
  const repository = { folder, limits }
  const reading = createReading({ doubt: files.doubt, renew: ensure })
  return {
    remote,
    resolve: createResolve({ files, commits, clock: options.clock }, stop),
    ensure,
    rawObject: commits.rawObject,
    source: (roots) => mirrorSource({ ...repository, listedBlobs, has, ensure, roots, reading }),
    listing: (commit, roots) => mirrorListing({ ...repository, reading }, commit, roots),
    readBy: (commit, read, signal) => reading.whole(commit, () => read(repository), signal),
    async drop() {
      await files.drop()
      recent.take()
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

/** What a clean-up leaves: what is needed, and what was handed out since the last one. Undefined while it is not known what is needed. */
function keptCommits(needed: ReadonlySet<string> | undefined, recent: RecentCommits): ReadonlySet<string> | undefined {
  return needed?.union(recent.take())
}
