/**
 * Compares two commits tree by tree with a reader that answers many requests: only folders that differ are read. For a small difference that takes a
 * fraction of the time of a git process; a large one is refused.
 */
import { Fault } from '../../platform/fault.ts'
import { type CommitHash, isWithin, type RelativePath } from '../../api/values.ts'
import { maxPathCharacters } from '../../content/protocol/protocol.ts'
import type { ObjectsRequest } from '../command/object-reader.ts'
import { differingEntries, type EntryDifference, folderMode, type TreeEntry } from './tree-difference.ts'

/** A file, link or submodule that differs between the commits; undefined on the side that lacks it. */
export type FileDifference = { path: string; before: TreeEntry | undefined; after: TreeEntry | undefined }

/** Requests trees; settles when the sink has received all of them. */
export type ReadTrees = (question: ObjectsRequest & { type: 'tree' }) => Promise<void>

/** Large trees of the last compared commit, by id: the next comparison starts with the same trees. */
export type CachedTrees = {
  trees: ReadonlyMap<string, Buffer>
  /** Buffers for reuse: allocating new ones takes longer than the comparison. */
  spare: ArrayBuffer[]
}

/** The initial state. */
export function noCachedTrees(): CachedTrees {
  return { trees: new Map(), spare: [] }
}

/** Maximum number of differing files or folders at one depth; validation accepts no more changes from a difference. */
const maxDifferences = 5_000
const maxDepth = 100
/** A new folder of this size has some thousand entries: a complete listing is faster than reading all of them. */
const maxNewTreeBytes = 128 * 1024
/** Two are held at a time: some 80,000 entries each. */
const maxTreeBytes = 4 * 1024 * 1024
/** Reading a smaller one is as fast as finding it in the cache. */
const minCachedBytes = 4 * 1024
const maxCachedBytes = 1024 * 1024

/** `path`: of the folder, ending with `/` except for the root. Undefined if a commit lacks the folder. */
type Pair = { path: string; before: string | undefined; after: string | undefined }
type Differences = { files: FileDifference[]; folders: Pair[] }

/**
 * The differences below the roots, in batches by depth; the same as `git diff-tree -r --no-renames`, in another order. Throws
 * RepositoryTooLarge for a difference of more than 5,000 files or folders at one depth, a new folder of more than 128 KiB, any folder of
 * more than 4 MiB, or more than 100 large ones, and what reading throws.
 */
export async function* compareTrees(
  read: ReadTrees,
  from: CommitHash,
  commit: CommitHash,
  roots: readonly RelativePath[],
  known = noCachedTrees(),
): AsyncGenerator<readonly FileDifference[]> {
  if (roots.length === 0 || from === commit) return
  let pairs: Pair[] = [{ path: '', before: `${from}^{tree}`, after: `${commit}^{tree}` }]
  const kept = keptTrees()
  for (let depth = 0; pairs.length > 0; depth += 1) {
    if (depth > maxDepth) throw new Fault('RepositoryTooLarge', `the commits differ in more than ${maxDepth} nested folders`)
    const found: Differences = { files: [], folders: [] }
    await readPairs(read, pairs, known, (pair, before, after) => {
      kept.offer(pair.after, after)
      for (const difference of differingEntries(before, after, commit.length / 2)) addDifference(pair.path, difference, roots, found)
    })
    if (found.files.length > 0) yield found.files
    pairs = found.folders
  }
  const still = new Set(kept.trees.values())
  known.spare = [...known.trees.values()].filter((tree) => !still.has(tree)).map((tree) => tree.buffer as ArrayBuffer)
  known.trees = kept.trees
}

/** The trees worth keeping, up to the limit. */
function keptTrees() {
  const trees = new Map<string, Buffer>()
  let left = maxCachedBytes
  return {
    trees,
    offer(name: string | undefined, tree: Buffer): void {
      if (name === undefined || tree.length < minCachedBytes || tree.length > left) return
      trees.set(name, tree)
      left -= tree.length
    },
  }
}

function addDifference(
  folder: string,
  { name, before, after }: EntryDifference,
  roots: readonly RelativePath[],
  { files, folders }: Differences,
): void {
  const path = folder + name
  if (path.length > maxPathCharacters)
    throw new Fault('RepositoryTooLarge', `a path of the commit is longer than ${maxPathCharacters} characters`)
  const isInside = roots.some((root) => isWithin(path, root))
  if ((before ?? after)?.mode !== folderMode) {
    if (isInside) files.push({ path, before, after })
  } else if (isInside || roots.some((root) => isWithin(root, path))) {
    folders.push({ path: `${path}/`, before: before?.id, after: after?.id })
  }
  const maxSize = Math.max(files.length, folders.length)
  if (maxSize > maxDifferences) throw new Fault('RepositoryTooLarge', `the commits differ in more than ${maxDifferences} files or folders`)
}

const none = Buffer.alloc(0)

/** Returns the two trees of each pair as soon as both have arrived. */
async function readPairs(
  read: ReadTrees,
  pairs: readonly Pair[],
  { trees: known, spare }: CachedTrees,
  take: (pair: Pair, before: Buffer, after: Buffer) => void,
): Promise<void> {
  const requests = pairs.flatMap((pair) => {
    const unknown = [pair.before, pair.after].filter((name) => name !== undefined && !known.has(name))
    return unknown.map((name, index) => ({ pair, name: name ?? '', isLast: index === unknown.length - 1 }))
  })
  let buffered = new Map<string, Buffer>()
  const treeOf = (name: string | undefined): Buffer => (name === undefined ? none : (buffered.get(name) ?? known.get(name) ?? none))
  let index = 0
  let tree: Buffer = none
  let filled = 0
  await read({
    type: 'tree',
    names: requests.map(({ name }) => name),
    sink: {
      begin(_id, size) {
        const maxSize = requests[index]?.pair.before === undefined ? maxNewTreeBytes : maxTreeBytes
        if (size > maxSize) throw new Fault('RepositoryTooLarge', `a folder of the commit takes more than ${maxSize} bytes`)
        tree = memoryFor(size, spare)
        filled = 0
      },
      data(chunk) {
        tree.set(chunk, filled)
        filled += chunk.byteLength
      },
      end() {
        const question = requests[index]
        index += 1
        if (question === undefined) return
        const { pair, name, isLast } = question
        buffered.set(name, tree)
        if (!isLast) return
        take(pair, treeOf(pair.before), treeOf(pair.after))
        buffered = new Map()
      },
    },
  })
  for (const pair of pairs) {
    const isKnown = [pair.before, pair.after].every((name) => name === undefined || known.has(name))
    if (isKnown) take(pair, treeOf(pair.before), treeOf(pair.after))
  }
}

/** A tree that may be kept gets its own memory, with space for the tree that a later commit has in its place. */
function memoryFor(size: number, spare: ArrayBuffer[]): Buffer {
  if (size < minCachedBytes) return Buffer.allocUnsafe(size)
  const index = spare.findIndex(({ byteLength }) => byteLength >= size && byteLength < 2 * size)
  const [memory = Buffer.allocUnsafeSlow(size + (size >> 4)).buffer] = index < 0 ? [] : spare.splice(index, 1)
  return Buffer.from(memory, 0, size)
}
