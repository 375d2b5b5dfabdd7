/**
 * A long list of files as bytes, for it is kept from one commit to the next: some 140 bytes each instead of several objects. Sorted by
 * path; a NUL, which is in no path, stands before each path and before each id.
 */
import type { Entry } from './listing.ts'

export type PackedFiles = { bytes: Buffer; count: number }

const nul = '\0'

/** `entries` in the order of `byPath`. Nothing but the bytes is made, for there may be tens of thousands. */
export function packFiles(entries: readonly Entry[]): PackedFiles {
  const size = entries.reduce((sum, { path, id = '' }) => sum + Buffer.byteLength(path) + id.length + 2, 1)
  const bytes = Buffer.alloc(size)
  let at = 0
  for (const { path, id = '' } of entries) {
    // The NULs between are there already.
    at += 1 + bytes.write(path, at + 1)
    at += 1 + bytes.write(id, at + 1, 'latin1')
  }
  return { bytes, count: entries.length }
}

export function unpackFiles({ bytes, count }: PackedFiles): Entry[] {
  return count === 0 ? [] : entriesIn(bytes.toString('utf8'))
}

/** The files below a folder, which stand side by side. */
export function filesBelow({ bytes }: PackedFiles, folder: string): Entry[] {
  const prefix = Buffer.from(`${nul}${folder}/`)
  const start = bytes.indexOf(prefix)
  if (start < 0) return []
  let end = start
  while (bytes.subarray(end, end + prefix.length).equals(prefix)) end = endOf(bytes, end)
  return entriesIn(bytes.toString('utf8', start, end + 1))
}

export function hasFile({ bytes }: PackedFiles, path: string): boolean {
  return bytes.includes(`${nul}${path}${nul}`)
}

/** Puts another id of the same length in the place of a file's; false where that cannot be done. */
export function replaceId({ bytes }: PackedFiles, path: string, id: string): boolean {
  const at = bytes.indexOf(`${nul}${path}${nul}`)
  if (at < 0) return false
  const start = at + Buffer.byteLength(path) + 2
  if (bytes.indexOf(nul, start) - start !== id.length) return false
  bytes.write(id, start, 'latin1')
  return true
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
