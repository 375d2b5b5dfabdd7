/**
 * Receives one blob: a small one is buffered and hashed in one call, a large one is written to its file as it arrives.
 */
import { hash as hashOnce, type Hash } from 'node:crypto'
import * as fs from 'node:fs'
import type { BlobId } from '../../delivery/protocol.ts'
import { Fault } from '../../fault.ts'
import { objectFormatOf } from '../../gatewaysync/values.ts'
import { writeAll } from '../disk/disk.ts'
import type { DesiredFile } from '../desired/desired-tree.ts'
import { blobHash, blobHeader } from '../model/blob-hash.ts'

/** Up to this size a blob is held in one reused buffer; a larger one streams to its file. */
const bufferedBytes = 128 * 1024
/** Size of that buffer, which holds git's header before the content. */
export const bufferBytes = bufferedBytes + 64
/** The largest file that is rendered: a template or patch needs it in memory a few times over. */
export const maxRenderedBytes = 8 * 1024 * 1024

/** A file to write, and its index in the plan's `puts`. */
export type PutTarget = { put: DesiredFile; index: number }

/** A blob that is arriving, for every file with this content. `received` counts bytes; `header` is the length of git's header in `content`. */
export type IncomingBlob = { id: BlobId; size: number; targets: readonly [PutTarget, ...PutTarget[]]; received: number } & (
  { kind: 'whole'; content: Buffer; header: number } | { kind: 'streamed'; fd: number; hash: Hash }
)

/** What a blob that begins is received with. */
export type BlobPlace = {
  /** Reused for each small blob. */
  buffer: Buffer
  needsRender(put: DesiredFile): boolean
  /** Opens the file of a large one. */
  open(target: PutTarget): number
}

/**
 * Begins a blob. A small one goes behind git's header into the reused `buffer`, so that one call hashes both; a large one is opened for
 * streaming, unless it is to be rendered, which needs it whole. Throws TemplateFailed when that is over `maxRenderedBytes`.
 */
export function beginBlob(id: BlobId, size: number, targets: IncomingBlob['targets'], place: BlobPlace): IncomingBlob {
  if (size <= bufferedBytes) return wholeBlob(id, size, targets, place.buffer)
  const rendered = targets.find(({ put }) => place.needsRender(put))
  if (rendered === undefined)
    return { id, size, targets, received: 0, kind: 'streamed', fd: place.open(targets[0]), hash: blobHash(id, size) }
  if (size > maxRenderedBytes) {
    throw new Fault(
      'TemplateFailed',
      `"${rendered.put.path}" has ${size} bytes; templates and patches take files up to ${maxRenderedBytes}`,
    )
  }
  return wholeBlob(id, size, targets, Buffer.allocUnsafe(size + blobHeader(size).length))
}

function wholeBlob(id: BlobId, size: number, targets: IncomingBlob['targets'], content: Buffer): IncomingBlob {
  return { id, size, targets, received: 0, kind: 'whole', content, header: content.write(blobHeader(size), 'latin1') }
}

/** The path that a fault about a blob names. */
export function nameOf({ targets }: Pick<IncomingBlob, 'targets'>): string {
  return targets[0].put.path
}

/** Throws errors of the file system. */
export function takeChunk(blob: IncomingBlob, chunk: Uint8Array): void {
  if (blob.kind === 'whole') blob.content.set(chunk, blob.header + blob.received)
  else {
    blob.hash.update(chunk)
    writeAll(blob.fd, chunk)
  }
  blob.received += chunk.length
}

/** Throws DeliveryFailed when the content does not match the blob's id; the file of a streamed one is then closed. */
export function verify(blob: IncomingBlob): void {
  const complete = blob.received === blob.size
  const id = !complete
    ? undefined
    : blob.kind === 'streamed'
      ? blob.hash.digest('hex')
      : hashOnce(objectFormatOf(blob.id), blob.content.subarray(0, blob.header + blob.size), 'hex')
  if (id === blob.id) return
  if (blob.kind === 'streamed') fs.closeSync(blob.fd)
  throw new Fault('DeliveryFailed', `blob ${blob.id} arrived damaged (${blob.received} of ${blob.size} bytes)`)
}
