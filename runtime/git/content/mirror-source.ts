/**
 * Implements `Source` with a mirror: differences and contents of commits, only below the folders that a profile reads.
 */
import { fileFramesReader } from '../../content/protocol/file-frames.ts'
import {
  type BlobSink,
  type BlobsRequest,
  type Change,
  type ChangesRequest,
  type FileMode,
  type FilesRequest,
  type FramedSource,
  requireSize,
} from '../../content/protocol/protocol.ts'
import { Fault } from '../../platform/fault.ts'
import { type CommitHash, isWithin, type RelativePath } from '../../api/values.ts'
import { frameFiles } from './frame-files.ts'
import { frameBlobs, readBlobs } from './read-blobs.ts'
import { type GitLimits, runGit, type StartGit } from '../command/git.ts'
import { type ChangedFile, compareCommits, listCommit } from './list-files.ts'
import type { ListedBlobs, RecentBlobs } from './remembered-blobs.ts'
import { findNearPath } from './near-path.ts'
import type { Reading } from './reading.ts'
/** One mirror with the profiles of one GatewaySync. */
export type MirrorSourceDeps = {
  folder: string
  limits: GitLimits
  /** Starts the processes whose memory can be large. Default: `startGit`. */
  start?: StartGit
  /** The namespace that the caches account for what they keep. */
  namespace: string
  listedBlobs: ListedBlobs
  recentBlobs: RecentBlobs
  /** Whether the mirror holds a commit. */
  has(commit: CommitHash, signal: AbortSignal): Promise<boolean>
  /** Fetches a commit if the mirror does not hold it. Throws CommitGone and the faults of git. */
  ensure(commit: CommitHash, signal: AbortSignal): Promise<void>
  reading: Reading
  /** The folders of a profile; undefined: the profile does not exist. */
  roots(profile: string): readonly RelativePath[] | undefined
}

const timeoutMs = 120_000
/** Changes whose sizes one git process reads; fewer at first, because a reader may need only a few. */
const sizedAtOnce = { first: 1_000, later: 5_000 }
/** Up to this many changes and bytes, contents are read together with their sizes, because clients request them next. */
const fewChanges = 64
const fewBytes = 256 * 1024

/**
 * Serves the commits of a mirror to agents; a profile gets only the content of the folders that it reads. Its methods throw CommitGone,
 * UnknownBase, UnknownProfile, CommitNotPublished, DeliveryFailed and the faults of git.
 */
export function mirrorSource(deps: MirrorSourceDeps): FramedSource {
  const fileFrames = async function* (request: FilesRequest, signal: AbortSignal) {
    const { commit } = request
    const roots = await presentRoots(deps, request, signal)
    yield* deps.reading.bytes(commit, () => frameFiles(deps, commit, roots, signal), signal)
  }
  return {
    async *changes(request, signal) {
      const { commit, from } = request
      const roots = await presentRoots(deps, request, signal)
      if (from === commit) return
      for await (const batch of deps.reading.batches(commit, () => batchesOf(deps, request, roots, signal), signal)) {
        deps.listedBlobs.add(deps.namespace, commit, roots, batch)
        yield batch
      }
    },
    async blobs(request, sink, signal) {
      const roots = await presentRoots(deps, request, signal)
      const read = async (reader: BlobSink): Promise<void> => {
        const requested = await readable(deps, request, roots, signal)
        if (requested.length > 0) await readBlobs(deps, requested, reader, signal)
      }
      await deps.reading.blobs(request.commit, read, sink, signal)
    },
    async files(request, sink, signal) {
      const reader = fileFramesReader(sink)
      for await (const { buffer, byteOffset, byteLength } of fileFrames(request, signal))
        reader.take(Buffer.from(buffer, byteOffset, byteLength))
    },
    async near(request, signal) {
      return await findNearPath(deps, request, signal)
    },
    async holds(commits, signal) {
      for (const commit of commits) if (!(await deps.has(commit, signal))) return false
      return true
    },
    async *frames(request, signal) {
      const roots = await presentRoots(deps, request, signal)
      yield* deps.reading.bytes(request.commit, () => framesOf(deps, request, roots, signal), signal)
    },
    fileFrames,
  }
}

/**
 * The profile's folders, once the mirror holds the commit. Excluded from the reads that are repeated in a new mirror: a commit that the host
 * does not have is not a fault of the mirror's files.
 */
async function presentRoots(
  deps: MirrorSourceDeps,
  { commit, profile }: { commit: CommitHash; profile: string },
  signal: AbortSignal,
): Promise<readonly RelativePath[]> {
  const roots = deps.roots(profile)
  if (roots === undefined) throw new Fault('UnknownProfile', `there is no profile "${profile}"`)
  await deps.ensure(commit, signal)
  return roots
}

/** The distinct blobs of a request. Throws CommitNotPublished when the commit does not hold one of them below the profile's folders. */
async function readable(
  deps: MirrorSourceDeps,
  { commit, ids }: BlobsRequest,
  roots: readonly RelativePath[],
  signal: AbortSignal,
): Promise<CommitHash[]> {
  const requested = [...new Set(ids)]
  if (requested.length > 0 && !deps.listedBlobs.includesAll(commit, roots, requested))
    await requireReachable(deps, commit, roots, requested, signal)
  return requested
}

async function* batchesOf(
  deps: MirrorSourceDeps,
  { commit, from, most }: ChangesRequest,
  roots: readonly RelativePath[],
  signal: AbortSignal,
) {
  if (from !== null && !(await deps.has(from, signal)))
    throw new Fault('UnknownBase', `commit ${from} is not in the mirror; request all files`)
  yield* from === null ? everything(deps, commit, roots, signal) : differences(deps, { from, commit, most }, roots, signal)
}

async function* framesOf(deps: MirrorSourceDeps, request: BlobsRequest, roots: readonly RelativePath[], signal: AbortSignal) {
  const requested = await readable(deps, request, roots, signal)
  if (requested.length > 0) yield* deps.recentBlobs.framed(requested) ?? frameBlobs(deps, requested, signal)
}

async function* everything(deps: MirrorSourceDeps, commit: CommitHash, roots: readonly RelativePath[], signal: AbortSignal) {
  for await (const batch of listCommit(deps, commit, roots, signal)) {
    const changes: Change[] = []
    // ls-tree takes a path as a prefix: `a` would also list `ab`.
    for (const { path, mode, id, size } of batch)
      if (roots.some((root) => isWithin(path, root))) changes.push({ op: 'put', path, mode, id, size })
    if (changes.length > 0) yield changes
  }
}

/** Throws UnknownBase before the first change, if it detects early that there are more than `most`: neither side then reads the rest. */
async function* differences(
  deps: MirrorSourceDeps,
  { from, commit, most = Number.POSITIVE_INFINITY }: { from: CommitHash; commit: CommitHash; most: number | undefined },
  roots: readonly RelativePath[],
  signal: AbortSignal,
) {
  let changes: ChangedFile[] = []
  let isFirst = true
  /** Sized while the next ones are read. */
  let sized: Promise<Change[]> | undefined
  for await (const batch of compareCommits(deps, from, commit, roots, signal)) {
    changes.push(...batch)
    if (isFirst && changes.length > most)
      throw new Fault('UnknownBase', `commit ${from} differs in more than ${most} files; request all files`)
    if (changes.length < (isFirst ? sizedAtOnce.first : sizedAtOnce.later)) continue
    if (isFirst) {
      isFirst = false
      yield await withSizes(deps, changes, signal)
      changes = []
      continue
    }
    if (sized !== undefined) yield await sized
    sized = withSizes(deps, changes, signal)
    // A reader that leaves early does not wait for it; its failure must not be unhandled.
    sized.catch(() => undefined)
    changes = []
  }
  if (sized !== undefined) yield await sized
  if (changes.length > 0) yield await withSizes(deps, changes, signal)
}

async function withSizes(deps: MirrorSourceDeps, batch: readonly ChangedFile[], signal: AbortSignal): Promise<Change[]> {
  const present = batch.filter(({ status, mode }) => status !== 'D' && mode !== '160000')
  const sizes = await sizesOf(
    deps,
    present.map(({ id }) => id),
    signal,
  )
  let at = 0
  return batch.map(({ status, mode, id, path }): Change => {
    if (status === 'D') return { op: 'delete', path }
    const size = mode === '160000' ? 0 : (sizes[at++] ?? 0)
    requireSize({ path, size })
    return { op: 'put', path, mode: mode as FileMode, id, size }
  })
}

/** In the order of the ids. */
async function sizesOf(deps: MirrorSourceDeps, ids: readonly CommitHash[], signal: AbortSignal): Promise<number[]> {
  if (ids.length === 0) return []
  const { folder, limits, start } = deps
  const small = ids.length > fewChanges ? undefined : await readSmall(deps, ids, signal)
  if (small !== undefined) return small
  const args = ['cat-file', '--batch-check=%(objectsize)', '--buffer']
  const output = await runGit({ folder, args, input: `${ids.join('\n')}\n`, timeoutMs }, { limits, signal, start })
  return output.toString('latin1').trimEnd().split('\n').map(Number)
}

/** The sizes of the contents that are cached then; undefined if they are too large for that, which only reading them shows. */
async function readSmall(deps: MirrorSourceDeps, ids: readonly CommitHash[], signal: AbortSignal): Promise<number[] | undefined> {
  const tooLarge = new Error('the contents are too large to be remembered')
  const sizes: number[] = []
  let content = Buffer.alloc(0)
  let [bytes, filled] = [0, 0]
  const sink: BlobSink = {
    begin(_id, size) {
      sizes.push(size)
      if ((bytes += size) > fewBytes) throw tooLarge
      content = Buffer.allocUnsafe(size)
      filled = 0
    },
    data(chunk) {
      content.set(chunk, filled)
      filled += chunk.byteLength
    },
    end() {
      const id = ids[sizes.length - 1]
      if (id !== undefined) deps.recentBlobs.keep(deps.namespace, id, content)
    },
  }
  try {
    await readBlobs(deps, ids, sink, signal)
    return sizes
  } catch (error) {
    if (error === tooLarge) return undefined
    throw error
  }
}

/** Throws CommitNotPublished for a blob that the commit does not hold below the profile's folders: a caller may read nothing else. */
async function requireReachable(
  deps: MirrorSourceDeps,
  commit: CommitHash,
  roots: readonly RelativePath[],
  ids: readonly CommitHash[],
  signal: AbortSignal,
): Promise<void> {
  const missing = new Set(ids)
  for await (const batch of listCommit(deps, commit, roots, signal, false)) {
    for (const { path, mode, id } of batch) if (mode !== '160000' && roots.some((root) => isWithin(path, root))) missing.delete(id)
    if (missing.size === 0) return
  }
  const [first = ''] = missing
  throw new Fault('CommitNotPublished', `commit ${commit} has no blob ${first} below the folders of this profile`)
}
