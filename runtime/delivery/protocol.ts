/**
 * How content reaches a gateway: the `Source` that the sync engine reads from, and the shapes that its two implementations share
 * (the delivery client of an agent, the mirror in process of the standalone runner). Pure.
 */
import type { CommitHash, RelativePath } from '../gatewaysync/values.ts'

/** The mode that git stores. Links (120000) and submodules (160000) are never delivered; they are listed so that they can be reported. */
export type FileMode = '100644' | '100755' | '120000' | '160000'

/** The object name that git gives a file's content: SHA-1 or SHA-256 in hex; the length tells which. */
export type BlobId = CommitHash

/** One difference: `path` is relative to the repository's root. `size` is in bytes. */
export type Change = { op: 'put'; path: RelativePath; mode: FileMode; id: BlobId; size: number } | { op: 'delete'; path: RelativePath }
/** A file that is listed. */
export type Put = Extract<Change, { op: 'put' }>

/** What differs between two commits, of the files that one profile delivers. */
export type ChangesRequest = {
  commit: CommitHash
  /** The commit that the caller has; null asks for everything. */
  from: CommitHash | null
  /** Beyond this many differences the caller asks for everything instead, so that UnknownBase is as good an answer. */
  most?: number | undefined
  /** Name of a profile of the GatewaySync: only its sources are delivered. */
  profile: string
}

/** `ids` holds each once. */
export type BlobsRequest = { commit: CommitHash; profile: string; ids: readonly BlobId[] }

/**
 * Takes blobs as they stream in, in the order of `ids`: `begin`, any number of `data`, `end`. Calls are synchronous, so a slow disk
 * slows the sender. A chunk is valid only during its call. Whoever implements it verifies content against the id.
 */
export type BlobSink = {
  begin(id: BlobId, size: number): void
  data(chunk: Uint8Array): void
  end(): void
}

/** Everything that one profile reads of a commit. */
export type FilesRequest = { commit: CommitHash; profile: string }

/** Takes the files of a commit, each with its content behind its name, in the order of git's listing; calls and chunks are as those of `BlobSink`. */
export type FileSink = {
  begin(file: Put): void
  data(chunk: Uint8Array): void
  end(): void
}

/**
 * Where a sync reads from. All methods stream and hold no more than a few entries or blobs; all end soon after their signal.
 *
 * Throws UnknownBase (ask again with `from: null`), CommitGone, CommitNotPublished, UnknownProfile, DeliveryUnreachable,
 * DeliveryUnauthorised, DeliveryFailed (the stream ended early; nothing of it counts).
 */
export type Source = {
  /** Differences in batches, complete when the iteration ends without throwing. */
  changes(request: ChangesRequest, signal: AbortSignal): AsyncIterable<readonly Change[]>
  blobs(request: BlobsRequest, sink: BlobSink, signal: AbortSignal): Promise<void>
  /**
   * Everything with its contents: for a reader that has nothing yet, one answer instead of one for the listing and more for what it names. Throws
   * NotFound too, where the controller is of a release without it, and CommitGone for a commit with a submodule.
   */
  files(request: FilesRequest, sink: FileSink, signal: AbortSignal): Promise<void>
  /**
   * What may have been meant by a path that the commit does not hold; a source that may not look at the whole commit has no such method.
   * `isRoot`: the path should hold collections.
   */
  near?(request: { commit: CommitHash; missing: string; isRoot: boolean }, signal: AbortSignal): Promise<string | undefined>
}

/** How an agent calls its gateway, from the Secrets that the GatewaySync names: an API key, and an authority (PEM) for its certificate. */
export type GatewayAccess = { apiKey?: string; caBundle?: string }

/** A source that the server of delivery reads from. */
export type FramedSource = Source & {
  /** The blobs as git frames them, to be passed on unread; without the last frame (content-frames.ts). Throws what `blobs` throws. */
  frames(request: BlobsRequest, signal: AbortSignal): AsyncIterable<Uint8Array>
  /** The same for everything, with files in the headers. Throws what `files` throws. */
  fileFrames(request: FilesRequest, signal: AbortSignal): AsyncIterable<Uint8Array>
  /** Whether all of these commits can be read without asking a git host. */
  holds(commits: readonly CommitHash[], signal: AbortSignal): Promise<boolean>
}

/** One change of a gateway on its way back: `source` is its place in the repository, `path` that on the gateway; `content` is base64. */
export type CapturedChange = {
  source: string
  path: string
  op: 'added' | 'changed' | 'removed'
  exec: boolean
  content?: string | undefined
}

/** What an agent tells of the changes of its gateway: first without `changes`, then with them once the controller wants them. */
export type CaptureOffer = {
  /** The commit that the changes were made on. */
  commit: CommitHash
  profile: string
  /** The deployment mode; `''`: none. */
  mode: string
  /** The request that asks for them. */
  request: string
  /** SHA-256 of all changes, in hex. */
  digest: string
  files: number
  leftOut: { path: string; why: string }[]
  leftOutFiles: number
  changes?: CapturedChange[] | undefined
}

/** `send`: with the changes, please; `later`: ask again; `done`: it is over, or nobody asks for it any more. */
export type CaptureAnswer = { answer: 'send' | 'later' | 'done' }

/** Bounds of one offer: of contents and of all of them, in bytes, and of files. */
export const captureBounds = { totalBytes: 3 * 1024 * 1024, fileBytes: 1024 * 1024, files: 200 } as const

export const deliveryRoutes = ['changes', 'blobs', 'files', 'gateway', 'capture'] as const
/** The last part of each route's path. `gateway` answers with `GatewayAccess`, `capture` takes a `CaptureOffer`. */
export type DeliveryRoute = (typeof deliveryRoutes)[number]

/** What a call is refused with. */
export const refusedStatuses = [400, 401, 403, 404, 409, 410, 413, 422, 429, 501, 503] as const
export type RefusedStatus = (typeof refusedStatuses)[number]

/** The path of a route. `/v1` changes only by addition. */
export function routePath({ namespace, name }: { namespace: string; name: string }, route: DeliveryRoute): string {
  return `/v1/namespaces/${encodeURIComponent(namespace)}/gatewaysyncs/${encodeURIComponent(name)}/${route}`
}
