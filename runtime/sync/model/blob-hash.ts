/**
 * How git names a file by its content. Pure.
 */
import { createHash, type Hash } from 'node:crypto'
import type { BlobId } from '../../delivery/protocol.ts'

/** What git hashes in front of a content of so many bytes. */
export function blobHeader(size: number): string {
  return `blob ${size}\0`
}

/** The algorithm of a repository, as one of its ids tells it by its length. */
export function algorithmOf(like: BlobId): 'sha1' | 'sha256' {
  return like.length === 64 ? 'sha256' : 'sha1'
}

/** A hash that has taken the header, for a content that comes in pieces. */
export function blobHash(like: BlobId, size: number): Hash {
  return createHash(algorithmOf(like)).update(blobHeader(size))
}

/** The id that git gives a content, in the format of `like`. */
export function blobIdOf(like: BlobId, content: Uint8Array): BlobId {
  return blobHash(like, content.length).update(content).digest('hex') as BlobId
}
