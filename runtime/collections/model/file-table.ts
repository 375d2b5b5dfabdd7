/**
 * A long list of files, kept from one commit to the next: some 100 bytes for each file instead of several objects. Nobody else knows a
 * byte of it. Files stand in the order of the bytes of their paths, so that every folder is a run of them; one file is spoken of by its
 * index, a part of its path by an offset in bytes. Changed in place, because copies of some megabytes at each commit are more than the
 * list itself.
 */
import type { Entry, Listing } from './listing.ts'

const slash = 0x2f
/** Room for some files more. */
const slackBytes = 16 * 1024
const slackFiles = 256

/** Ids are hashes of git, of 20 or 32 bytes. */
const isHash = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/
const hashLengths: ReadonlySet<number> = new Set([20, 32])

function bytesOfId(id: string): Buffer {
  if (isHash.test(id)) return Buffer.from(id, 'hex')
  if (hashLengths.has(id.length)) throw new RangeError(`"${id}" cannot be told from a hash`)
  return Buffer.from(id, 'latin1')
}

/** The bytes of a table, which may be moved to another thread. */
export type PackedTable = { bytes: ArrayBuffer; ends: ArrayBuffer; length: number }

/** A sorted list of files in two buffers. Indexes count files from 0; paths are UTF-8 and are compared byte by byte. */
export class FileTable {
  /** Of each file its path and at once its id. */
  #bytes = Buffer.from(new ArrayBuffer(slackBytes))
  /** Two numbers for each file: where its path ends, and where its id; the next file begins there. */
  #ends = new Int32Array(2 * slackFiles)
  #length = 0

  /** Takes the files of a listing in any order. */
  static of(entries: Iterable<Entry>): FileTable {
    const table = new FileTable()
    for (const entry of entries) table.append(entry)
    return table.sorted()
  }

  /** Reads what a listing holds below a folder; `''` is all of it. Throws what listing throws. */
  static async list(listing: Listing, folder: string, signal: AbortSignal): Promise<FileTable> {
    const prefix = folder === '' ? '' : `${folder}/`
    const table = new FileTable()
    for await (const batch of listing.list(signal)) for (const entry of batch) if (entry.path.startsWith(prefix)) table.append(entry)
    return table.sorted()
  }

  /** A table that `pack` gave away, maybe in another thread. */
  static unpack({ bytes, ends, length }: PackedTable): FileTable {
    const table = new FileTable()
    table.#bytes = Buffer.from(bytes)
    table.#ends = new Int32Array(ends)
    table.#length = length
    return table
  }

  /** Gives the bytes away; this table must not be used again. */
  pack(): PackedTable {
    return { bytes: this.#bytes.buffer, ends: this.#ends.buffer, length: this.#length }
  }

  get length(): number {
    return this.#length
  }

  /** Adds a file at the end; once all are there, `sorted` must be called before anything else. */
  append({ path, id = '' }: Entry): void {
    const start = this.#startOf(this.#length)
    // A UTF-16 unit is at most three bytes.
    this.#reserve(start + path.length * 3 + id.length, this.#length + 1)
    const pathEnd = start + this.#bytes.write(path, start)
    this.#ends[2 * this.#length] = pathEnd
    const length = isHash.test(id) ? this.#bytes.write(id, pathEnd, 'hex') : bytesOfId(id).copy(this.#bytes, pathEnd)
    this.#ends[2 * this.#length + 1] = pathEnd + length
    this.#length += 1
  }

  /** The same files in order, in no more room than they need; this table must not be used again. Git lists files in order already. */
  sorted(): FileTable {
    const count = this.#length
    let isSorted = true
    for (let index = 1; index < count && isSorted; index += 1) isSorted = this.#compare(index - 1, this, index) < 0
    if (isSorted) return this.#trimmed()
    const order = Uint32Array.from({ length: count }, (_, index) => index).toSorted((a, b) => this.#compare(a, this, b))
    const sorted = new FileTable()
    sorted.#reserve(this.#startOf(count), count)
    for (const index of order) sorted.#copy(this, index)
    this.#release()
    return sorted.#trimmed()
  }

  entry(index: number): Entry {
    const end = this.#pathEndOf(index)
    const idEnd = this.#startOf(index + 1)
    const path = this.#bytes.toString('utf8', this.#startOf(index), end)
    return idEnd === end ? { path } : { path, id: this.#bytes.toString(hashLengths.has(idEnd - end) ? 'hex' : 'latin1', end, idEnd) }
  }

  path(index: number): string {
    return this.#bytes.toString('utf8', this.#startOf(index), this.#pathEndOf(index))
  }

  /** The files from `start` to before `end`. */
  entries(start = 0, end = this.#length): Entry[] {
    const entries: Entry[] = []
    for (let index = start; index < end; index += 1) entries.push(this.entry(index))
    return entries
  }

  *paths(): Generator<string> {
    for (let index = 0; index < this.#length; index += 1) yield this.path(index)
  }

  /** The files below a folder, from the first to before the last; `''` is the top. */
  rangeBelow(folder: string): { start: number; end: number } {
    if (folder === '') return { start: 0, end: this.#length }
    const prefix = Buffer.from(`${folder}/`)
    const start = this.#lowerBound(prefix)
    // No path holds a folder and what follows the slash at once.
    prefix[prefix.length - 1] = slash + 1
    return { start, end: this.#lowerBound(prefix) }
  }

  entriesBelow(folder: string): Entry[] {
    const { start, end } = this.rangeBelow(folder)
    return this.entries(start, end)
  }

  has(path: string): boolean {
    const bytes = Buffer.from(path)
    return this.#isAt(this.#lowerBound(bytes), bytes)
  }

  /** The file of a path; undefined where there is none. */
  find(path: string): Entry | undefined {
    const wanted = Buffer.from(path)
    const index = this.#lowerBound(wanted)
    return this.#isAt(index, wanted) ? this.entry(index) : undefined
  }

  /** The offset in a path of its first slash from `from` on; -1: there is none. */
  slashAfter(index: number, from: number): number {
    const [start, end] = [this.#startOf(index), this.#pathEndOf(index)]
    for (let at = start + from; at < end; at += 1) if (this.#bytes[at] === slash) return at - start
    return -1
  }

  /** The offset in a path of its last slash; there must be one. */
  lastSlash(index: number): number {
    return this.#bytes.lastIndexOf(slash, this.#pathEndOf(index) - 1) - this.#startOf(index)
  }

  /** The part of a path from one offset to before another. */
  part(index: number, from: number, to: number): string {
    const start = this.#startOf(index)
    return this.#bytes.toString('utf8', start + from, start + to)
  }

  /** The same, where the offset may lie before the path: the path then begins with a slash. */
  partFrom(index: number, from: number, to: number): string {
    return from < 0 ? `/${this.part(index, 0, to)}` : this.part(index, from, to)
  }

  /** Whether two paths are the same from one offset to before the other. */
  isSamePart(a: number, b: number, from: number, to: number): boolean {
    const [first, second] = [this.#startOf(a), this.#startOf(b)]
    if (second + to > this.#pathEndOf(b)) return false
    for (let at = from; at < to; at += 1) if (this.#bytes[first + at] !== this.#bytes[second + at]) return false
    return true
  }

  /** Whether the rest of a path from an offset on is `name`, which is ASCII. */
  isRest(index: number, from: number, name: string): boolean {
    const start = this.#startOf(index) + from
    return this.#pathEndOf(index) - start === name.length && this.#bytes.toString('latin1', start, start + name.length) === name
  }

  /** Puts a file there, or another id to the file that is there. */
  put({ path, id = '' }: Entry): void {
    const bytes = Buffer.from(path)
    const at = this.#lowerBound(bytes)
    const isThere = this.#isAt(at, bytes)
    const end = this.#pathEndOf(at)
    const own = bytesOfId(id)
    if (isThere && this.#startOf(at + 1) - end === own.length) own.copy(this.#bytes, end)
    else this.#splice(at, isThere ? 1 : 0, { bytes: Buffer.concat([bytes, own]), pathLength: bytes.length })
  }

  remove(path: string): void {
    const bytes = Buffer.from(path)
    const at = this.#lowerBound(bytes)
    if (this.#isAt(at, bytes)) this.#splice(at, 1, undefined)
  }

  /** A new table with changes, in place of this one, whose bytes are given back at once: for more changes than are quick one by one. */
  merged(gone: readonly string[], puts: readonly Entry[]): FileTable {
    const removed = new Set(gone)
    const changes = FileTable.of([...gone.map((path) => ({ path })), ...puts])
    const merged = new FileTable()
    merged.#reserve(this.#startOf(this.#length) + changes.#startOf(changes.#length), this.#length + changes.#length)
    let next = 0
    for (let index = 0; index <= this.#length; index += 1) {
      let order = -1
      while (next < changes.#length && order < 0) {
        order = index === this.#length ? -1 : changes.#compare(next, this, index)
        if (order > 0) break
        if (!removed.has(changes.path(next))) merged.#copy(changes, next)
        next += 1
      }
      if (index < this.#length && order !== 0) merged.#copy(this, index)
    }
    this.#release()
    changes.#release()
    return merged.#trimmed()
  }

  /** Where the bytes of a file begin. */
  #startOf(index: number): number {
    return index === 0 ? 0 : (this.#ends[2 * index - 1] ?? 0)
  }

  #pathEndOf(index: number): number {
    return this.#ends[2 * index] ?? 0
  }

  /** Gives the bytes back at once; the table must not be used again. */
  #release(): void {
    this.#bytes.buffer.transfer(0)
    this.#ends.buffer.transfer(0)
  }

  #copy(from: FileTable, index: number): void {
    const [start, pathEnd, end] = [from.#startOf(index), from.#pathEndOf(index), from.#startOf(index + 1)]
    const at = this.#startOf(this.#length)
    from.#bytes.copy(this.#bytes, at, start, end)
    this.#ends[2 * this.#length] = at + pathEnd - start
    this.#ends[2 * this.#length + 1] = at + end - start
    this.#length += 1
  }

  /** Puts one file, or none, in the place of `removed` files. */
  #splice(at: number, removed: 0 | 1, file: { bytes: Buffer; pathLength: number } | undefined): void {
    const added = file === undefined ? 0 : 1
    const count = this.#length
    const [start, end, used] = [this.#startOf(at), this.#startOf(at + removed), this.#startOf(count)]
    const more = (file?.bytes.length ?? 0) - (end - start)
    this.#reserve(used + more, count + added)
    const [bytes, ends] = [this.#bytes, this.#ends]
    bytes.copyWithin(end + more, end, used)
    ends.copyWithin(2 * (at + added), 2 * (at + removed), 2 * count)
    if (file !== undefined) {
      file.bytes.copy(bytes, start)
      ends[2 * at] = start + file.pathLength
      ends[2 * at + 1] = start + file.bytes.length
    }
    this.#length = count + added - removed
    for (let index = 2 * (at + added); index < 2 * this.#length; index += 1) ends[index] = (ends[index] ?? 0) + more
  }

  /** Grows by a quarter. */
  #reserve(bytes: number, count: number): void {
    if (bytes > this.#bytes.length) this.#resizeBytes(bytes + (bytes >> 2))
    if (2 * count > this.#ends.length) this.#resizeEnds(count + (count >> 2))
  }

  #trimmed(): this {
    this.#resizeBytes(this.#startOf(this.#length) + slackBytes)
    this.#resizeEnds(this.#length + slackFiles)
    return this
  }

  /** What it had is given back at once and does not wait for the collector, which hardly sees it. */
  #resizeBytes(size: number): void {
    this.#bytes = Buffer.from(this.#bytes.buffer.transfer(size))
  }

  #resizeEnds(count: number): void {
    this.#ends = new Int32Array(this.#ends.buffer.transfer(2 * count * Int32Array.BYTES_PER_ELEMENT))
  }

  /** The first file that does not come before the path. */
  #lowerBound(path: Buffer): number {
    let [low, high] = [0, this.#length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#bytes.compare(path, 0, path.length, this.#startOf(middle), this.#pathEndOf(middle)) < 0) low = middle + 1
      else high = middle
    }
    return low
  }

  #isAt(index: number, path: Buffer): boolean {
    if (index >= this.#length) return false
    return this.#bytes.compare(path, 0, path.length, this.#startOf(index), this.#pathEndOf(index)) === 0
  }

  #compare(a: number, other: FileTable, b: number): number {
    return this.#bytes.compare(other.#bytes, other.#startOf(b), other.#pathEndOf(b), this.#startOf(a), this.#pathEndOf(a))
  }
}
