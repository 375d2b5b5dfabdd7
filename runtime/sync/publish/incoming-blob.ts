/**
 * What a blob is that arrives piece by piece.
 */
import { Fault } from '../../fault.ts'
import type { DesiredFile } from '../desired/desired-tree.ts'

/** A file to write, and its index in the plan's `puts`. */
export type PutTarget = { put: DesiredFile; index: number }

/** Every file with the content of one blob. */
export type Targets = readonly [PutTarget, ...PutTarget[]]

/** Takes the content of one blob; whoever calls sees to it that all of it comes, and nothing more. */
export type IncomingBlob = {
  /** Throws errors of the file system. */
  data(chunk: Uint8Array): void
  /** Throws DeliveryFailed for content that does not match the id, and faults of the disk. */
  end(): void
  /** Ends it where it is. */
  abandon(): void
}

/** `received` of `size` bytes came. */
export function damaged(id: string, received: number, size: number): Fault {
  return new Fault('DeliveryFailed', `blob ${id} arrived damaged (${received} of ${size} bytes)`)
}
