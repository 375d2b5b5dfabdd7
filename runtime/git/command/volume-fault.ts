/**
 * Recognizes a full or read-only volume of mirrors by error codes and git output. Existing files on the volume can still be read.
 */
import { Fault } from '../../platform/fault.ts'

/** Each with the code of a failed call of this process, a pattern for git's message about the same failure, and our message. */
export const refusalsOfVolume = [
  {
    code: 'ENOSPC',
    pattern: /No space left on device|Out of diskspace/i,
    message: 'no space is left on the volume for mirrors (source.storage)',
  },
  { code: 'EDQUOT', pattern: /Disk quota exceeded/i, message: 'the disk quota of the volume for mirrors (source.storage) is used up' },
  { code: 'EROFS', pattern: /Read-only file system/i, message: 'the volume for mirrors (source.storage) is read-only' },
] as const

/** SourceVolumeFull for a call that the volume refused; any other value unchanged. */
export function volumeFault(error: unknown): unknown {
  const refusal = refusalsOfVolume.find(({ code }) => error instanceof Error && 'code' in error && error.code === code)
  return refusal === undefined ? error : new Fault('SourceVolumeFull', refusal.message, { cause: error })
}

/** Runs `work`, and throws SourceVolumeFull if the volume refuses it. */
export async function onVolume<Value>(work: () => Promise<Value> | Value): Promise<Value> {
  try {
    return await work()
  } catch (error) {
    throw volumeFault(error)
  }
}
