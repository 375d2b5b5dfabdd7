/**
 * Reads the files of a tar archive as a stream (POSIX ustar and pax, GNU long names). Refuses everything that a tree of configuration files
 * does not need: links, devices, sparse files, absolute paths, `..`, git's own folder, and two entries for one file. Holds one header at a
 * time and the names.
 */
import { requireCount, requirePath, requireSize } from '../../content/protocol/protocol.ts'
import { isRelativePath, parentOf, printable, type RelativePath } from '../../api/values.ts'
import { Fault } from '../../platform/fault.ts'

/** A file; `content` must be read before the next file is requested, or not at all. */
export type TarFile = { path: RelativePath; isExecutable: boolean; size: number; content: AsyncIterable<Uint8Array> }

const blockBytes = 512
/** Maximum size of an extended header; the longest path that is accepted has 32,768 characters. */
const maxExtendedBytes = 64 * 1024
/** Maximum size of all of them. Most have 100 to 200 bytes. */
const maxExtendedBytesInAll = 32 * 1024 * 1024
/** The tar of macOS writes about twenty. */
const maxRecords = 50
/** More headers than paths fit into `maxNameBytes`, each with an extended one: a header takes the event loop some 20 µs. */
const maxHeaders = 400_000

/**
 * Yields the files in their order. Throws RepositoryRefused for a forbidden or malformed entry, RepositoryTooLarge beyond the limits for a
 * commit and `maxBytes` in all, and what `chunks` throws.
 */
export async function* readTar(chunks: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<TarFile> {
  const input = new Input(chunks, maxBytes)
  const names = new Names()
  let extended: Extended = {}
  let [unpacked, extendedBytes] = [0, 0]
  for (let [headers, files] = [0, 0]; ;) {
    const header = await input.take(blockBytes)
    if (header === undefined) throw refused('its archive ends early')
    if (header.every((byte) => byte === 0)) break
    if ((headers += 1) > maxHeaders)
      throw new Fault('RepositoryTooLarge', `the artifact has more than ${maxHeaders} headers of files and folders`)
    const entry = readHeader(header)
    const size = extended.size ?? entry.size
    unpacked += size
    if (unpacked > maxBytes) throw tooLarge(maxBytes)
    if (extendedTypes.has(entry.type)) {
      extendedBytes += entry.size
      if (entry.size > maxExtendedBytes || extendedBytes > maxExtendedBytesInAll) throw refused('its archive has headers that are too long')
      extended = { ...extended, ...(await readExtended(input, entry)) }
      continue
    }
    const path = pathOf(extended.path ?? entry.path)
    extended = {}
    if (entry.type === '5') {
      if (size !== 0) throw refused(`its folder "${printable(path)}" has content`)
      requirePath(path)
      names.addFolder(path)
      continue
    }
    if (entry.type !== '0' && entry.type !== '\0')
      throw refused(`"${printable(path)}" is ${kinds[entry.type] ?? 'neither file nor folder'}`)
    if (!isRelativePath(path)) throw refused('it has a file without a name')
    requireCount((files += 1))
    requirePath(path)
    requireSize({ path, size })
    names.addFile(path)
    const content = input.pieces(size)
    yield { path, isExecutable: (entry.mode & 0o100) !== 0, size, content }
    await drain(content)
    await input.skip((blockBytes - (size % blockBytes)) % blockBytes)
  }
  // What follows is read to its end, so that the digest of the whole layer is known.
  await input.drain()
}

const kinds: Readonly<Record<string, string>> = {
  1: 'a hard link, which is not accepted',
  2: 'a symbolic link, which is not accepted',
  3: 'a device',
  4: 'a device',
  6: 'a named pipe',
}
/** Long names of GNU tar, extended headers of pax. */
const extendedTypes: ReadonlySet<string> = new Set(['L', 'x', 'g'])

type Header = { path: string; mode: number; size: number; type: string }
/** The fields of an extended header for the next file. */
type Extended = { path?: string; size?: number }

function readHeader(header: Buffer): Header {
  const sum = header.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 0x20 : byte), 0)
  if (sum !== readNumber(header, 148, 8)) throw refused('its archive has a header with a wrong checksum')
  const isUstar = header.toString('latin1', 257, 263) === 'ustar\0'
  const [name, prefix] = [readText(header, 0, 100), isUstar ? readText(header, 345, 155) : '']
  const type = header.toString('latin1', 156, 157)
  return { path: prefix === '' ? name : `${prefix}/${name}`, mode: readNumber(header, 100, 8), size: readNumber(header, 124, 12), type }
}

function readText(header: Buffer, start: number, length: number): string {
  const field = header.subarray(start, start + length)
  const end = field.indexOf(0)
  return utf8(end < 0 ? field : field.subarray(0, end))
}

/** Octal digits, or since GNU tar a number in base 256 whose first bit is set. */
function readNumber(header: Buffer, start: number, length: number): number {
  const field = header.subarray(start, start + length)
  const [first = 0] = field
  const octal = /^[\0 ]*([0-7]*)[\0 ]*$/.exec(field.toString('latin1'))?.[1]
  const value = first === 0x80 ? field.subarray(1).reduce((total, byte) => total * 256 + byte, 0) : Number.parseInt(`0${octal}`, 8)
  if ((first !== 0x80 && octal === undefined) || !Number.isSafeInteger(value))
    throw refused('its archive has a header with a malformed number')
  return value
}

async function readExtended(input: Input, { type, size }: Header): Promise<Extended> {
  const content = await input.take(size)
  await input.skip((blockBytes - (size % blockBytes)) % blockBytes)
  if (content === undefined) throw refused('its archive ends early')
  if (type === 'L') return { path: readText(content, 0, content.length) }
  const records = readRecords(content)
  const found: Extended = {}
  for (const [key, value] of records) {
    // A value for all files, or a map of the holes in one, would change what the entries mean.
    if (key.startsWith('GNU.sparse') || (type === 'g' && (key === 'path' || key === 'size')))
      throw refused('its archive has a header of a kind that is not accepted')
    if (key === 'path') found.path = value
    if (key === 'size' && !/^[0-9]{1,15}$/.test(value)) throw refused('its archive has a header with a malformed number')
    if (key === 'size') found.size = Number(value)
  }
  return found
}

/** Records of pax, `<length> <key>=<value>` and a line end. */
function* readRecords(content: Buffer): Generator<[key: string, value: string]> {
  for (let [at, records] = [0, 0]; at < content.length;) {
    if ((records += 1) > maxRecords) throw refused(`its archive has a header of more than ${maxRecords} records`)
    const [, digits = ''] = /^([1-9][0-9]{0,6}) /.exec(content.toString('latin1', at, at + 8)) ?? []
    const end = at + Number(digits)
    const equals = content.indexOf('=', at)
    if (digits === '' || end > content.length || content[end - 1] !== 0x0a || equals < 0 || equals >= end)
      throw refused('its archive has a malformed header')
    yield [utf8(content.subarray(at + digits.length + 1, equals)), utf8(content.subarray(equals + 1, end - 1))]
    at = end
  }
}

/** Without the slashes at the end. A regular expression would take quadratic time. */
function withoutSlashes(path: string): string {
  let end = path.length
  while (path[end - 1] === '/') end -= 1
  return path.slice(0, end)
}

/** The canonical path; `''` for the root. */
function pathOf(name: string): string {
  requirePath(name)
  const path = withoutSlashes(name.replace(/^(?:\.\/+)+/, ''))
  if (path === '' || path === '.') {
    if (name.startsWith('/')) throw refused('it has an entry with an absolute path')
    return ''
  }
  if (!isRelativePath(path)) throw refused(`"${printable(name)}" is not a path below the root of the artifact`)
  if (path.split('/').some((part) => /^(?:\.git|git~[0-9]+)[. ]*$/i.test(part)))
    throw refused(`"${printable(name)}" has a name that is reserved for git`)
  return path
}

/** Maximum memory of the paths of all files and folders, which are kept until the archive has been read. */
const maxNameBytes = 12 * 1024 * 1024
/** Measured: what a short path takes beside its characters. */
const bytesPerName = 64

/** The names so far. git would silently replace a file by a folder of the same name. */
class Names {
  readonly #files = new Set<string>()
  readonly #folders = new Set<string>()
  #bytes = 0

  addFile(path: string): void {
    if (this.#files.has(path)) throw refused(`"${printable(path)}" occurs twice`)
    if (this.#folders.has(path)) throw refused(`"${printable(path)}" is both a file and a folder`)
    this.#keep(this.#files, path)
    this.addFolder(parentOf(path))
  }

  addFolder(path: string): void {
    for (let folder = path; folder !== '' && !this.#folders.has(folder); folder = parentOf(folder)) {
      if (this.#files.has(folder)) throw refused(`"${printable(folder)}" is both a file and a folder`)
      this.#keep(this.#folders, folder)
    }
  }

  #keep(names: Set<string>, path: string): void {
    this.#bytes += bytesPerName + Buffer.byteLength(path)
    if (this.#bytes > maxNameBytes)
      throw new Fault('RepositoryTooLarge', `the paths of the artifact exceed ${maxNameBytes / 2 ** 20} MiB of memory`)
    names.add(path)
  }
}

/** Bytes in the pieces in which they arrive. */
class Input {
  readonly #chunks: AsyncIterator<Uint8Array>
  #rest: Uint8Array = new Uint8Array()

  /** `maxBytes`: of the files; headers and padding may have as much. */
  constructor(chunks: AsyncIterable<Uint8Array>, maxBytes: number) {
    this.#chunks = bounded(chunks, 2 * maxBytes, maxBytes)
  }

  /** Returns exactly this many bytes, to be read before the next call; undefined at the end. */
  async take(bytes: number): Promise<Buffer | undefined> {
    const { buffer, byteOffset, length } = this.#rest
    if (length >= bytes) {
      this.#rest = this.#rest.subarray(bytes)
      return Buffer.from(buffer, byteOffset, bytes)
    }
    const taken = Buffer.alloc(bytes)
    let at = 0
    for await (const piece of this.#upTo(bytes)) {
      taken.set(piece, at)
      at += piece.length
    }
    return at < bytes ? undefined : taken
  }

  async *pieces(bytes: number): AsyncGenerator<Uint8Array> {
    let left = bytes
    for await (const piece of this.#upTo(bytes)) {
      left -= piece.length
      yield piece
    }
    if (left > 0) throw refused('its archive ends early')
  }

  async skip(bytes: number): Promise<void> {
    await drain(this.pieces(bytes))
  }

  async drain(): Promise<void> {
    await drain({ [Symbol.asyncIterator]: () => this.#chunks })
  }

  async *#upTo(bytes: number): AsyncGenerator<Uint8Array> {
    for (let left = bytes; left > 0;) {
      if (this.#rest.length === 0) {
        const next = await this.#chunks.next()
        if (next.done === true) return
        this.#rest = next.value
      }
      const piece = this.#rest.subarray(0, left)
      this.#rest = this.#rest.subarray(piece.length)
      left -= piece.length
      yield piece
    }
  }
}

async function* bounded(chunks: AsyncIterable<Uint8Array>, most: number, maxBytes: number): AsyncGenerator<Uint8Array> {
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.length
    if (bytes > most) throw tooLarge(maxBytes)
    yield chunk
  }
}

async function drain(pieces: AsyncIterable<Uint8Array>): Promise<void> {
  const all = pieces[Symbol.asyncIterator]()
  while ((await all.next()).done !== true);
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function utf8(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch {
    throw refused('it has a name that is not UTF-8')
  }
}

function tooLarge(maxBytes: number): Fault {
  return new Fault('RepositoryTooLarge', `the unpacked artifact is larger than ${Math.round(maxBytes / 2 ** 20)} MiB`)
}

/** Worded to follow `the artifact is refused`. */
function refused(why: string): Fault {
  return new Fault('RepositoryRefused', `the artifact is refused: ${why}`)
}
