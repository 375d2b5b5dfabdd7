/**
 * Computes the changes between two commits, with the contents of the first changed files, within limits, for display.
 */
import type { BlobSink } from '../../content/protocol/protocol.ts'
import type { CommitHash, RelativePath } from '../../api/values.ts'
import { type GitLimits, runGit, type StartGit } from '../command/git.ts'
import { type ChangedFile, compareCommits } from './list-files.ts'
import { readBlobs } from './read-blobs.ts'

/** Limits: named files, files whose contents are read, bytes of one content, and bytes in total. */
export type DiffBounds = { named: number; files: number; fileBytes: number; totalBytes: number }

/** Both contents are undefined if they were not read: a link or submodule, too large, or beyond the limits. */
export type DiffedFile = {
  op: 'add' | 'change' | 'remove'
  path: RelativePath
  before?: Uint8Array
  after?: Uint8Array
}

/** `total`: the number of different files, `files` the first of them, with their contents if `isRead`. */
export type CommitDiff = { total: number; files: (DiffedFile & { isRead: boolean })[] }

type Repository = { folder: string; limits: GitLimits; start?: StartGit }

const timeoutMs = 10_000

/** Selects the files below `roots` that `takes` accepts. */
export type DiffedPart = { roots: readonly RelativePath[]; takes(path: RelativePath): boolean }

/** Compares a part of two commits; the repository must contain both. Throws RepositoryTooLarge and the faults of git. */
export async function diffCommits(
  repository: Repository,
  { from, commit, roots, takes }: { from: CommitHash; commit: CommitHash } & DiffedPart,
  bounds: DiffBounds,
  signal: AbortSignal,
): Promise<CommitDiff> {
  let total = 0
  const changed: ChangedFile[] = []
  for await (const batch of compareCommits(repository, from, commit, roots, signal)) {
    const taken = batch.filter(({ path }) => takes(path))
    total += taken.length
    changed.push(...taken.slice(0, bounds.named - changed.length))
  }
  const sizes = await sizesOf(repository, [...new Set(changed.slice(0, bounds.files).flatMap(sidesOf))], signal)
  const read = withinBounds(changed.slice(0, bounds.files), sizes, bounds)
  const contents = await contentsOf(repository, [...new Set([...read].flatMap(sidesOf))], signal)
  return {
    total,
    files: changed.map((file) => {
      const op = file.status === 'A' ? 'add' : file.status === 'D' ? 'remove' : 'change'
      const [before, after] = [contents.get(file.before), contents.get(file.id)]
      const isRead = read.has(file)
      return {
        op,
        path: file.path,
        isRead,
        ...(isRead && before !== undefined ? { before } : {}),
        ...(isRead && after !== undefined ? { after } : {}),
      }
    }),
  }
}

/** The ids of both sides; a new or a deleted file has only one. */
function sidesOf({ before, id }: ChangedFile): CommitHash[] {
  return [before, id].filter((one) => !/^0+$/.test(one))
}

/** A submodule's commit is not a blob. */
const link = '160000'

function withinBounds(
  changed: readonly ChangedFile[],
  sizes: ReadonlyMap<CommitHash, number>,
  bounds: DiffBounds,
): ReadonlySet<ChangedFile> {
  const read = new Set<ChangedFile>()
  let bytes = 0
  for (const file of changed) {
    const own = sidesOf(file).map((id) => sizes.get(id))
    if (file.mode === link || own.some((size) => size === undefined || size > bounds.fileBytes)) continue
    bytes += own.reduce<number>((sum, size = 0) => sum + size, 0)
    if (bytes > bounds.totalBytes) break
    read.add(file)
  }
  return read
}

/** Sizes of blobs; an id of anything else is left out. */
async function sizesOf(
  { folder, limits, start }: Repository,
  ids: readonly CommitHash[],
  signal: AbortSignal,
): Promise<Map<CommitHash, number>> {
  if (ids.length === 0) return new Map()
  const args = ['cat-file', '--batch-check=%(objectname) %(objecttype) %(objectsize)', '--buffer']
  const output = await runGit({ folder, args, input: `${ids.join('\n')}\n`, timeoutMs }, { limits, signal, start })
  return new Map(
    output
      .toString('latin1')
      .trimEnd()
      .split('\n')
      .map((line) => line.split(' '))
      .flatMap(([id = '', type, size]) => (type === 'blob' ? [[id as CommitHash, Number(size)] as const] : [])),
  )
}

async function contentsOf(
  repository: Repository,
  ids: readonly CommitHash[],
  signal: AbortSignal,
): Promise<ReadonlyMap<CommitHash, Uint8Array>> {
  const contents: Uint8Array[] = []
  let filled = 0
  const sink: BlobSink = {
    begin(_id, size) {
      contents.push(new Uint8Array(size))
      filled = 0
    },
    data(chunk) {
      contents.at(-1)?.set(chunk, filled)
      filled += chunk.byteLength
    },
    end() {},
  }
  if (ids.length > 0) await readBlobs(repository, ids, sink, signal)
  return new Map(ids.map((id, index) => [id, contents[index] ?? new Uint8Array()]))
}
