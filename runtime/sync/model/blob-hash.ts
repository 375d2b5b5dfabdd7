/**
 * How git names a file by its content. Pure.
 */
import { createHash, type Hash } from 'node:crypto'
import type { BlobId } from '../../delivery/protocol.ts'
import { objectFormatOf } from '../../gatewaysync/values.ts'

/** The header that git hashes before a content of `size` bytes. */
export function blobHeader(size: number): string {
  return `blob ${size}\0`
}

/** A hash that has taken the header already, for content that arrives in pieces. `like`: any id of the same repository. */
export function blobHash(like: BlobId, size: number): Hash {
  return createHash(objectFormatOf(like)).update(blobHeader(size))
}

/** The id that git gives a content, with the hash that `like` was made with. */
export function blobIdOf(like: BlobId, content: Uint8Array): BlobId {
  return blobHash(like, content.length).update(content).digest('hex') as BlobId
}
