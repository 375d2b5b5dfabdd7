/**
 * The ownership manifest: which files below the data directory the operator owns, what they should contain, and which commit they form.
 * Pure.
 */
import { createHash, type Hash } from 'node:crypto'
import * as v from 'valibot'
import { modeOrigins } from '../../api/mode.ts'
import type { BlobId } from '../../content/protocol/protocol.ts'
import { type CommitHash, isCommitHash, objectFormatOf } from '../../api/values.ts'

/** Size in bytes, modification time in milliseconds, inode and permissions: equal means unchanged, without reading the content. */
export type FileStat = { size: number; mtimeMs: number; ino: number; mode: number }

/**
 * How a file was rendered from its blob: `uses` are the variables it reads, `key` a hash of the recipe and their values, `id` the id of the
 * result.
 */
export type Rendered = { uses: readonly (readonly string[])[]; key: string; id: BlobId }

/** The verdict on a local change, with the state of the file, so that the file is not read again. */
export type DriftVerdict = FileStat & { verdict: 'drift' | 'harmless'; id: BlobId | null }

/** A file that the operator wrote, by its path in the manifest. */
export type Owned = {
  /** Blob id in git. The file on disk has this id, or `rendered.id`. */
  id: BlobId
  exec: boolean
  /** Index into `state.mappings`. */
  mapping: number
  stat: FileStat
  rendered: Rendered | undefined
  driftVerdict: DriftVerdict | undefined
}

const scanKinds = v.array(v.picklist(['projects', 'config']))

/** Validates a stored state. */
export const stateSchema = v.object({
  /** The commit that the files form; null while unknown. */
  commit: v.nullable(v.custom<CommitHash>((value) => typeof value === 'string' && isCommitHash(value))),
  ref: v.string(),
  syncHash: v.string(),
  /** Hash of everything besides commit and variables that selects and renders files. */
  treeKey: v.string(),
  /** One text per mapping, `source -> destination`. */
  mappings: v.array(v.string()),
  /** The collections that are delivered, first to last; empty without the shorthand. */
  chain: v.array(v.string()),
  /** The deployment mode that the collections were last delivered for while it was known, and its origin. */
  mode: v.optional(v.object({ name: v.string(), from: v.picklist(modeOrigins) })),
  /** Mappings whose optional source is not in the commit. */
  absent: v.array(v.number()),
  /** Id of the apply that wrote this state. */
  publish: v.string(),
  /** The boot id of the machine when the files were written or last verified. */
  bootId: v.string(),
  /** What the gateway has not read yet. */
  scanPending: scanKinds,
  /** When the gateway last finished reading, by kind. */
  scanned: v.object({ projects: v.optional(v.string()), config: v.optional(v.string()) }),
  /** The gateway was seen in commissioning; once it runs, everything is verified and scanned again. */
  commissioning: v.boolean(),
  /** When the last file was put in place, in milliseconds since 1970. */
  publishedAt: v.number(),
  /** Findings that stay in the report; bounded by findings.ts. */
  findings: v.optional(v.array(v.object({ rule: v.string(), path: v.string(), message: v.string() })), () => []),
  /** Problems that the gateway reported after its last scan. */
  problems: v.optional(v.array(v.string()), () => []),
  /**
   * The gateway's health since the files of this commit and configuration were put in place: that time in milliseconds since 1970, the
   * problems before it (absent: unknown), and the new problems. Absent if no file had to change.
   */
  health: v.optional(v.object({ since: v.number(), before: v.optional(v.array(v.string())), newProblems: v.array(v.string()) })),
})
/** What is in place in a data directory; the last `c` line of the manifest. */
export type State = v.InferOutput<typeof stateSchema>

/** Identifies a file of records while a process runs. */
export type RecordFile = { dev: number; ino: number; size: number }

/** The manifest in memory. */
export type Manifest = {
  files: Map<string, Owned>
  state: State | undefined
  /** Number of valid lines in the stored text, and their length in bytes: the rest is cut off by the next write. */
  lines: number
  bytes: number
  /** Why the records cannot be trusted. Until every file has been verified, no commit counts as being in place. */
  suspectReason: string | undefined
  /** The file that was read or written last; undefined: none. A different file means that the records were replaced. */
  file: RecordFile | undefined
}

/** `owned` undefined: the file is no longer owned. */
export type ManifestChange = { path: string; owned: Owned | undefined }
/**
 * Can be iterated more than once. The changes of a first sync are created on each iteration, because all of them together take as much
 * memory as the manifest.
 */
export type ManifestChanges = Iterable<ManifestChange> & { readonly length: number }

/** The manifest of a folder that was never synced, or, with `suspectReason`, of one whose records were lost. */
export function emptyManifest(suspectReason?: string): Manifest {
  return { files: new Map(), state: undefined, lines: 0, bytes: 0, suspectReason, file: undefined }
}

/** Whether to rewrite the text: appending adds a line per change, and each line takes time to read. */
export function wantsCompaction(manifest: Manifest): boolean {
  return manifest.lines > 2 * manifest.files.size + 1_000
}

/** The state without its commit. */
export function unknownCommit(state: State | undefined): State | undefined {
  return state === undefined ? undefined : { ...state, commit: null }
}

/** The header that git hashes before a content of `size` bytes. */
export function blobHeader(size: number): string {
  return `blob ${size}\0`
}

/** Returns a hash that already includes the header, for content that arrives in chunks. `like`: any id of the same repository. */
export function blobHash(like: BlobId, size: number): Hash {
  return createHash(objectFormatOf(like)).update(blobHeader(size))
}

/** Returns git's id of a content, with the hash algorithm of `like`. */
export function blobIdOf(like: BlobId, content: Uint8Array): BlobId {
  return blobHash(like, content.length).update(content).digest('hex') as BlobId
}
