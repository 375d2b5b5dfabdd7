/**
 * Encodes a commit with its contents in frames whose headers name the files, as piped from two git processes. Pure.
 */
import { isCommitHash, isRelativePath, type RelativePath } from '../../api/values.ts'
import { type FramesReader, headerFault, readFrames } from './content-frames.ts'
import { type FileMode, type FileSink, maxPathCharacters, type Put, requireCount, requirePath, requireSize } from './protocol.ts'

/** The `git ls-tree` format: each line requests one file from `git cat-file`. */
export const fileLineFormat = '%(objectname) %(objectmode) %(path)'
/** The `git cat-file` header format: the object, and the rest of its input line. */
export const fileHeaderFormat = '%(objectname) %(objecttype) %(objectsize) %(rest)'

const [space, quote, letterB] = [32, 34, 98]
/** Enough for the longest path with every byte escaped. */
const maxHeaderBytes = 512 * 1024
/** `blob `. */
const typeLength = 5
/** `100644`. */
const modeLength = 6
const modes: ReadonlyMap<number, FileMode> = new Map(
  (['100644', '100755', '120000', '160000'] as const).map((mode) => [Number.parseInt(mode, 8), mode]),
)

/**
 * Reads frames with headers `<id> blob <size> <mode> <path>`, the path quoted as git does. An entry that is not a blob, such as a
 * submodule, fails with CommitGone, because git reports it as `missing`. Also throws RepositoryTooLarge.
 */
export function fileFramesReader(sink: FileSink): FramesReader {
  let files = 0
  return readFrames({
    maxHeaderBytes,
    begin(bytes, start, end) {
      const file = decodeFile(bytes, start, end)
      if (file === undefined) throw headerFault(bytes.toString('latin1', start, end))
      requireCount((files += 1))
      requirePath(file.path)
      requireSize(file)
      sink.begin(file)
      return file.size
    },
    data: (chunk) => sink.data(chunk),
    end: () => sink.end(),
  })
}

/**
 * Read from the bytes at fixed positions: string slices of a header would keep all of it in memory, and a string for each part takes time.
 */
function decodeFile(bytes: Buffer, start: number, end: number): Put | undefined {
  const typeAt = start + (bytes[start + 40] === space ? 40 : 64) + 1
  const sizeAt = typeAt + typeLength
  const size = sizeIn(bytes, sizeAt, end)
  if (size === undefined) return undefined
  const modeAt = sizeAt + String(size).length + 1
  const pathAt = modeAt + modeLength + 1
  const mode = modeIn(bytes, modeAt)
  // Only the object type blob begins with this letter.
  const isBlob = bytes[typeAt] === letterB && bytes[sizeAt - 1] === space
  if (mode === undefined || !isBlob || bytes[pathAt - 1] !== space) return undefined
  const id = bytes.toString('latin1', start, typeAt - 1)
  const path = decodePath(bytes, pathAt, end)
  return isCommitHash(id) && path !== undefined ? { op: 'put', path, mode, id, size } : undefined
}

function modeIn(bytes: Buffer, start: number): FileMode | undefined {
  let mode = 0
  for (let at = start; at < start + modeLength; at += 1) {
    const digit = (bytes[at] ?? 0) - 48
    if (digit < 0 || digit > 7) return undefined
    mode = mode * 8 + digit
  }
  return modes.get(mode)
}

/** Returns the number from `start` up to a space or `end`. */
function sizeIn(bytes: Buffer, start: number, end: number): number | undefined {
  let size = 0
  let at = start
  for (; at < end && bytes[at] !== space; at += 1) {
    const digit = (bytes[at] ?? 0) - 48
    if (digit < 0 || digit > 9) return undefined
    size = size * 10 + digit
  }
  return at > start && Number.isSafeInteger(size) ? size : undefined
}

/** The path is joined to the data directory later, so a path that leads outside is invalid, regardless of its sender. */
function decodePath(bytes: Buffer, start: number, end: number): RelativePath | undefined {
  const path = bytes[start] === quote ? unquoted(bytes.toString('latin1', start, end)) : bytes.toString('utf8', start, end)
  return path !== undefined && isRelativePath(path) ? path : undefined
}

/** The escape characters of git's quoted names, besides octal numbers. */
const escapes: Readonly<Record<string, number>> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13, '"': quote, '\\': 92 }

/** Returns a quoted name, one character per byte, as git writes names with control characters, quotes or backslashes. */
function unquoted(text: string): string | undefined {
  // Checks the length first: the expression takes memory for each character.
  if (text.length > 4 * maxPathCharacters || !/^"(?:[^"\\]|\\(?:[abtnvfr"\\]|[0-3][0-7]{2}))*"$/.test(text)) return undefined
  const plain = text
    .slice(1, -1)
    .replaceAll(/\\(?:([0-3][0-7]{2})|(.))/g, (_escape, octal: string | undefined, letter: string) =>
      String.fromCharCode(octal === undefined ? (escapes[letter] ?? 0) : Number.parseInt(octal, 8)),
    )
  return Buffer.from(plain, 'latin1').toString('utf8')
}
