/**
 * The ownership manifest: which files below the data directory are ours, what they should hold, and which commit they add up to.
 * Kept as lines that are appended to and compacted, because rewriting 20,000 entries costs more than a small publish. Pure.
 *
 * One JSON array a line: `["m",1]` head; `["p",…]` a file; `["d",path]` no longer ours; `["c",state]` makes all lines before it count.
 * Lines after the last `c` are the beginning of a write that did not finish and are ignored.
 */
import * as v from 'valibot'
import { modeOrigins } from '../collections/mode.ts'
import type { BlobId } from '../delivery/protocol.ts'
import { Fault } from '../fault.ts'
import { type CommitHash, isCommitHash } from '../gatewaysync/values.ts'
import { mayBeOurs } from './paths.ts'

/** Size in bytes, modification time in milliseconds and inode: equal means unchanged, without reading the content. */
export type FileStat = { size: number; mtimeMs: number; ino: number }

/** How a file was made from its blob: `uses` are the variables it reads, `key` a hash of recipe and their values, `id` of the result. */
export type Rendered = { uses: readonly (readonly string[])[]; key: string; id: BlobId }

/** What a local change was judged to be, and of which state of the file: nothing is read twice. */
export type Judgement = FileStat & { verdict: 'drift' | 'harmless'; id: BlobId | null }

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
  v.object({ size: v.number(), mtimeMs: v.number(), ino: v.number(), verdict: v.picklist(['drift', 'harmless']), id: v.nullable(id) }),
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
  /** The deployment mode that the collections were last delivered for while it was known, and who said so. */
  mode: v.optional(v.object({ name: v.string(), from: v.picklist(modeOrigins) })),
  /** Mappings whose optional source the commit does not hold. */
  absent: v.array(v.number()),
  /** The publish that wrote this state. */
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
  /** What stays worth saying about this commit; bounded by findings.ts. */
  findings: v.optional(v.array(v.object({ rule: v.string(), path: v.string(), message: v.string() })), () => []),
  /** What the gateway complained of after its last scan. */
  problems: v.optional(v.array(v.string()), () => []),
})
export type State = v.InferOutput<typeof stateSchema>

export type Manifest = {
  files: Map<string, Owned>
  state: State | undefined
  /** Lines in the stored text that count, and length of that part in bytes: the rest is to be cut off. */
  lines: number
  bytes: number
}

export type ManifestChange = { path: string; owned: Owned | undefined }

export const manifestHead = '["m",1]\n'

export function emptyManifest(): Manifest {
  return { files: new Map(), state: undefined, lines: 0, bytes: 0 }
}

export function encodeChange({ path, owned }: ManifestChange): string {
  if (owned === undefined) return `["d",${JSON.stringify(path)}]\n`
  const { id, exec, mapping, stat, rendered, judged } = owned
  const fields: unknown[] = ['p', path, id, exec ? 1 : 0, mapping, stat.size, stat.mtimeMs, stat.ino]
  if (rendered !== undefined || judged !== undefined) fields.push(rendered ?? null, judged ?? null)
  return `${JSON.stringify(fields)}\n`
}

export function encodeState(state: State): string {
  return `["c",${JSON.stringify(state)}]\n`
}

/** Appending costs a line per change, reading costs a line each: past twice the files plus 1,000 the text is written anew. */
export function wantsCompaction(manifest: Manifest): boolean {
  return manifest.lines > 2 * manifest.files.size + 1_000
}

/** Reads the stored lines one by one; `finish` gives the manifest as of the last complete write. Throws StateUnreadable. */
export function manifestReader(): { line(text: string, bytes: number): void; finish(): Manifest } {
  const manifest = emptyManifest()
  let uncommitted: ManifestChange[] = []
  let bytes = 0
  let lines = 0
  let damagedLine: number | undefined
  const commit = (state: State): void => {
    for (const { path, owned } of uncommitted) {
      if (owned === undefined) manifest.files.delete(path)
      else manifest.files.set(path, owned)
    }
    uncommitted = []
    Object.assign(manifest, { state, bytes, lines })
  }
  return {
    line(text, length) {
      lines += 1
      bytes += length
      const decoded = parseLine(text)
      if (decoded === undefined) {
        damagedLine ??= lines
        return
      }
      // Damage in the tail is a write that did not finish; damage before a complete write is damage.
      if (decoded.kind === 'state' && damagedLine !== undefined) {
        throw new Fault('StateUnreadable', `the manifest is damaged at line ${damagedLine}; remove it to take the folder over anew`)
      }
      if (decoded.kind === 'change') uncommitted.push(decoded.change)
      if (decoded.kind === 'state') commit(decoded.state)
      if (decoded.kind === 'head' && lines === 1) Object.assign(manifest, { bytes, lines })
    },
    finish: () => manifest,
  }
}

type Line = { kind: 'head' } | { kind: 'change'; change: ManifestChange } | { kind: 'state'; state: State }

function parseLine(text: string): Line | undefined {
  try {
    return decodeLine(JSON.parse(text))
  } catch {
    return undefined
  }
}

/** Undefined for what no version of ours wrote. Files are checked by hand: a schema would cost more than reading them. */
export function decodeLine(fields: unknown): Line | undefined {
  if (!Array.isArray(fields)) return undefined
  const [kind, first] = fields as unknown[]
  if (kind === 'm') return first === 1 ? { kind: 'head' } : undefined
  if (kind === 'd') return mayBeOurs(first) ? { kind: 'change', change: { path: first, owned: undefined } } : undefined
  if (kind === 'p') return decodeFile(fields as unknown[])
  if (kind !== 'c') return undefined
  const state = v.safeParse(stateSchema, first)
  return state.success ? { kind: 'state', state: state.output } : undefined
}

function decodeFile(fields: readonly unknown[]): Line | undefined {
  const [, path, id, exec, mapping, size, mtimeMs, ino] = fields
  const rendered = fields[8] ?? undefined
  const judged = fields[9] ?? undefined
  if (!mayBeOurs(path) || typeof id !== 'string' || !isCommitHash(id)) return undefined
  if (typeof mapping !== 'number' || typeof size !== 'number' || typeof mtimeMs !== 'number' || typeof ino !== 'number') return undefined
  if (!v.is(renderedSchema, rendered) || !v.is(judgementSchema, judged)) return undefined
  const owned: Owned = {
    id,
    exec: exec === 1,
    mapping,
    stat: { size, mtimeMs, ino },
    rendered,
    judged,
  }
  return { kind: 'change', change: { path, owned } }
}
