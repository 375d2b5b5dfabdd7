/**
 * Takes a data directory in hand: our folder in it, the lock, what a killed process left, and what is known of its files. Nothing and nobody
 * else is asked, so this comes before everything that may wait.
 */
import type { Clock } from '../../clock.ts'
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
  /** Since when the gateway has been starting, by the monotonic clock. */
  startingSinceMs?: number | undefined
}

export type OpenDeps = {
  clock: Clock
  log: Log
  memory: EngineMemory
  /** What only one process at a time can be, such as the agent of a pod by the pod's uid: an earlier one of the same is dead. */
  only?: string
  /** Told of each boundary between two effects. */
  boundary?: Boundary
}

/** What a data directory holds; undefined where no publish has ended, or where that is not known. */
export type Synced = { commit: CommitHash; syncHash: string } | undefined

/** Throws FolderLocked, DataDirectoryMissing, SymbolicLink, NotWritable, DiskFull, PublishFailed. */
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
 * For the start of a process, before anything waits: takes the data directory in hand and ends a publish that a killed process left, with what
 * lies in the directory alone. Takes the absolute path; returns what the directory holds then. Throws what openFolder throws: FolderLocked
 * means that another process is at work here, and that nothing was touched.
 */
export async function recoverFolder(deps: OpenDeps, dataDir: string, signal: AbortSignal): Promise<Synced> {
  try {
    return syncedOf(await openFolder(deps, dataDir, signal))
  } catch (error) {
    // What the disk holds is looked up anew after any failure.
    deps.memory.manifest = undefined
    throw error
  }
}

/** The commit and configuration that a data directory holds, as an earlier process left them; undefined where that is not known. */
export function readSynced(dataDir: string): Synced {
  try {
    return isInterrupted(dataDir) ? undefined : syncedOf(readManifest(dataDir))
  } catch {
    // The cycle meets the same fault and says so.
    return undefined
  }
}

function syncedOf({ state }: Manifest): Synced {
  return state === undefined || state.commit === null ? undefined : { commit: state.commit, syncHash: state.syncHash }
}

function ignore(): void {}
