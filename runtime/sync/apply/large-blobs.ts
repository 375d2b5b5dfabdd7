/**
 * Receives large blobs: one is written to its file as it arrives or, if its file is rendered, held as a whole.
 */
import * as fs from 'node:fs'
import type { BlobId } from '../../content/protocol/protocol.ts'
import { Fault } from '../../platform/fault.ts'
import type { DesiredFile } from '../desired/desired-tree.ts'
import { withDiskFault, writeAll } from '../disk/disk.ts'
import { blobHash, blobIdOf } from '../model/manifest.ts'

/** The largest file that is rendered: a template or patch needs it in memory a few times over. */
export const maxRenderedBytes = 8 * 1024 * 1024

/** A blob that begins. `size` in bytes. */
export type LargeBlob = { id: BlobId; size: number; targets: Targets }

/**
 * Held in its own buffer, because `rendered` is made from it; `write` gets the content of each target. Throws TemplateFailed if it is over
 * `maxRenderedBytes`; its `end` throws what `write` throws.
 */
export function wholeBlob(
  { id, size, targets }: LargeBlob,
  rendered: string,
  write: (target: PutTarget, content: Uint8Array) => void,
): IncomingBlob {
  if (size > maxRenderedBytes) {
    throw new Fault('TemplateFailed', `"${rendered}" is ${size} bytes; templates and patches accept at most ${maxRenderedBytes}`)
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

/** Opens and completes the files of a streamed blob. Both throw errors of the file system. */
export type StreamedFiles = {
  /** Creates the file, open for reading and writing. */
  open(target: PutTarget): number
  /** Call this when all is written, with the file still open. */
  finish(target: PutTarget, fd: number): void
}

/**
 * The first target receives the stream; further ones are copied from its descriptor, and their content is verified again. Throws faults of
 * the disk.
 */
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

/** A file to write, and its index in the plan's `puts`. */
export type PutTarget = { put: DesiredFile; index: number }

/** Every file with the content of one blob. */
export type Targets = readonly [PutTarget, ...PutTarget[]]

/** Receives the content of one blob; the caller ensures that all of it arrives, and nothing more. */
export type IncomingBlob = {
  /** Throws errors of the file system. */
  data(chunk: Uint8Array): void
  /** Throws DeliveryFailed for content that does not match the id, and faults of the disk. */
  end(): void
  /** Stops receiving. */
  abandon(): void
}

/** The fault for a blob with only `received` of its `size` bytes matching or received. */
export function damaged(id: string, received: number, size: number): Fault {
  return new Fault('DeliveryFailed', `blob ${id} arrived damaged (${received} of ${size} bytes)`)
}
