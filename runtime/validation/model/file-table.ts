/**
 * A long list of files, kept from one commit to the next. Files are sorted by the bytes of their paths, so the files of a folder are consecutive.
 * Changed in place, because copying some megabytes at each commit would take more memory than the list itself.
 */
import type { FileEntry, Listing } from './listing.ts'
import { PackedFiles, type PackedTable } from './packed-files.ts'

const slash = 0x2f

/** A sorted list of files; paths are compared byte by byte. */
export class FileTable extends PackedFiles {
  /** Takes the files of a listing in any order. */
  static of(entries: Iterable<FileEntry>): FileTable {
    const table = new FileTable()
    for (const entry of entries) table.append(entry)
    return table.sorted()
  }

  /** Reads the entries of a listing below a folder; `''` is all of it. Throws what listing throws. */
  static async list(listing: Listing, folder: string, signal: AbortSignal): Promise<FileTable> {
    const prefix = folder === '' ? '' : `${folder}/`
    const table = new FileTable()
    for await (const batch of listing.list(signal)) for (const entry of batch) if (entry.path.startsWith(prefix)) table.append(entry)
    return table.sorted()
  }

  /** Restores a packed table, possibly in another thread. */
  static unpack(packed: PackedTable): FileTable {
    return new FileTable(packed)
  }

  /**
   * The same files in order, with no more memory than they need; this table must not be used again. Call it once all files are appended,
   * before anything else. Git lists files in order already.
   */
  sorted(): FileTable {
    const count = this.length
    let isSorted = true
    for (let index = 1; index < count && isSorted; index += 1) isSorted = this.compare(index - 1, this, index) < 0
    if (isSorted) {
      this.trim()
      return this
    }
    const order = Uint32Array.from({ length: count }, (_, index) => index).toSorted((a, b) => this.compare(a, this, b))
    const sorted = new FileTable()
    sorted.reserveFor(this)
    for (const index of order) sorted.appendFrom(this, index)
    this.release()
    sorted.trim()
    return sorted
  }

  /** The files from `start` to before `end`. */
  entries(start = 0, end = this.length): FileEntry[] {
    const entries: FileEntry[] = []
    for (let index = start; index < end; index += 1) entries.push(this.entry(index))
    return entries
  }

  *paths(): Generator<string> {
    for (let index = 0; index < this.length; index += 1) yield this.path(index)
  }

  /** The files below a folder, from the first to before the last; `''` is the top. */
  rangeBelow(folder: string): { start: number; end: number } {
    if (folder === '') return { start: 0, end: this.length }
    const prefix = Buffer.from(`${folder}/`)
    const start = this.#lowerBound(prefix)
    // No path contains both a folder and the character after the slash.
    prefix[prefix.length - 1] = slash + 1
    return { start, end: this.#lowerBound(prefix) }
  }

  entriesBelow(folder: string): FileEntry[] {
    const { start, end } = this.rangeBelow(folder)
    return this.entries(start, end)
  }

  has(path: string): boolean {
    const bytes = Buffer.from(path)
    return this.#isAt(this.#lowerBound(bytes), bytes)
  }

  /** The file with this path; undefined without one. */
  find(path: string): FileEntry | undefined {
    const expected = Buffer.from(path)
    const index = this.#lowerBound(expected)
    return this.#isAt(index, expected) ? this.entry(index) : undefined
  }

  /** Adds a file, or changes the id of an existing one. */
  put({ path, id = '' }: FileEntry): void {
    const bytes = Buffer.from(path)
    const at = this.#lowerBound(bytes)
    if (this.#isAt(at, bytes)) this.replaceId(at, id)
    else this.insert(at, bytes, id)
  }

  remove(path: string): void {
    const bytes = Buffer.from(path)
    const at = this.#lowerBound(bytes)
    if (this.#isAt(at, bytes)) this.removeAt(at)
  }

  /**
   * A new table with the changes that replaces this one and immediately releases its memory: for many changes, which are slow one by one.
   */
  merged(gone: readonly string[], puts: readonly FileEntry[]): FileTable {
    const removed = new Set(gone)
    const changes = FileTable.of([...gone.map((path) => ({ path })), ...puts])
    const merged = new FileTable()
    merged.reserveFor(this, changes)
    let next = 0
    for (let index = 0; index <= this.length; index += 1) {
      let order = -1
      while (next < changes.length && order < 0) {
        order = index === this.length ? -1 : changes.compare(next, this, index)
        if (order > 0) break
        if (!removed.has(changes.path(next))) merged.appendFrom(changes, next)
        next += 1
      }
      if (index < this.length && order !== 0) merged.appendFrom(this, index)
    }
    this.release()
    changes.release()
    merged.trim()
    return merged
  }

  /** The first file that does not come before the path. */
  #lowerBound(path: Buffer): number {
    let [low, high] = [0, this.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.compareTo(middle, path) < 0) low = middle + 1
      else high = middle
    }
    return low
  }

  #isAt(index: number, path: Buffer): boolean {
    return index < this.length && this.compareTo(index, path) === 0
  }
}
