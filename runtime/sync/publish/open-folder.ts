/**
 * Opens a data directory: creates our folder in it, takes the lock, ends what a killed process left, and reads the manifest. Asks neither the
 * source nor the gateway, so it comes before everything that may have to wait.
 */
import type { Clock } from '../../clock.ts'
import type { RememberedCheck } from '../../gatewaysync/check-record.ts'
import type { CommitHash } from '../../gatewaysync/values.ts'
import type { Log } from '../../log.ts'
import { ensureEngineFolder, ownershipOf } from '../disk/disk.ts'
import { isInterrupted } from './journal.ts'
import { takeLock } from '../disk/lock.ts'
import type { Manifest } from '../model/manifest.ts'
import { readManifest } from '../disk/manifest-file.ts'
import type { Boundary } from './carry-out.ts'
import { recover } from './recover.ts'

/** What is kept between two cycles of one data directory, because reading 20,000 entries costs more than a small publish. */
export type EngineMemory = {
  manifest: Manifest | undefined
  /** Since when the gateway has been starting, in monotonic milliseconds. */
  startingSinceMs?: number | undefined
  /** The commit whose contents were fetched ahead of a plan that could not use them, so that each try does not fetch them again. */
  aheadInVain?: CommitHash | undefined
  /** What the gateway has answered to the check of a rollout. */
  check?: RememberedCheck | undefined
}

/** What opening a data directory takes. */
export type OpenDeps = {
  clock: Clock
  log: Log
  memory: EngineMemory
  /** A role that only one process at a time can have, such as the agent of a pod, by the pod's uid: an earlier holder with it is dead. */
  only?: string
  /** Called at each boundary between two effects. */
  boundary?: Boundary
}

/** What a data directory holds; undefined when no publish has ended, or when it is not known. */
export type Synced = { commit: CommitHash; syncHash: string } | undefined

/** Returns the manifest. Throws FolderLocked, DataDirectoryMissing, SymbolicLink, NotWritable, DiskFull, PublishFailed. */
export async function openFolder(
  { clock, log, memory, only, boundary = ignore }: OpenDeps,
  dataDir: string,
  signal: AbortSignal,
): Promise<Manifest> {
  ensureEngineFolder(dataDir, ownershipOf(dataDir))
  await takeLock(dataDir, clock, signal, only)
  if (memory.manifest !== undefined) return memory.manifest
  const manifest = readManifest(dataDir)
  memory.manifest = manifest
  recover(dataDir, manifest, clock.now().epochMilliseconds, log, boundary)
  return manifest
}

/**
 * For the start of a process, before anything waits: opens the data directory and ends a publish that a killed process left, only with what
 * lies in the directory. `dataDir` is absolute; returns what the directory then holds. Throws what `openFolder` throws; FolderLocked means
 * that another process works here and nothing was touched.
 */
export async function recoverFolder(deps: OpenDeps, dataDir: string, signal: AbortSignal): Promise<Synced> {
  try {
    return syncedOf(await openFolder(deps, dataDir, signal))
  } catch (error) {
    // After any failure the manifest is read from the disk again.
    deps.memory.manifest = undefined
    throw error
  }
}

/** The commit and configuration that an earlier process left in a data directory; undefined when not known. Never throws. */
export function readSynced(dataDir: string): Synced {
  try {
    return isInterrupted(dataDir) ? undefined : syncedOf(readManifest(dataDir))
  } catch {
    // The next cycle meets the same fault and reports it.
    return undefined
  }
}

function syncedOf({ state }: Manifest): Synced {
  return state === undefined || state.commit === null ? undefined : { commit: state.commit, syncHash: state.syncHash }
}

function ignore(): void {}
