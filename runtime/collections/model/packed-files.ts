/**
 * A long list of files as bytes, for it is kept from one commit to the next: some 120 bytes each instead of several objects. Sorted by the
 * bytes of the paths, so that every folder is a run. Changed in place, because copies of some megabytes at each commit are more than the
 * list itself.
 */
import type { Entry, Listing } from './listing.ts'

/**
 * Each file is its path and at once its id. `ends` holds two numbers a file: where its path ends, and where its id; the next one begins
 * there.
 */
export type PackedFiles = { bytes: Buffer<ArrayBuffer>; ends: Int32Array<ArrayBuffer>; count: number }

const slash = 0x2f
/** Room for some files more. */
const slackBytes = 16 * 1024
const slackFiles = 256

export function packFiles(entries: Iterable<Entry>): PackedFiles {
  const files = emptyFiles()
  for (const entry of entries) appendFile(files, entry)
  return inOrder(files)
}

/** What a listing holds below a folder; `''` is all of it. */
export async function packListing(listing: Listing, folder: string, signal: AbortSignal): Promise<PackedFiles> {
  const prefix = folder === '' ? '' : `${folder}/`
  const files = emptyFiles()
  for await (const batch of listing.list(signal)) for (const entry of batch) if (entry.path.startsWith(prefix)) appendFile(files, entry)
  return inOrder(files)
}

export function emptyFiles(): PackedFiles {
  return { bytes: Buffer.from(new ArrayBuffer(slackBytes)), ends: new Int32Array(2 * slackFiles), count: 0 }
}

/** Adds a file at the end; once all are there, `inOrder` has to be asked. */
export function appendFile(files: PackedFiles, { path, id = '' }: Entry): void {
  const { count } = files
  const start = startOf(files, count)
  // A UTF-16 unit is at most three bytes.
  reserve(files, start + path.length * 3 + id.length, count + 1)
  const pathEnd = start + files.bytes.write(path, start)
  files.ends[2 * count] = pathEnd
  files.ends[2 * count + 1] = pathEnd + files.bytes.write(id, pathEnd, 'latin1')
  files.count += 1
}

/** The same files sorted, in no more room than they need, in place of the list; git lists them sorted already. */
export function inOrder(files: PackedFiles): PackedFiles {
  const { count } = files
  let isSorted = true
  for (let index = 1; index < count && isSorted; index += 1) isSorted = compare(files, index - 1, files, index) < 0
  if (isSorted) return trimmed(files)
  const order = Uint32Array.from({ length: count }, (_, index) => index).toSorted((a, b) => compare(files, a, files, b))
  const sorted = emptyFiles()
  reserve(sorted, startOf(files, count), count)
  for (const index of order) copyFile(sorted, files, index)
  release(files)
  return trimmed(sorted)
}

export function unpackFiles(files: PackedFiles): Entry[] {
  return entriesIn(files, 0, files.count)
}

export function entriesIn(files: PackedFiles, start: number, end: number): Entry[] {
  const entries: Entry[] = []
  for (let index = start; index < end; index += 1) entries.push(entryAt(files, index))
  return entries
}

export function entryAt(files: PackedFiles, index: number): Entry {
  const end = pathEndOf(files, index)
  const idEnd = startOf(files, index + 1)
  const path = files.bytes.toString('utf8', startOf(files, index), end)
  return idEnd === end ? { path } : { path, id: files.bytes.toString('latin1', end, idEnd) }
}

export function pathAt(files: PackedFiles, index: number): string {
  return files.bytes.toString('utf8', startOf(files, index), pathEndOf(files, index))
}

export function* pathsIn(files: PackedFiles): Generator<string> {
  for (let index = 0; index < files.count; index += 1) yield pathAt(files, index)
}

/** Where the bytes of a file begin. */
export function startOf({ ends }: PackedFiles, index: number): number {
  return index === 0 ? 0 : (ends[2 * index - 1] ?? 0)
}

export function pathEndOf({ ends }: PackedFiles, index: number): number {
  return ends[2 * index] ?? 0
}

/** The files below a folder, from the first to before the last; `''` is the top. */
export function rangeBelow(files: PackedFiles, folder: string): { start: number; end: number } {
  if (folder === '') return { start: 0, end: files.count }
  const prefix = Buffer.from(`${folder}/`)
  const start = lowerBound(files, prefix)
  // No path holds a folder and what follows the slash at once.
  prefix[prefix.length - 1] = slash + 1
  return { start, end: lowerBound(files, prefix) }
}

export function filesBelow(files: PackedFiles, folder: string): Entry[] {
  const { start, end } = rangeBelow(files, folder)
  return entriesIn(files, start, end)
}

export function hasFile(files: PackedFiles, path: string): boolean {
  const bytes = Buffer.from(path)
  return isAt(files, lowerBound(files, bytes), bytes)
}

/** Puts a file there, or another id to the file that is there. */
export function putFile(files: PackedFiles, { path, id = '' }: Entry): void {
  const bytes = Buffer.from(path)
  const at = lowerBound(files, bytes)
  if (!isAt(files, at, bytes)) {
    splice(files, at, 0, Buffer.concat([bytes, Buffer.from(id, 'latin1')]), bytes.length)
    return
  }
  const end = pathEndOf(files, at)
  if (startOf(files, at + 1) - end === id.length) files.bytes.write(id, end, 'latin1')
  else splice(files, at, 1, Buffer.concat([bytes, Buffer.from(id, 'latin1')]), bytes.length)
}

export function removeFile(files: PackedFiles, path: string): void {
  const bytes = Buffer.from(path)
  const at = lowerBound(files, bytes)
  if (isAt(files, at, bytes)) splice(files, at, 1, undefined, 0)
}

/** A new list that takes the place of `files`, whose bytes are given back at once: for more changes than are quick one by one. */
export function mergeFiles(files: PackedFiles, gone: readonly string[], puts: readonly Entry[]): PackedFiles {
  const removed = new Set(gone)
  const changes = packFiles([...gone.map((path) => ({ path })), ...puts])
  const merged = emptyFiles()
  reserve(merged, startOf(files, files.count) + startOf(changes, changes.count), files.count + changes.count)
  let next = 0
  for (let index = 0; index <= files.count; index += 1) {
    let order = -1
    while (next < changes.count && order < 0) {
      order = index === files.count ? -1 : compare(changes, next, files, index)
      if (order > 0) break
      if (!removed.has(pathAt(changes, next))) copyFile(merged, changes, next)
      next += 1
    }
    if (index < files.count && order !== 0) copyFile(merged, files, index)
  }
  release(files)
  release(changes)
  return trimmed(merged)
}

/** Gives the bytes back at once; the list must not be used again. */
function release({ bytes, ends }: PackedFiles): void {
  bytes.buffer.transfer(0)
  ends.buffer.transfer(0)
}

function copyFile(to: PackedFiles, from: PackedFiles, index: number): void {
  const [start, pathEnd, end] = [startOf(from, index), pathEndOf(from, index), startOf(from, index + 1)]
  const at = startOf(to, to.count)
  from.bytes.copy(to.bytes, at, start, end)
  to.ends[2 * to.count] = at + pathEnd - start
  to.ends[2 * to.count + 1] = at + end - start
  to.count += 1
}

/** Puts one file, or none, in the place of `removed` files. */
function splice(files: PackedFiles, at: number, removed: 0 | 1, entry: Buffer | undefined, pathLength: number): void {
  const added = entry === undefined ? 0 : 1
  const { count } = files
  const [start, end, used] = [startOf(files, at), startOf(files, at + removed), startOf(files, count)]
  const more = (entry?.length ?? 0) - (end - start)
  reserve(files, used + more, count + added)
  const { bytes, ends } = files
  bytes.copyWithin(end + more, end, used)
  ends.copyWithin(2 * (at + added), 2 * (at + removed), 2 * count)
  if (entry !== undefined) {
    entry.copy(bytes, start)
    ends[2 * at] = start + pathLength
    ends[2 * at + 1] = start + entry.length
  }
  files.count = count + added - removed
  for (let index = 2 * (at + added); index < 2 * files.count; index += 1) ends[index] = (ends[index] ?? 0) + more
}

/** Grows by a quarter. */
function reserve(files: PackedFiles, bytes: number, count: number): void {
  if (bytes > files.bytes.length) resizeBytes(files, bytes + (bytes >> 2))
  if (2 * count > files.ends.length) resizeEnds(files, count + (count >> 2))
}

function trimmed(files: PackedFiles): PackedFiles {
  resizeBytes(files, startOf(files, files.count) + slackBytes)
  resizeEnds(files, files.count + slackFiles)
  return files
}

/** What it had is given back at once and does not wait for the collector, which hardly sees it. */
function resizeBytes(files: PackedFiles, size: number): void {
  files.bytes = Buffer.from(files.bytes.buffer.transfer(size))
}

function resizeEnds(files: PackedFiles, count: number): void {
  files.ends = new Int32Array(files.ends.buffer.transfer(2 * count * Int32Array.BYTES_PER_ELEMENT))
}

/** The first file that does not come before the path. */
function lowerBound(files: PackedFiles, path: Buffer): number {
  let [low, high] = [0, files.count]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (files.bytes.compare(path, 0, path.length, startOf(files, middle), pathEndOf(files, middle)) < 0) low = middle + 1
    else high = middle
  }
  return low
}

function isAt(files: PackedFiles, index: number, path: Buffer): boolean {
  if (index >= files.count) return false
  return files.bytes.compare(path, 0, path.length, startOf(files, index), pathEndOf(files, index)) === 0
}

function compare(some: PackedFiles, a: number, others: PackedFiles, b: number): number {
  return some.bytes.compare(others.bytes, startOf(others, b), pathEndOf(others, b), startOf(some, a), pathEndOf(some, a))
}

/** By UTF-16 units. */
export function byPath(a: Entry, b: Entry): number {
  return a.path < b.path ? -1 : a.path > b.path ? 1 : 0
}
