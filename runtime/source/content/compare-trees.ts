/**
 * Compares two commits tree by tree, through a reader that answers many questions: only folders that differ are read. For a small difference
 * that takes a fraction of a process of git; a large one is refused.
 */
import { maxPathCharacters } from '../../delivery/limits.ts'
import { Fault } from '../../fault.ts'
import { type CommitHash, isWithin, type RelativePath } from '../../gatewaysync/values.ts'
import type { ObjectsQuestion } from '../git/object-reader.ts'
import { differingEntries, type EntryDifference, folderMode, type TreeEntry } from './tree-difference.ts'

/** A file, link or submodule that the commits have otherwise; undefined where one has none. */
export type FileDifference = { path: string; before: TreeEntry | undefined; after: TreeEntry | undefined }

/** Asks for trees; settles when the sink has them all. */
export type ReadTrees = (question: ObjectsQuestion & { type: 'tree' }) => Promise<void>

/** Large trees of the commit that was compared last, by their ids: the next comparison begins with the same. */
export type KnownTrees = {
  trees: ReadonlyMap<string, Buffer>
  /** The memory of those before: to ask the system for it anew takes longer than to compare. */
  spare: ArrayBuffer[]
}

/** To begin with. */
export function noKnownTrees(): KnownTrees {
  return { trees: new Map(), spare: [] }
}

/** Files or folders that differ at one depth; the gate takes no more changes from a difference. */
const maxDifferences = 5_000
const maxDepth = 100
/** A new folder of as many bytes has some thousand entries: sooner than all of them are gone through, everything is listed. */
const maxNewTreeBytes = 128 * 1024
/** Two are held at a time: some 80,000 entries each. */
const maxTreeBytes = 4 * 1024 * 1024
/** A smaller one is read as quickly as it is found. */
const leastKnownBytes = 4 * 1024
const maxKnownBytes = 1024 * 1024

/** `path`: of the folder, with a `/` at its end unless it is the commit's own. Undefined where a commit has no such folder. */
type Pair = { path: string; before: string | undefined; after: string | undefined }
type Differences = { files: FileDifference[]; folders: Pair[] }

/**
 * What differs below the roots, in batches by depth; the same as `git diff-tree -r --no-renames`, in another order. Throws RepositoryTooLarge for
 * a difference of more than 5,000 files or folders at one depth, a new folder of more than 128 KiB, any of more than 4 MiB or beyond 100
 * others, and what reading throws.
 */
export async function* compareTrees(
  read: ReadTrees,
  from: CommitHash,
  commit: CommitHash,
  roots: readonly RelativePath[],
  known = noKnownTrees(),
): AsyncGenerator<readonly FileDifference[]> {
  if (roots.length === 0 || from === commit) return
  let pairs: Pair[] = [{ path: '', before: `${from}^{tree}`, after: `${commit}^{tree}` }]
  const kept = keptTrees()
  for (let depth = 0; pairs.length > 0; depth += 1) {
    if (depth > maxDepth) throw new Fault('RepositoryTooLarge', `the commits differ in more than ${maxDepth} folders in one another`)
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

/** Those that are worth it, as many as may be held. */
function keptTrees() {
  const trees = new Map<string, Buffer>()
  let left = maxKnownBytes
  return {
    trees,
    offer(name: string | undefined, tree: Buffer): void {
      if (name === undefined || tree.length < leastKnownBytes || tree.length > left) return
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
  const most = Math.max(files.length, folders.length)
  if (most > maxDifferences) throw new Fault('RepositoryTooLarge', `the commits differ in more than ${maxDifferences} files or folders`)
}

const none = Buffer.alloc(0)

/** Hands over the two trees of each pair as soon as both are there. */
async function readPairs(
  read: ReadTrees,
  pairs: readonly Pair[],
  { trees: known, spare }: KnownTrees,
  take: (pair: Pair, before: Buffer, after: Buffer) => void,
): Promise<void> {
  const wanted = pairs.flatMap((pair) => {
    const unknown = [pair.before, pair.after].filter((name) => name !== undefined && !known.has(name))
    return unknown.map((name, index) => ({ pair, name: name ?? '', isLast: index === unknown.length - 1 }))
  })
  let held = new Map<string, Buffer>()
  const treeOf = (name: string | undefined): Buffer => (name === undefined ? none : (held.get(name) ?? known.get(name) ?? none))
  let index = 0
  let tree: Buffer = none
  let filled = 0
  await read({
    type: 'tree',
    names: wanted.map(({ name }) => name),
    sink: {
      begin(_id, size) {
        const most = wanted[index]?.pair.before === undefined ? maxNewTreeBytes : maxTreeBytes
        if (size > most) throw new Fault('RepositoryTooLarge', `a folder of the commit takes more than ${most} bytes`)
        tree = memoryFor(size, spare)
        filled = 0
      },
      data(chunk) {
        tree.set(chunk, filled)
        filled += chunk.byteLength
      },
      end() {
        const question = wanted[index]
        index += 1
        if (question === undefined) return
        const { pair, name, isLast } = question
        held.set(name, tree)
        if (!isLast) return
        take(pair, treeOf(pair.before), treeOf(pair.after))
        held = new Map()
      },
    },
  })
  for (const pair of pairs) {
    const isKnown = [pair.before, pair.after].every((name) => name === undefined || known.has(name))
    if (isKnown) take(pair, treeOf(pair.before), treeOf(pair.after))
  }
}

/** A tree that may be kept gets memory of its own, with room for the tree that a later commit has in its place. */
function memoryFor(size: number, spare: ArrayBuffer[]): Buffer {
  if (size < leastKnownBytes) return Buffer.allocUnsafe(size)
  const index = spare.findIndex(({ byteLength }) => byteLength >= size && byteLength < 2 * size)
  const [memory = Buffer.allocUnsafeSlow(size + (size >> 4)).buffer] = index < 0 ? [] : spare.splice(index, 1)
  return Buffer.from(memory, 0, size)
}
