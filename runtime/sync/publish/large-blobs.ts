/**
 * Large blobs: one is written to its file as it arrives, or, where its file is rendered, held as a whole.
 */
import * as fs from 'node:fs'
import type { BlobId } from '../../delivery/protocol.ts'
import { Fault } from '../../fault.ts'
import { withDiskFault, writeAll } from '../disk/disk.ts'
import { blobHash, blobIdOf } from '../model/blob-hash.ts'
import { damaged, type IncomingBlob, type PutTarget, type Targets } from './incoming-blob.ts'

/** The largest file that is rendered: a template or patch needs it in memory a few times over. */
export const maxRenderedBytes = 8 * 1024 * 1024

/** A blob that begins. `size` in bytes. */
export type LargeBlob = { id: BlobId; size: number; targets: Targets }

/**
 * Held in memory of its own, because the file `rendered` is made from it; `write` gets the content of each target. Throws TemplateFailed when it
 * is over `maxRenderedBytes`; its `end` throws what `write` throws.
 */
export function wholeBlob(
  { id, size, targets }: LargeBlob,
  rendered: string,
  write: (target: PutTarget, content: Uint8Array) => void,
): IncomingBlob {
  if (size > maxRenderedBytes) {
    throw new Fault('TemplateFailed', `"${rendered}" has ${size} bytes; templates and patches take files up to ${maxRenderedBytes}`)
  }
  const content = Buffer.allocUnsafe(size)
  let received = 0
  return {
    data(chunk) {
      content.set(chunk, received)
      received += chunk.length
    },
    end() {
      if (blobIdOf(id, content) !== id) throw damaged(id, size, size)
      for (const target of targets) write(target, content)
    },
    abandon() {},
  }
}

/** How a streamed blob gets its files. Both throw errors of the file system. */
export type StreamedFiles = {
  /** Makes the file, to be read and written. */
  open(target: PutTarget): number
  /** To be called when all is written, with the file still open. */
  finish(target: PutTarget, fd: number): void
}

/** The first target takes the stream; further ones are copied from its descriptor, and their content is verified again. Throws faults of the disk. */
export function streamedBlob({ id, size, targets }: LargeBlob, files: StreamedFiles): IncomingBlob {
  const [first, ...others] = targets
  const { path } = first.put
  const fd = withDiskFault(() => files.open(first), path)
  const sum = blobHash(id, size)
  const copy = (target: PutTarget): void => {
    const to = files.open(target)
    try {
      copyVerified({ id, size }, fd, to)
      files.finish(target, to)
    } finally {
      fs.closeSync(to)
    }
  }
  return {
    data(chunk) {
      sum.update(chunk)
      withDiskFault(() => writeAll(fd, chunk), path)
    },
    end() {
      try {
        if (sum.digest('hex') !== id) throw damaged(id, size, size)
        for (const target of others) withDiskFault(() => copy(target), target.put.path)
        withDiskFault(() => files.finish(first, fd), path)
      } finally {
        fs.closeSync(fd)
      }
    },
    abandon: () => fs.closeSync(fd),
  }
}

function copyVerified({ id, size }: Pick<LargeBlob, 'id' | 'size'>, from: number, to: number): void {
  const buffer = Buffer.allocUnsafe(64 * 1024)
  const sum = blobHash(id, size)
  for (let at = 0; at < size;) {
    const count = fs.readSync(from, buffer, 0, buffer.length, at)
    if (count === 0) break
    const part = buffer.subarray(0, count)
    sum.update(part)
    writeAll(to, part)
    at += count
  }
  if (sum.digest('hex') !== id) throw new Fault('DeliveryFailed', `blob ${id} was changed on the disk while it was copied`)
}
