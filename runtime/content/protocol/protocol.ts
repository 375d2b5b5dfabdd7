/**
 * Defines the `Source` that the sync engine reads from, and the types shared by its two implementations (an agent's content client, the
 * standalone runner's in-process mirror). Pure.
 */
import { type CommitHash, printable, type RelativePath } from '../../api/values.ts'
import { Fault } from '../../platform/fault.ts'

/** The mode that git stores. Links (120000) and submodules (160000) are never delivered; they are listed so that they can be reported. */
export type FileMode = '100644' | '100755' | '120000' | '160000'

/** The git object name of a file's content: SHA-1 or SHA-256 in hex, distinguished by length. */
export type BlobId = CommitHash

/** One difference: `path` is relative to the repository's root. `size` is in bytes. */
export type Change = { op: 'put'; path: RelativePath; mode: FileMode; id: BlobId; size: number } | { op: 'delete'; path: RelativePath }
/** A file that is listed. */
export type Put = Extract<Change, { op: 'put' }>

/** The files of one profile that differ between two commits. */
export type ChangesRequest = {
  commit: CommitHash
  /** The caller's commit; null requests everything. */
  from: CommitHash | null
  /** Beyond this many differences the caller requests everything anyway, so UnknownBase may be returned. */
  most?: number | undefined
  /** Name of a profile of the GatewaySync: only its sources are delivered. */
  profile: string
}

/** `ids` holds each once. */
export type BlobsRequest = { commit: CommitHash; profile: string; ids: readonly BlobId[] }

/**
 * Receives streamed blobs in the order of `ids`: `begin`, any number of `data`, `end`. Calls are synchronous, so a slow disk slows the
 * sender. A chunk is valid only during its call. Implementations verify content against the id.
 */
export type BlobSink = {
  begin(id: BlobId, size: number): void
  data(chunk: Uint8Array): void
  end(): void
}

/** All files that one profile reads of a commit. */
export type FilesRequest = { commit: CommitHash; profile: string }

/** Receives the files of a commit, each with its content after its name, in git's listing order; calls and chunks are as in `BlobSink`. */
export type FileSink = {
  begin(file: Put): void
  data(chunk: Uint8Array): void
  end(): void
}

/**
 * The source of a sync. All methods stream and hold no more than a few entries or blobs; all end soon after their signal. Throws
 * UnknownBase (retry with `from: null`), CommitGone, CommitNotPublished, UnknownProfile, DeliveryUnreachable, DeliveryUnauthorized,
 * DeliveryFailed (the stream ended early and must be discarded).
 */
export type Source = {
  /** Differences in batches, complete when the iteration ends without throwing. */
  changes(request: ChangesRequest, signal: AbortSignal): AsyncIterable<readonly Change[]>
  blobs(request: BlobsRequest, sink: BlobSink, signal: AbortSignal): Promise<void>
  /**
   * Everything with its contents: for a reader that has nothing yet, one answer instead of several. Also throws NotFound if the
   * controller's release lacks it, and CommitGone for a commit with a submodule.
   */
  files(request: FilesRequest, sink: FileSink, signal: AbortSignal): Promise<void>
  /**
   * Suggests a similar path for one that the commit lacks; absent in a source that may not read the whole commit. `isRoot`: the path should
   * hold collections.
   */
  near?(request: { commit: CommitHash; missing: string; isRoot: boolean }, signal: AbortSignal): Promise<string | undefined>
}

/** How an agent calls its gateway, from the Secrets that the GatewaySync names: an API key, and a CA (PEM) for its certificate. */
export type GatewayAccess = { apiKey?: string; caBundle?: string }

/** A source for the content server. */
export type FramedSource = Source & {
  /** The blobs in git's frames, to be forwarded unparsed; without the end frame (content-frames.ts). Throws what `blobs` throws. */
  frames(request: BlobsRequest, signal: AbortSignal): AsyncIterable<Uint8Array>
  /** The same for everything, with files in the headers. Throws what `files` throws. */
  fileFrames(request: FilesRequest, signal: AbortSignal): AsyncIterable<Uint8Array>
  /** Whether all of these commits can be read without querying a git host. */
  holds(commits: readonly CommitHash[], signal: AbortSignal): Promise<boolean>
}

/** One change on a gateway: `source` is its path in the repository, `path` that on the gateway; `content` is base64. */
export type CapturedChange = {
  source: string
  path: string
  op: 'added' | 'changed' | 'removed'
  exec: boolean
  content?: string | undefined
}

/** An agent's offer of the changes on its gateway: first without `changes`, then with them once the controller requests them. */
export type CaptureOffer = {
  /** The commit that the changes were made on. */
  commit: CommitHash
  profile: string
  /** The deployment mode; `''`: none. */
  mode: string
  /** The id of the capture request. */
  request: string
  /** SHA-256 of all changes, in hex. */
  digest: string
  files: number
  skipped: { path: string; message: string }[]
  skippedFiles: number
  changes?: CapturedChange[] | undefined
}

/** `send`: send the changes; `later`: repeat the offer; `done`: finished or no longer requested. */
export type CaptureAnswer = { answer: 'send' | 'later' | 'done' }

/** Limits of one offer: bytes of a file and of all files, and number of files. */
export const captureBounds = { totalBytes: 3 * 1024 * 1024, fileBytes: 1024 * 1024, files: 200 } as const

export const deliveryRoutes = ['changes', 'blobs', 'files', 'gateway', 'capture'] as const
/** The last part of each route's path. `gateway` answers with `GatewayAccess`, `capture` takes a `CaptureOffer`. */
export type DeliveryRoute = (typeof deliveryRoutes)[number]

/** The statuses of error answers. */
export const refusedStatuses = [400, 401, 403, 404, 409, 410, 413, 422, 429, 501, 503] as const
export type RefusedStatus = (typeof refusedStatuses)[number]

/** The path of a route. `/v1` changes only by addition. */
export function routePath({ namespace, name }: { namespace: string; name: string }, route: DeliveryRoute): string {
  return `/v1/namespaces/${encodeURIComponent(namespace)}/gatewaysyncs/${encodeURIComponent(name)}/${route}`
}

/** A commit with more files than this is not a configuration but an attack. */
const maxListedFiles = 500_000
/** Deeper than any project, and than most file systems allow by path length. */
const maxFolders = 100
/** A shorter path cannot be too deep, as each folder takes at least two characters: this saves splitting it. */
const shortestDeepPath = 2 * maxFolders
/** Longer than any file system allows: the sync engine, not the content server, should report a path that is too long for the disk. */
export const maxPathCharacters = 32_768
/** The largest delivered file: files are sent and staged whole. */
export const maxFileBytes = 256 * 1024 * 1024
const shownCharacters = 60

/** Throws RepositoryTooLarge. */
export function requireCount(files: number): void {
  if (files > maxListedFiles) throw new Fault('RepositoryTooLarge', `the commit contains more than ${maxListedFiles} files`)
}

/** Throws RepositoryTooLarge. */
export function requirePath(path: string): void {
  if (path.length > maxPathCharacters) throw pathTooLong()
  if (path.length < shortestDeepPath || path.split('/', maxFolders + 2).length <= maxFolders + 1) return
  throw new Fault('RepositoryTooLarge', `"${printable(path.slice(0, shownCharacters))}…" is nested in more than ${maxFolders} folders`)
}

/** For a path that is not read to its end. */
export function pathTooLong(): Fault {
  return new Fault('RepositoryTooLarge', `a path of the commit is longer than ${maxPathCharacters} characters`)
}

/** Throws RepositoryTooLarge for a file that is not delivered; `size` in bytes. */
export function requireSize({ path, size }: { path: string; size: number }): void {
  if (size <= maxFileBytes) return
  const [has, most] = [size, maxFileBytes].map((bytes) => Math.ceil(bytes / (1024 * 1024)))
  throw new Fault('RepositoryTooLarge', `"${printable(path)}" has ${has} MiB; a file may be at most ${most} MiB`)
}
