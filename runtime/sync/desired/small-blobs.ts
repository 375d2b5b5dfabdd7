/**
 * Reads a few small blobs into memory, verified: manifests of collections, originals of files that a gateway rewrote, contents of a diff.
 */
import type { BlobId, Source } from '../../content/protocol/protocol.ts'
import { Fault } from '../../platform/fault.ts'
import type { SyncTarget } from '../model/desired.ts'
import { blobIdOf } from '../model/manifest.ts'

/** Returns contents by id; blobs over `maxBytes` are left out. Throws DeliveryFailed and what the source throws. */
export async function readBlobs(
  source: Source,
  { commit, profile }: Pick<SyncTarget, 'commit' | 'profile'>,
  ids: readonly BlobId[],
  maxBytes: number,
  signal: AbortSignal,
): Promise<Map<BlobId, Uint8Array>> {
  const result = new Map<BlobId, Uint8Array>()
  const unique = [...new Set(ids)]
  if (unique.length === 0) return result
  let current: { id: BlobId; content: Uint8Array | undefined; size: number; received: number } | undefined
  await source.blobs(
    { commit, profile: profile.name, ids: unique },
    {
      begin(id, size) {
        current = { id, content: size > maxBytes ? undefined : new Uint8Array(size), size, received: 0 }
      },
      data(chunk) {
        if (current === undefined || current.received + chunk.length > current.size)
          throw new Fault('DeliveryFailed', 'a blob is longer than announced')
        current.content?.set(chunk, current.received)
        current.received += chunk.length
      },
      end() {
        if (current === undefined || current.received !== current.size) throw new Fault('DeliveryFailed', 'a blob ended early')
        if (current.content !== undefined) result.set(current.id, verified(current.id, current.content))
        current = undefined
      },
    },
    signal,
  )
  return result
}

function verified(id: BlobId, content: Uint8Array): Uint8Array {
  if (blobIdOf(id, content) !== id) throw new Fault('DeliveryFailed', `blob ${id} arrived damaged`)
  return content
}
