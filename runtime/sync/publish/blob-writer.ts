/**
 * One blob on its way in: small ones are held and hashed at once, large ones go to their file as they come.
 */
import { hash as hashOnce, type Hash } from 'node:crypto'
import * as fs from 'node:fs'
import type { BlobId } from '../../delivery/protocol.ts'
import { Fault } from '../../fault.ts'
import { writeAll } from '../disk/disk.ts'
import type { PlannedPut } from '../plan/plan.ts'
import { algorithmOf, blobHash, blobHeader } from '../model/blob-hash.ts'

/** Up to this size a blob is held in one reused buffer and hashed at once; beyond, it streams to its file. */
const bufferedBytes = 128 * 1024
/** With git's header before it. */
export const bufferBytes = bufferedBytes + 64
/** A template or patch needs the whole file in memory a few times over. */
export const maxRenderedBytes = 8 * 1024 * 1024

/** A put with its index. */
export type PutTarget = { put: PlannedPut; index: number }

export type IncomingBlob = { id: BlobId; size: number; targets: readonly PutTarget[]; received: number } & (
  { kind: 'whole'; content: Buffer; header: number } | { kind: 'streamed'; fd: number; hash: Hash }
)

/** Small blobs stand behind git's header in the reused buffer, so that one call hashes both; what is rendered stays in memory whole. */
export function beginBlob(
  { id, size, targets }: { id: BlobId; size: number; targets: readonly PutTarget[] },
  buffer: Buffer,
  firstRendered: () => PutTarget | undefined,
  open: () => number,
): IncomingBlob {
  const header = blobHeader(size)
  const whole = (content: Buffer): IncomingBlob => ({
    id,
    size,
    targets,
    received: 0,
    kind: 'whole',
    content,
    header: content.write(header, 'latin1'),
  })
  if (size <= bufferedBytes) return whole(buffer)
  const rendered = firstRendered()
  if (rendered === undefined) return { id, size, targets, received: 0, kind: 'streamed', fd: open(), hash: blobHash(id, size) }
  if (size > maxRenderedBytes) {
    throw new Fault(
      'TemplateFailed',
      `"${rendered.put.path}" has ${size} bytes; templates and patches take files up to ${maxRenderedBytes}`,
    )
  }
  return whole(Buffer.allocUnsafe(size + header.length))
}

/** The path that a fault about a blob names. */
export function nameOf({ targets }: Pick<IncomingBlob, 'targets'>): string {
  return targets[0]?.put.path ?? ''
}

/** Throws the faults of the system. */
export function takeChunk(blob: IncomingBlob, chunk: Uint8Array): void {
  if (blob.kind === 'whole') blob.content.set(chunk, blob.header + blob.received)
  else {
    blob.hash.update(chunk)
    writeAll(blob.fd, chunk)
  }
  blob.received += chunk.length
}

/** Throws DeliveryFailed where the content is not that of the blob's id; the file of a streamed one is closed then. */
export function verify(blob: IncomingBlob): void {
  const complete = blob.received === blob.size
  const id = !complete
    ? undefined
    : blob.kind === 'streamed'
      ? blob.hash.digest('hex')
      : hashOnce(algorithmOf(blob.id), blob.content.subarray(0, blob.header + blob.size), 'hex')
  if (id === blob.id) return
  if (blob.kind === 'streamed') fs.closeSync(blob.fd)
  throw new Fault('DeliveryFailed', `blob ${blob.id} arrived damaged (${blob.received} of ${blob.size} bytes)`)
}
