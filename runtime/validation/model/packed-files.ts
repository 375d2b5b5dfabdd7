/**
 * Many files as bytes: some 100 bytes for each file instead of several objects. The encoding is private: a file is identified by its index, a part
 * of its path by an offset in bytes. file-table.ts keeps them in order.
 */
import type { FileEntry } from './listing.ts'

const slash = 0x2f
const dot = 0x2e
/** Space for some additional files. */
const slackBytes = 16 * 1024
const slackFiles = 256

/** Ids are hashes of git, of 20 or 32 bytes. */
const isHash = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/
const hashLengths: ReadonlySet<number> = new Set([20, 32])

function bytesOfId(id: string): Buffer {
  if (isHash.test(id)) return Buffer.from(id, 'hex')
  if (hashLengths.has(id.length)) throw new RangeError(`"${id}" has the length of a hash`)
  return Buffer.from(id, 'latin1')
}

/** The bytes of a list, which may be moved to another thread. */
export type PackedTable = { bytes: ArrayBuffer; ends: ArrayBuffer; length: number }

/**
 * Files in two buffers. Indexes count files from 0; paths are UTF-8. What runs for each file uses no array patterns: the images run without
 * V8's optimizing compiler, and each pattern then allocates an array and an iterator, a quarter of all garbage of a check.
 */
export class PackedFiles {
  /** For each file its path, directly followed by its id. */
  #bytes: Buffer<ArrayBuffer>
  /** Two numbers for each file: the end of its path, and the end of its id; the next file begins there. */
  #ends: Int32Array<ArrayBuffer>
  #length: number

  /** `packed`: the bytes of another list, possibly from another thread. */
  constructor(packed?: PackedTable) {
    this.#bytes = Buffer.from(packed?.bytes ?? new ArrayBuffer(slackBytes))
    this.#ends = new Int32Array(packed?.ends ?? new ArrayBuffer(2 * slackFiles * Int32Array.BYTES_PER_ELEMENT))
    this.#length = packed?.length ?? 0
  }

  /** Hands over the bytes; this list must not be used again. */
  pack(): PackedTable {
    return { bytes: this.#bytes.buffer, ends: this.#ends.buffer, length: this.#length }
  }

  get length(): number {
    return this.#length
  }

  /** The memory of the list. */
  get bytes(): number {
    return this.#bytes.byteLength + this.#ends.byteLength
  }

  /** Adds a file at the end. Throws a RangeError for an id that has the length of a hash but is not one. */
  append({ path, id = '' }: FileEntry): void {
    const start = this.#startOf(this.#length)
    // A UTF-16 unit is at most three bytes.
    this.#reserve(start + path.length * 3 + id.length, this.#length + 1)
    const pathEnd = start + this.#bytes.write(path, start)
    this.#ends[2 * this.#length] = pathEnd
    const length = isHash.test(id) ? this.#bytes.write(id, pathEnd, 'hex') : bytesOfId(id).copy(this.#bytes, pathEnd)
    this.#ends[2 * this.#length + 1] = pathEnd + length
    this.#length += 1
  }

  entry(index: number): FileEntry {
    const end = this.#pathEndOf(index)
    const idEnd = this.#startOf(index + 1)
    const path = this.#bytes.toString('utf8', this.#startOf(index), end)
    return idEnd === end ? { path } : { path, id: this.#bytes.toString(hashLengths.has(idEnd - end) ? 'hex' : 'latin1', end, idEnd) }
  }

  path(index: number): string {
    return this.#bytes.toString('utf8', this.#startOf(index), this.#pathEndOf(index))
  }

  /** The offset in a path of its first slash from `from` on, or -1. */
  slashAfter(index: number, from: number): number {
    const start = this.#startOf(index)
    const end = this.#pathEndOf(index)
    for (let at = start + from; at < end; at += 1) if (this.#bytes[at] === slash) return at - start
    return -1
  }

  /** The offset in a path of its last slash, or -1. */
  lastSlash(index: number): number {
    const start = this.#startOf(index)
    for (let at = this.#pathEndOf(index) - 1; at >= start; at -= 1) if (this.#bytes[at] === slash) return at - start
    return -1
  }

  /** Whether the name of a file begins with a dot. */
  isHidden(index: number): boolean {
    return this.#bytes[this.#startOf(index) + this.lastSlash(index) + 1] === dot
  }

  /** The part of a path from one offset to before another. */
  part(index: number, from: number, to: number): string {
    const start = this.#startOf(index)
    return this.#bytes.toString('utf8', start + from, start + to)
  }

  /** The same with an offset that may be before the path: the path then begins with a slash. */
  partFrom(index: number, from: number, to: number): string {
    return from < 0 ? `/${this.part(index, 0, to)}` : this.part(index, from, to)
  }

  /** Whether two paths are the same from one offset to before the other. */
  isSamePart(a: number, b: number, from: number, to: number): boolean {
    const first = this.#startOf(a)
    const second = this.#startOf(b)
    if (second + to > this.#pathEndOf(b)) return false
    for (let at = from; at < to; at += 1) if (this.#bytes[first + at] !== this.#bytes[second + at]) return false
    return true
  }

  /** Whether the rest of a path from an offset on is `name`, which is ASCII. */
  isRest(index: number, from: number, name: string): boolean {
    const start = this.#startOf(index) + from
    return this.#pathEndOf(index) - start === name.length && this.#bytes.toString('latin1', start, start + name.length) === name
  }

  /** Compares byte by byte: negative if the path of file `a` comes before that of file `b` of another list; 0 if both are equal. */
  protected compare(a: number, other: PackedFiles, b: number): number {
    return this.#bytes.compare(other.#bytes, other.#startOf(b), other.#pathEndOf(b), this.#startOf(a), this.#pathEndOf(a))
  }

  /** The same for a path of this list and a given one. */
  protected compareTo(index: number, path: Buffer): number {
    return this.#bytes.compare(path, 0, path.length, this.#startOf(index), this.#pathEndOf(index))
  }

  /** Adds a file of another list at the end; the space for it must be reserved. */
  protected appendFrom(from: PackedFiles, index: number): void {
    const start = from.#startOf(index)
    const pathEnd = from.#pathEndOf(index)
    const end = from.#startOf(index + 1)
    const at = this.#startOf(this.#length)
    from.#bytes.copy(this.#bytes, at, start, end)
    this.#ends[2 * this.#length] = at + pathEnd - start
    this.#ends[2 * this.#length + 1] = at + end - start
    this.#length += 1
  }

  /** Inserts a file before the one at an index. */
  protected insert(at: number, path: Buffer, id: string): void {
    this.#splice(at, 0, { bytes: Buffer.concat([path, bytesOfId(id)]), pathLength: path.length })
  }

  /** Changes the id of the file at an index. */
  protected replaceId(at: number, id: string): void {
    const own = bytesOfId(id)
    const [start, pathEnd] = [this.#startOf(at), this.#pathEndOf(at)]
    if (this.#startOf(at + 1) - pathEnd === own.length) own.copy(this.#bytes, pathEnd)
    else this.#splice(at, 1, { bytes: Buffer.concat([this.#bytes.subarray(start, pathEnd), own]), pathLength: pathEnd - start })
  }

  protected removeAt(at: number): void {
    this.#splice(at, 1, undefined)
  }

  /** Reserves space for all files of some lists. */
  protected reserveFor(...lists: readonly PackedFiles[]): void {
    let [bytes, count] = [0, 0]
    for (const list of lists) {
      bytes += list.#startOf(list.#length)
      count += list.#length
    }
    this.#reserve(bytes, count)
  }

  /** Keeps space for some additional files and releases the rest. */
  protected trim(): void {
    this.#resizeBytes(this.#startOf(this.#length) + slackBytes)
    this.#resizeEnds(this.#length + slackFiles)
  }

  /** Releases the memory immediately; the list must not be used again. */
  protected release(): void {
    this.#bytes.buffer.transfer(0)
    this.#ends.buffer.transfer(0)
  }

  /** The offset of a file's first byte. */
  #startOf(index: number): number {
    return index === 0 ? 0 : (this.#ends[2 * index - 1] ?? 0)
  }

  #pathEndOf(index: number): number {
    return this.#ends[2 * index] ?? 0
  }

  /** Replaces `removed` files with one file or none. */
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

  /** The old buffer is released immediately instead of by the garbage collector, which hardly accounts for it. */
  #resizeBytes(size: number): void {
    this.#bytes = Buffer.from(this.#bytes.buffer.transfer(size))
  }

  #resizeEnds(count: number): void {
    this.#ends = new Int32Array(this.#ends.buffer.transfer(2 * count * Int32Array.BYTES_PER_ELEMENT))
  }
}
