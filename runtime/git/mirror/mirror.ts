/**
 * One bare mirror of one repository: resolves refs, fetches single commits and reads them. Readers need no lock while a ref of the mirror
 * holds their commit.
 */
import type { Clock } from '../../platform/clock.ts'
import type { Listing } from '../../validation/model/listing.ts'
import type { FramedSource } from '../../content/protocol/protocol.ts'
import { isArtifact } from '../../api/schema/repository-url.ts'
import type { CommitHash, RelativePath } from '../../api/values.ts'
import type { ListedBlobs, RecentBlobs } from '../content/remembered-blobs.ts'
import { mirrorListing, type Repository } from '../content/mirror-listing.ts'
import { mirrorSource } from '../content/mirror-source.ts'
import { createReading } from '../content/reading.ts'
import { countPacks, sizeOfFolder } from '../disk/mirror-folder.ts'
import type { Remote } from '../remote/remote.ts'
import { Commits } from './commits.ts'
import type { FolderOptions } from './folder-state.ts'
import { type MirrorFiles, openMirrorFiles } from './mirror-files.ts'
import { createRecentCommits, type RecentCommits } from './known-commits.ts'
import { createResolve, type Resolve } from './resolve.ts'
import type { StoredFolder } from './volume.ts'

/** A mirror as one namespace uses it. Namespaces share its files and take turns in changing them. */
export type Mirror = {
  /** The repository that is mirrored, and how its host is reached. */
  readonly remote: Remote
  /**
   * Resolves a branch, tag, `refs/…` name or full hash to a commit on the git host, and fetches it. With `fresh` the request starts after
   * the call began; otherwise the answer to a running request is shared. Throws RefNotFound and the faults of git.
   */
  resolve: Resolve
  /** Fetches a commit by its hash unless the mirror holds it. Throws CommitGone and the faults of git. */
  ensure: Commits['ensure']
  /** A commit or an annotated tag, byte by byte as git stores it. Throws NotVerified, CommitGone and the faults of git. */
  rawObject: Commits['rawObject']
  /** The content below the folders that a profile reads. */
  source(roots: (profile: string) => readonly RelativePath[] | undefined): FramedSource
  /** The content of a commit below some folders, for the collection checks; the mirror must contain the commit. */
  listing(commit: CommitHash, roots: readonly RelativePath[]): Listing
  /** Runs a read of a commit, such as one in a worker thread; if the mirror proves damaged, once more in a new mirror. */
  readBy<Value>(commit: CommitHash, read: (repository: Repository) => Promise<Value>, signal: AbortSignal): Promise<Value>
  /**
   * Creates a commit on top of one that the mirror or the host has, not concurrently with a fetch or clean-up, and keeps it as long as a
   * fetched one. Throws CommitGone, PayloadMalformed if an edit would remove an unnamed file, and the faults of git.
   */
  commit: MirrorFiles['commit']
  /**
   * Creates a branch on the git host for a commit that was created here, or moves an existing one. Throws PushRefused and the faults of
   * git.
   */
  push: MirrorFiles['push']
  /** Removes everything from the disk; the next use creates the mirror again. */
  drop(): Promise<void>
  /** The mirror as a tenant of the volume, which may tidy it up or drop it to free space. */
  readonly tenant: StoredFolder
  /** Refuses all further changes with GitKilled, unless one is running or waiting. Returns whether it does. */
  close(): boolean
  /** Settles when no work is running. */
  settled(): Promise<void>
}

/** `signal` ends all running work. */
export type MirrorOptions = Omit<FolderOptions, 'keptCommits'> & {
  listedBlobs: ListedBlobs
  recentBlobs: RecentBlobs
  /** All commits that are still needed, in any mirror; undefined while unknown. */
  needed(): ReadonlySet<string> | undefined
  clock: Clock
  signal: AbortSignal
}

/** Opens a mirror for any namespace without touching the disk: its folder is created or checked at the first use. */
export function openMirror(options: MirrorOptions): (namespace: string) => Mirror {
  const recent = createRecentCommits()
  const filesOf = openMirrorFiles({ ...options, keptCommits: () => keptCommits(options.needed(), recent) })
  const mirrors = new Map<string, Mirror>()
  return (namespace) => {
    const mirror = mirrors.get(namespace) ?? mirrorOf(options, namespace, filesOf(namespace), recent)
    mirrors.set(namespace, mirror)
    return mirror
  }
}

function mirrorOf(options: MirrorOptions, namespace: string, files: MirrorFiles, recent: RecentCommits): Mirror {
  const { folder, limits, remote, listedBlobs, recentBlobs, readingMemory, signal: stop } = options
  const commits = new Commits(files, recent, stop)
  const has: Commits['has'] = (...asked) => commits.has(...asked)
  const ensure: Commits['ensure'] = (...asked) => commits.ensure(...asked)
  const repository = { folder, limits, start: readingMemory.startFor(namespace) }
  const reading = createReading({ suspect: files.suspect, renew: ensure })
  return {
    remote,
    resolve: createResolve({ isArtifact: isArtifact(remote.url), files, commits, reading, clock: options.clock }, stop),
    ensure,
    rawObject: (...asked) => commits.rawObject(...asked),
    source: (roots) => mirrorSource({ ...repository, namespace, listedBlobs, recentBlobs, has, ensure, roots, reading }),
    listing: (commit, roots) => mirrorListing({ ...repository, reading }, commit, roots),
    readBy: (commit, read, signal) => reading.whole(commit, () => read(repository), signal),
    async commit(parent, edits, message, signal) {
      await ensure(parent, signal)
      const made = await reading.whole(parent, () => files.commit(parent, edits, message, signal), signal)
      recent.add(made)
      return made
    },
    push: files.push,
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
    close: files.close,
    settled: files.settled,
  }
}

/**
 * The commits that a clean-up keeps: needed commits, and those handed out since the last one. Undefined while the needed commits are
 * unknown.
 */
function keptCommits(needed: ReadonlySet<string> | undefined, recent: RecentCommits): ReadonlySet<string> | undefined {
  return needed?.union(recent.take())
}
