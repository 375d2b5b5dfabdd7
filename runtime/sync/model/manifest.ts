/**
 * The ownership manifest: which files below the data directory are ours, what they should hold, and which commit they add up to. Pure.
 */
import * as v from 'valibot'
import { modeOrigins } from '../../collections/model/mode.ts'
import type { BlobId } from '../../delivery/protocol.ts'
import { type CommitHash, isCommitHash } from '../../gatewaysync/values.ts'

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

const scanKinds = v.array(v.picklist(['projects', 'config']))

/** What a state must be to be believed. */
export const stateSchema = v.object({
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
/** Gone through more than once. Those of a first sync are made each time, for all of them take as much memory as the manifest. */
export type ManifestChanges = Iterable<ManifestChange> & { readonly length: number }

/** The manifest of a folder that was never synced, or, with `doubt`, of one whose records were lost. */
export function emptyManifest(doubt?: string): Manifest {
  return { files: new Map(), state: undefined, lines: 0, bytes: 0, doubt }
}

/** Whether to rewrite the text: appending adds a line per change, and reading takes time for each line. */
export function wantsCompaction(manifest: Manifest): boolean {
  return manifest.lines > 2 * manifest.files.size + 1_000
}

/** The state with everything but the commit. */
export function unknownCommit(state: State | undefined): State | undefined {
  return state === undefined ? undefined : { ...state, commit: null }
}
