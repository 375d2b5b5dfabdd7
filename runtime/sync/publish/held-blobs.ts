/**
 * Holds small blobs that have arrived until there are many, which are then verified and written in one go: that takes the engine less time than
 * to write each between the arrival of two others (docs/performance.md).
 */
import { hash } from 'node:crypto'
import type { BlobId } from '../../delivery/protocol.ts'
import { objectFormatOf } from '../../gatewaysync/values.ts'
import { blobHeader } from '../model/blob-hash.ts'
import { damaged, type IncomingBlob, type PutTarget, type Targets } from './incoming-blob.ts'

/** Only up to this size a blob is held. */
export const maxHeldBytes = 128 * 1024
/** When so many or so much is held, it is time to write. */
const [enoughBlobs, enoughBytes] = [64, 32 * 1024]
/** Room for git's header of a blob. */
const maxHeaderBytes = 64
const bufferBytes = enoughBytes + maxHeaderBytes + maxHeldBytes

/** As an incoming blob it is the one that began last. */
export type HeldBlobs = IncomingBlob & {
  /** Whether as much is held as may be: it has to be taken before another blob begins. */
  isFull(): boolean
  /** No more than `size` bytes may follow. */
  begin(id: BlobId, size: number, targets: Targets): void
  /** Gives each content to each of its targets, and holds none of them any more. Throws DeliveryFailed for damage, and what `write` throws. */
  takeAll(write: (target: PutTarget, content: Uint8Array) => void): void
}

/** Git's header lies from `start` to `contentAt`, before the content, so that one call hashes both. */
type Held = { id: BlobId; size: number; targets: Targets; start: number; contentAt: number }

/** Nothing is held. */
export function createHeldBlobs(): HeldBlobs {
  const buffer = Buffer.from(new ArrayBuffer(bufferBytes))
  // Quicker than a part of a Buffer, which is one too.
  const view = (start: number, end: number): Uint8Array => new Uint8Array(buffer.buffer, start, end - start)
  let held: Held[] = []
  let latest: Held | undefined
  let filled = 0
  const takeOut = (): Held[] => {
    const taken = held
    held = []
    latest = undefined
    filled = 0
    return taken
  }
  return {
    isFull: () => held.length >= enoughBlobs || filled > enoughBytes,
    begin(id, size, targets) {
      const start = filled
      filled += buffer.write(blobHeader(size), start, 'latin1')
      latest = { id, size, targets, start, contentAt: filled }
    },
    data(chunk) {
      buffer.set(chunk, filled)
      filled += chunk.length
    },
    end() {
      if (latest !== undefined) held.push(latest)
      latest = undefined
    },
    abandon() {
      takeOut()
    },
    takeAll(write) {
      for (const { id, size, targets, start, contentAt } of takeOut()) {
        const end = contentAt + size
        if (hash(objectFormatOf(id), view(start, end), 'hex') !== id) throw damaged(id, size, size)
        const content = view(contentAt, end)
        targets.forEach((target) => write(target, content))
      }
    },
  }
}
