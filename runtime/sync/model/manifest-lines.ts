/**
 * Encodes the ownership manifest as lines that are appended and compacted, because rewriting 20,000 entries costs more than a small apply.
 * Pure. One JSON array per line, each with its checksum: `["m",2,"<bytes>"]` is the head, which gives the minimum length of the text;
 * `["p",…]` a file; `["d",path]` a file that is no longer owned; `["c",state]` ends a write. Lines after the last `c` belong to an
 * unfinished write and are ignored.
 */
import { crc32 } from 'node:zlib'
import * as v from 'valibot'
import type { BlobId } from '../../content/protocol/protocol.ts'
import { isCommitHash } from '../../api/values.ts'
import { emptyManifest, type Manifest, type ManifestChange, type Owned, type State, stateSchema, unknownCommit } from './manifest.ts'
import { mayBeOwned } from './paths.ts'

/** Digits of the length in the head: a fixed number, because it is overwritten in place. */
const lengthDigits = 12

const id = v.custom<BlobId>((value) => typeof value === 'string' && isCommitHash(value))
const renderedSchema = v.optional(v.object({ uses: v.array(v.array(v.string())), key: v.string(), id }))
const driftVerdictSchema = v.optional(
  v.object({
    size: v.number(),
    mtimeMs: v.number(),
    ino: v.number(),
    mode: v.number(),
    verdict: v.picklist(['drift', 'harmless']),
    id: v.nullable(id),
  }),
)

/** The first line: `bytes` is the length of everything up to the last complete write. */
export function encodeHead(bytes: number): string {
  return encodeLine(headRecord(bytes))
}

function headRecord(bytes: number): string {
  return `["m",2,"${String(bytes).padStart(lengthDigits, '0')}"]`
}

/** A record as a line of the manifest, followed by its CRC-32: one flipped bit is detected. */
export function encodeLine(record: string): string {
  return `${record} ${checksum(record)}\n`
}

/** The two hex digits of each byte: V8 takes longer for the eight of a number than for the checksum. */
const digits = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

function checksum(record: string): string {
  const sum = crc32(record)
  return `${digits[sum >>> 24]}${digits[(sum >>> 16) & 255]}${digits[(sum >>> 8) & 255]}${digits[sum & 255]}`
}

const pieceLength = 64 * 1024
/** Reading stops after this many damaged lines. */
const maxDamagedLines = 1_000

/** Joins lines to chunks of about 64 KiB, so that a long text is never held as one string. */
export function* inPieces(lines: Iterable<string>): Generator<Buffer> {
  let piece = ''
  for (const line of lines) {
    piece += line
    if (piece.length < pieceLength) continue
    yield Buffer.from(piece)
    piece = ''
  }
  if (piece !== '') yield Buffer.from(piece)
}

/** Encodes changes as lines. The journal and the manifest hold the same lines, which are encoded once for both. */
export function* changeLines(changes: Iterable<ManifestChange>): Generator<string> {
  for (const change of changes) yield encodeLine(changeRecord(change))
}

function changeRecord({ path, owned }: ManifestChange): string {
  if (owned === undefined) return `["d",${JSON.stringify(path)}]`
  const { id, exec, mapping, stat, rendered, driftVerdict } = owned
  const { size, mtimeMs, ino, mode } = stat
  // One JSON call for the whole array: separate parts would create objects, and a first sync encodes thousands of records.
  const file = ['p', path, id, exec ? 1 : 0, mapping, size, mtimeMs, ino, mode]
  return JSON.stringify(rendered === undefined && driftVerdict === undefined ? file : [...file, rendered ?? null, driftVerdict ?? null])
}

/** Encodes the line that ends a write; without it the changes before it do not count. */
export function encodeState(state: State): string {
  return encodeLine(`["c",${JSON.stringify(state)}]`)
}

/**
 * Parses the stored lines one by one; `finish` returns the manifest as of the last complete write. Files that a damaged manifest still
 * names stay owned, and `suspectReason` describes the damage: one bad line must not lose the ownership of files. `line` returns false after too
 * many damaged lines; `problem` is what kept the caller from reading all lines.
 */
export function manifestReader(): { line(text: string, bytes: number): boolean; finish(problem?: string): Manifest } {
  const manifest = emptyManifest()
  let uncommitted: ManifestChange[] = []
  let length = 0
  let lines = 0
  /** The length in the head; undefined until it is read. */
  let declared: number | undefined
  let damagedLine: number | undefined
  let damagedLines = 0
  let isOtherVersion = false
  let damagedBefore: number | undefined
  const commit = (): void => {
    for (const { path, owned } of uncommitted) {
      if (owned === undefined) manifest.files.delete(path)
      else manifest.files.set(path, owned)
    }
    uncommitted = []
  }
  const suspectReasonOf = (): string | undefined => {
    if (declared === undefined) return isOtherVersion ? 'another version of this program wrote it' : 'line 1 is damaged'
    if (damagedBefore !== undefined) return `line ${damagedBefore} is damaged`
    if (manifest.state === undefined || declared > manifest.bytes) {
      return damagedLine === undefined ? 'its end is missing' : `line ${damagedLine} is damaged`
    }
    return undefined
  }
  return {
    line(text, bytes) {
      lines += 1
      length += bytes
      const decoded = decodeLine(text)
      if (decoded?.kind === 'change') uncommitted.push(decoded.change)
      else if (decoded?.kind === 'head' && lines === 1) declared = decoded.bytes
      else if (decoded?.kind === 'state') {
        commit()
        // Damage in the tail may be an unfinished write; damage before a complete write is real.
        damagedBefore ??= damagedLine
        Object.assign(manifest, { state: decoded.state, bytes: length, lines })
      } else {
        damagedLine ??= lines
        damagedLines += 1
        if (lines === 1) isOtherVersion = /^\["m",(?!2,)\d+,/.test(text)
      }
      return damagedLines < maxDamagedLines
    },
    finish(problem) {
      const suspectReason = problem ?? suspectReasonOf()
      if (suspectReason === undefined) {
        if (manifest.state?.commit === null) manifest.suspectReason = 'an interrupted apply left files of an unknown commit'
        return manifest
      }
      commit()
      // With bytes 0 the next write replaces the whole text: a damaged one is never appended to.
      return { ...manifest, state: unknownCommit(manifest.state), bytes: 0, suspectReason: `the manifest cannot be used: ${suspectReason}` }
    },
  }
}

type Line = { kind: 'head'; bytes: number } | { kind: 'change'; change: ManifestChange } | { kind: 'state'; state: State }

/** Returns undefined for damage and for lines that no version wrote. `text` is without the line feed. */
export function decodeLine(text: string): Line | undefined {
  const space = text.length - 9
  const record = text.slice(0, space)
  if (text[space] !== ' ' || text.slice(space + 1) !== checksum(record)) return undefined
  try {
    return decodeRecord(JSON.parse(record))
  } catch {
    return undefined
  }
}

/** Files are checked by hand: validating them with a schema takes longer than reading them. */
function decodeRecord(fields: unknown): Line | undefined {
  if (!Array.isArray(fields)) return undefined
  const [kind, first, second] = fields as unknown[]
  if (kind === 'm') return first === 2 && typeof second === 'string' ? { kind: 'head', bytes: Number(second) } : undefined
  if (kind === 'd') return mayBeOwned(first) ? { kind: 'change', change: { path: first, owned: undefined } } : undefined
  if (kind === 'p') return decodeFile(fields as unknown[])
  if (kind !== 'c') return undefined
  const state = v.safeParse(stateSchema, first)
  return state.success ? { kind: 'state', state: state.output } : undefined
}

function decodeFile(fields: readonly unknown[]): Line | undefined {
  const [, path, id, exec, mapping, size, mtimeMs, ino, mode] = fields
  const rendered = fields[9] ?? undefined
  const driftVerdict = fields[10] ?? undefined
  if (!mayBeOwned(path) || typeof id !== 'string' || !isCommitHash(id)) return undefined
  if (typeof mapping !== 'number' || typeof size !== 'number' || typeof mtimeMs !== 'number' || typeof ino !== 'number') return undefined
  if (typeof mode !== 'number') return undefined
  if (!v.is(renderedSchema, rendered) || !v.is(driftVerdictSchema, driftVerdict)) return undefined
  const owned: Owned = {
    id,
    exec: exec === 1,
    mapping,
    stat: { size, mtimeMs, ino, mode },
    rendered,
    driftVerdict,
  }
  return { kind: 'change', change: { path, owned } }
}
