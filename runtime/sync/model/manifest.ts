/**
 * The ownership manifest: which files below the data directory are ours, what they should hold, and which commit they add up to.
 * Kept as lines that are appended to and compacted, because rewriting 20,000 entries costs more than a small publish. Pure.
 *
 * One JSON array a line, each with its checksum: `["m",2,"<bytes>"]` the head, which gives the least length of the text; `["p",…]` a file;
 * `["d",path]` no longer ours; `["c",state]` ends a write. Lines after the last `c` belong to a write that did not finish and are ignored.
 */
import { crc32 } from 'node:zlib'
import * as v from 'valibot'
import { modeOrigins } from '../../collections/model/mode.ts'
import type { BlobId } from '../../delivery/protocol.ts'
import { type CommitHash, isCommitHash } from '../../gatewaysync/values.ts'
import { mayBeOurs } from './paths.ts'

/** Size in bytes, modification time in milliseconds, inode and permissions: equal means unchanged, without reading the content. */
export type FileStat = { size: number; mtimeMs: number; ino: number; mode: number }

/** How a file was made from its blob: `uses` are the variables it reads, `key` a hash of recipe and their values, `id` of the result. */
export type Rendered = { uses: readonly (readonly string[])[]; key: string; id: BlobId }

/** What a local change was judged to be, and for which state of the file, so that the file is not read again. */
export type Judgement = FileStat & { verdict: 'drift' | 'harmless'; id: BlobId | null }

/** A file that we put in place, by its path in the manifest. */
export type Owned = {
  /** Content in git. What lies on disk has this id, or `rendered.id`. */
  id: BlobId
  exec: boolean
  /** Index into `state.mappings`. */
  mapping: number
  stat: FileStat
  rendered: Rendered | undefined
  judged: Judgement | undefined
}

const id = v.custom<BlobId>((value) => typeof value === 'string' && isCommitHash(value))
const renderedSchema = v.optional(v.object({ uses: v.array(v.array(v.string())), key: v.string(), id }))
const judgementSchema = v.optional(
  v.object({
    size: v.number(),
    mtimeMs: v.number(),
    ino: v.number(),
    mode: v.number(),
    verdict: v.picklist(['drift', 'harmless']),
    id: v.nullable(id),
  }),
)

const scanKinds = v.array(v.picklist(['projects', 'config']))

const stateSchema = v.object({
  /** The commit that the files add up to; null while that is unknown. */
  commit: v.nullable(v.custom<CommitHash>((value) => typeof value === 'string' && isCommitHash(value))),
  ref: v.string(),
  syncHash: v.string(),
  /** Hash of everything besides commit and variables that decides which files are wanted and how they are made. */
  treeKey: v.string(),
  /** One text per mapping, `source -> destination`. */
  mappings: v.array(v.string()),
  /** The collections that are delivered, first to last; empty without the shorthand. */
  chain: v.array(v.string()),
  /** The deployment mode that the collections were last delivered for while it was known, and where it was read from. */
  mode: v.optional(v.object({ name: v.string(), from: v.picklist(modeOrigins) })),
  /** Mappings whose optional source the commit does not hold. */
  absent: v.array(v.number()),
  /** Id of the publish that wrote this state. */
  publish: v.string(),
  /** Which boot of the machine the files were written or last verified in. */
  bootId: v.string(),
  /** What the gateway has not read yet. */
  scanPending: scanKinds,
  /** When the gateway last finished reading, by kind. */
  scanned: v.object({ projects: v.optional(v.string()), config: v.optional(v.string()) }),
  /** The gateway was seen in commissioning; once it runs, everything is verified and scanned again. */
  commissioning: v.boolean(),
  /** When the last file was put in place, milliseconds since 1970. */
  publishedAt: v.number(),
  /** Findings that stay in the report; bounded by findings.ts. */
  findings: v.optional(v.array(v.object({ rule: v.string(), path: v.string(), message: v.string() })), () => []),
  /** Problems that the gateway reported after its last scan. */
  problems: v.optional(v.array(v.string()), () => []),
  /**
   * How the gateway has been since the files of this commit and configuration were put in place: when that was, in milliseconds since 1970,
   * what it complained of before (absent: nobody could say), and what it complains of besides that. Absent where no file had to change.
   */
  health: v.optional(v.object({ since: v.number(), before: v.optional(v.array(v.string())), newProblems: v.array(v.string()) })),
})
/** What is in place in a data directory; the last `c` line of the manifest. */
export type State = v.InferOutput<typeof stateSchema>

/** The manifest in memory. */
export type Manifest = {
  files: Map<string, Owned>
  state: State | undefined
  /** Number of valid lines in the stored text, and their length in bytes: the rest is cut off by the next write. */
  lines: number
  bytes: number
  /** Why the records cannot be trusted. Until every file has been verified, no commit counts as being in place. */
  doubt: string | undefined
}

/** `owned` undefined: the file is no longer ours. */
export type ManifestChange = { path: string; owned: Owned | undefined }

/** Digits of the length in the head, a fixed number because it is overwritten in place. */
const lengthDigits = 12

/** The manifest of a folder that was never synced, or, with `doubt`, of one whose records were lost. */
export function emptyManifest(doubt?: string): Manifest {
  return { files: new Map(), state: undefined, lines: 0, bytes: 0, doubt }
}

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

/** The record of one change. */
export function changeRecord({ path, owned }: ManifestChange): string {
  if (owned === undefined) return `["d",${JSON.stringify(path)}]`
  const { id, exec, mapping, stat, rendered, judged } = owned
  const { size, mtimeMs, ino, mode } = stat
  // One call for the whole: each piece that is put together by hand is an object, and a first sync makes thousands of records, twice.
  const file = ['p', path, id, exec ? 1 : 0, mapping, size, mtimeMs, ino, mode]
  return JSON.stringify(rendered === undefined && judged === undefined ? file : [...file, rendered ?? null, judged ?? null])
}

/** The record that ends a write: without it the changes before it do not count. */
export function stateRecord(state: State): string {
  return `["c",${JSON.stringify(state)}]`
}

/** Whether to rewrite the text: appending adds a line per change, and reading takes time for each line. */
export function wantsCompaction(manifest: Manifest): boolean {
  return manifest.lines > 2 * manifest.files.size + 1_000
}

/**
 * Reads the stored lines one by one; `finish` returns the manifest as of the last complete write. Files that a damaged manifest still names
 * stay ours, under a doubt that says what is wrong: one bad line must not make us forget the files that we wrote.
 */
export function manifestReader(): { line(text: string, bytes: number): void; finish(): Manifest } {
  const manifest = emptyManifest()
  let uncommitted: ManifestChange[] = []
  let length = 0
  let lines = 0
  /** The length in the head; undefined until it is read. */
  let declared: number | undefined
  let damagedLine: number | undefined
  let damagedBefore: number | undefined
  const commit = (): void => {
    for (const { path, owned } of uncommitted) {
      if (owned === undefined) manifest.files.delete(path)
      else manifest.files.set(path, owned)
    }
    uncommitted = []
  }
  const doubtOf = (): string | undefined => {
    if (declared === undefined) return 'line 1 is damaged'
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
      const decoded = parseLine(text)
      if (decoded?.kind === 'change') uncommitted.push(decoded.change)
      else if (decoded?.kind === 'head' && lines === 1) declared = decoded.bytes
      else if (decoded?.kind === 'state') {
        commit()
        // Damage in the tail may be an unfinished write; damage before a complete write is real.
        damagedBefore ??= damagedLine
        Object.assign(manifest, { state: decoded.state, bytes: length, lines })
      } else damagedLine ??= lines
    },
    finish() {
      const doubt = doubtOf()
      if (doubt === undefined) {
        if (manifest.state?.commit === null) manifest.doubt = 'an interrupted publish left what cannot be told'
        return manifest
      }
      commit()
      // With bytes 0 the next write replaces the whole text: nothing is appended to a damaged one.
      return { ...manifest, state: unknownCommit(manifest.state), bytes: 0, doubt: `the manifest is damaged: ${doubt}` }
    },
  }
}

/** The state with everything but the commit. */
export function unknownCommit(state: State | undefined): State | undefined {
  return state === undefined ? undefined : { ...state, commit: null }
}

type Line = { kind: 'head'; bytes: number } | { kind: 'change'; change: ManifestChange } | { kind: 'state'; state: State }

function parseLine(text: string): Line | undefined {
  const space = text.length - 9
  const record = text.slice(0, space)
  if (text[space] !== ' ' || text.slice(space + 1) !== checksum(record)) return undefined
  try {
    return decodeRecord(JSON.parse(record))
  } catch {
    return undefined
  }
}

/** Parses a record; undefined for anything that no version of ours wrote. Files are checked by hand: a schema takes longer than reading them. */
export function decodeRecord(fields: unknown): Line | undefined {
  if (!Array.isArray(fields)) return undefined
  const [kind, first, second] = fields as unknown[]
  if (kind === 'm') return first === 2 && typeof second === 'string' ? { kind: 'head', bytes: Number(second) } : undefined
  if (kind === 'd') return mayBeOurs(first) ? { kind: 'change', change: { path: first, owned: undefined } } : undefined
  if (kind === 'p') return decodeFile(fields as unknown[])
  if (kind !== 'c') return undefined
  const state = v.safeParse(stateSchema, first)
  return state.success ? { kind: 'state', state: state.output } : undefined
}

function decodeFile(fields: readonly unknown[]): Line | undefined {
  const [, path, id, exec, mapping, size, mtimeMs, ino, mode] = fields
  const rendered = fields[9] ?? undefined
  const judged = fields[10] ?? undefined
  if (!mayBeOurs(path) || typeof id !== 'string' || !isCommitHash(id)) return undefined
  if (typeof mapping !== 'number' || typeof size !== 'number' || typeof mtimeMs !== 'number' || typeof ino !== 'number') return undefined
  if (typeof mode !== 'number') return undefined
  if (!v.is(renderedSchema, rendered) || !v.is(judgementSchema, judged)) return undefined
  const owned: Owned = {
    id,
    exec: exec === 1,
    mapping,
    stat: { size, mtimeMs, ino, mode },
    rendered,
    judged,
  }
  return { kind: 'change', change: { path, owned } }
}
