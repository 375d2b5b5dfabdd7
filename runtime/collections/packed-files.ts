/**
 * A long list of files as bytes, for it is kept from one commit to the next: some 140 bytes each instead of several objects. The files
 * below a folder stand side by side; a NUL, which is in no path, stands before each path and before each id. Changed in place, because
 * copies of some megabytes at each commit are more than the list itself.
 */
import type { Entry } from './listing.ts'

/** `length` of the bytes are in use. */
export type PackedFiles = { bytes: Buffer; length: number; count: number }

const nul = '\0'
/** Room for some files more. */
const slackBytes = 64 * 1024

/** `entries` in the order of `byPath`. Nothing but the bytes is made, for there may be tens of thousands. */
export function packFiles(entries: readonly Entry[]): PackedFiles {
  const length = entries.reduce((sum, { path, id = '' }) => sum + Buffer.byteLength(path) + id.length + 2, 1)
  const bytes = Buffer.alloc(length + slackBytes)
  let at = 0
  for (const { path, id = '' } of entries) {
    // The NULs between are there already.
    at += 1 + bytes.write(path, at + 1)
    at += 1 + bytes.write(id, at + 1, 'latin1')
  }
  return { bytes, length, count: entries.length }
}

export function unpackFiles({ bytes, length, count }: PackedFiles): Entry[] {
  return count === 0 ? [] : entriesIn(bytes.toString('utf8', 0, length))
}

/** The files below a folder. */
export function filesBelow(files: PackedFiles, folder: string): Entry[] {
  const prefix = Buffer.from(`${nul}${folder}/`)
  const used = usedOf(files)
  const start = used.indexOf(prefix)
  if (start < 0) return []
  let end = start
  while (used.subarray(end, end + prefix.length).equals(prefix)) end = endOf(used, end)
  return entriesIn(used.toString('utf8', start, end + 1))
}

export function hasFile(files: PackedFiles, path: string): boolean {
  return find(files, path) >= 0
}

/** Puts a file there, or another id to the file that is there. */
export function putFile(files: PackedFiles, { path, id = '' }: Entry): void {
  const at = find(files, path)
  if (at >= 0) {
    const start = at + Buffer.byteLength(path) + 2
    if (files.bytes.indexOf(nul, start) - start === id.length) {
      files.bytes.write(id, start, 'latin1')
      return
    }
    removeFile(files, path)
  }
  insert(files, placeFor(files, path), Buffer.from(`${nul}${path}${nul}${id}`))
}

export function removeFile(files: PackedFiles, path: string): void {
  const at = find(files, path)
  if (at < 0) return
  const end = endOf(usedOf(files), at)
  files.bytes.copyWithin(at, end, files.length)
  files.length -= end - at
  files.count -= 1
}

function insert(files: PackedFiles, at: number, entry: Buffer): void {
  const length = files.length + entry.length
  if (length > files.bytes.length) {
    const larger = Buffer.alloc(length + slackBytes)
    files.bytes.copy(larger, 0, 0, files.length)
    files.bytes = larger
  }
  files.bytes.copyWithin(at + entry.length, at, files.length)
  entry.copy(files.bytes, at)
  files.length = length
  files.count += 1
}

/** Before the first file of the nearest folder above that has one: so the files of every folder stay side by side. */
function placeFor(files: PackedFiles, path: string): number {
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
    const at = usedOf(files).indexOf(`${nul}${path.slice(0, end)}/`)
    if (at >= 0) return at
  }
  return 0
}

function find(files: PackedFiles, path: string): number {
  return usedOf(files).indexOf(`${nul}${path}${nul}`)
}

function usedOf({ bytes, length }: PackedFiles): Buffer {
  return bytes.subarray(0, length)
}

/** Where the next entry begins. */
function endOf(bytes: Buffer, start: number): number {
  return bytes.indexOf(nul, bytes.indexOf(nul, start + 1) + 1)
}

function entriesIn(text: string): Entry[] {
  const parts = text.split(nul)
  const entries: Entry[] = []
  for (let index = 1; index + 1 < parts.length; index += 2) {
    const [path = '', id = ''] = [parts[index], parts[index + 1]]
    entries.push(id === '' ? { path } : { path, id })
  }
  return entries
}

/** By UTF-16 units, so that what begins alike stands side by side. */
export function byPath(a: Entry, b: Entry): number {
  return a.path < b.path ? -1 : a.path > b.path ? 1 : 0
}
