/**
 * Compares two trees in git's storage format, without subtrees. Pure. A tree is a list of `<mode> <name>NUL<id>`, sorted by name; the name of a
 * folder sorts as if it ended with `/`.
 */
import { Fault } from '../../platform/fault.ts'

/** `mode`: six digits, as git's listings have it. `id` in hex. */
export type TreeEntry = { mode: string; id: string }

/** A name that is a folder in one tree and a file in the other differs twice: one is gone, one is new. */
export type EntryDifference = { name: string; before: TreeEntry | undefined; after: TreeEntry | undefined }

type Parsed = TreeEntry & { name: Buffer; end: number }

/** The mode of a folder as `git ls-tree` writes it; a tree object stores it without the leading 0. */
export const folderMode = '040000'
const [space, slash] = [0x20, 0x2f]
/** The first step in which two trees are compared. */
const firstStep = 256

/** An absent tree is an empty one. `idBytes`: 20 or 32. Throws DeliveryFailed for bytes that are not a tree. */
export function* differingEntries(before: Buffer, after: Buffer, idBytes: number): Generator<EntryDifference> {
  let [one, other] = [0, 0]
  for (;;) {
    const same = sameEntries(before.subarray(one), after.subarray(other), idBytes)
    one += same
    other += same
    const left = one < before.length ? entryAt(before, one, idBytes) : undefined
    const right = other < after.length ? entryAt(after, other, idBytes) : undefined
    if (left === undefined && right === undefined) return
    const order = left === undefined ? 1 : right === undefined ? -1 : compareEntries(left, right)
    if (order <= 0) one = left?.end ?? one
    if (order >= 0) other = right?.end ?? other
    // Old commits contain modes such as 100664, which git treats as 100644.
    if (order === 0 && left?.mode === right?.mode && left?.id === right?.id) continue
    const name = (order <= 0 ? left : right)?.name.toString('utf8') ?? ''
    yield { name, before: order <= 0 ? plain(left) : undefined, after: order >= 0 ? plain(right) : undefined }
  }
}

function plain(entry: Parsed | undefined): TreeEntry | undefined {
  return entry === undefined ? undefined : { mode: entry.mode, id: entry.id }
}

/** The length of the entries that both trees begin with, so that most of a large tree is skipped without parsing its entries twice. */
function sameEntries(before: Buffer, after: Buffer, idBytes: number): number {
  const bytes = sameBytes(before, after)
  let at = 0
  while (at < bytes) {
    const end = before.indexOf(0, at) + 1 + idBytes
    if (end <= idBytes || end > bytes) return at
    at = end
  }
  return at
}

/** The number of bytes that both begin with: doubling steps bound the first difference, halving steps find it. */
function sameBytes(before: Buffer, after: Buffer): number {
  const max = Math.min(before.length, after.length)
  let same = 0
  let step = firstStep
  while (same < max && isSame(before, after, same, Math.min(max, same + step))) {
    same = Math.min(max, same + step)
    step *= 2
  }
  let end = Math.min(max, same + step)
  while (same < end) {
    const middle = Math.ceil((same + end) / 2)
    if (isSame(before, after, same, middle)) same = middle
    else end = middle - 1
  }
  return same
}

function isSame(before: Buffer, after: Buffer, from: number, to: number): boolean {
  return before.compare(after, from, to, from, to) === 0
}

function entryAt(tree: Buffer, at: number, idBytes: number): Parsed {
  const nameAt = tree.indexOf(space, at) + 1
  const zero = nameAt === 0 ? -1 : tree.indexOf(0, nameAt)
  const end = zero + 1 + idBytes
  if (zero <= nameAt || end > tree.length) throw new Fault('DeliveryFailed', 'git returned a damaged tree')
  return {
    mode: modeOf(tree.toString('latin1', at, nameAt - 1)),
    name: tree.subarray(nameAt, zero),
    id: tree.toString('hex', zero + 1, end),
    end,
  }
}

/** Like git's reading of modes: for files only the executable bit counts, and any unknown type is a submodule. */
function modeOf(octal: string): string {
  const mode = Number.parseInt(octal, 8)
  const kind = mode & 0o170000
  if (kind === 0o100000) return (mode & 0o100) === 0 ? '100644' : '100755'
  if (kind === 0o120000) return '120000'
  return kind === 0o040000 ? folderMode : '160000'
}

/** As git sorts the entries of a tree. */
function compareEntries(left: Parsed, right: Parsed): number {
  const common = Math.min(left.name.length, right.name.length)
  const order = left.name.compare(right.name, 0, common, 0, common)
  return order === 0 ? byteAt(left, common) - byteAt(right, common) : order
}

function byteAt({ name, mode }: Parsed, at: number): number {
  return name[at] ?? (mode === folderMode ? slash : 0)
}
