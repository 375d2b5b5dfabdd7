/**
 * Allows one run per data directory and state folder: all locks are taken before anything is read or written, so that a refused run has
 * changed nothing and no push is accepted by two processes.
 */
import type { Clock } from '../platform/clock.ts'
import { asFault, isAbort } from '../platform/fault.ts'
import { ensureEngineFolder, ownershipOf } from '../sync/disk/disk.ts'
import { releaseLock, takeLock } from '../sync/disk/lock.ts'

/** The locks of one run. */
export type Claim = {
  /** Releases all locks. Never throws. */
  release(): void
}

/**
 * Takes absolute paths. Throws FolderLocked, with no lock left behind, and the signal's reason. A folder whose lock cannot be written now
 * (on a full disk, for example) does not stop the others: nothing is written to it without its lock, and each sync tries again.
 */
export async function claimFolders(clock: Clock, folders: readonly string[], signal: AbortSignal): Promise<Claim> {
  const taken: string[] = []
  const release = (): void => {
    for (const folder of taken.splice(0)) releaseLock(folder)
  }
  try {
    for (const folder of folders) if (await take(clock, folder, signal)) taken.push(folder)
  } catch (error) {
    release()
    throw error
  }
  return { release }
}

async function take(clock: Clock, folder: string, signal: AbortSignal): Promise<boolean> {
  try {
    ensureEngineFolder(folder, ownershipOf(folder))
    await takeLock(folder, clock, signal)
    return true
  } catch (error) {
    if (isAbort(error, signal) || asFault(error).reason === 'FolderLocked') throw error
    return false
  }
}
