/**
 * Opens a data directory: creates the operator's folder in it, takes the lock, recovers from a killed process, and reads the manifest.
 * Needs neither the source nor the gateway, so it runs before everything that may have to wait.
 */
import * as fs from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import type { Clock } from '../../platform/clock.ts'
import type { StoredCheck } from '../../api/check-record.ts'
import { engineFolder } from '../../api/names.ts'
import { type CommitHash, folderAbove } from '../../api/values.ts'
import { Fault } from '../../platform/fault.ts'
import type { Log } from '../../platform/log/log.ts'
import { diskFault, ensureEngineFolder, ownershipOf, removeFile, withDiskFault } from '../disk/disk.ts'
import { withEngineFolder, withFolders } from '../disk/folders.ts'
import { dropJournal, isInterrupted, type Journal, readJournal } from './journal.ts'
import { takeLock } from '../disk/lock.ts'
import type { FileStat, Manifest, ManifestChange } from '../model/manifest.ts'
import { appendManifest, isSameFile, readManifest, markSuspect } from '../disk/manifest-file.ts'
import { createObserver } from '../plan/observe.ts'
import { type Boundary, removeRun } from './carry-out.ts'
import { type Leftovers, resumeSteps } from './apply-order.ts'
import { diskEffects } from './apply.ts'

/** Kept between two cycles of one data directory, because reading 20,000 entries costs more than a small apply. */
export type EngineMemory = {
  manifest: Manifest | undefined
  /** Since when the gateway has been starting, in monotonic milliseconds. */
  startingSinceMs?: number | undefined
  /** The commit whose contents were fetched before a plan that could not use them, so that retries do not fetch them again. */
  aheadInVain?: CommitHash | undefined
  /** The gateway's responses to the check of a rollout. */
  check?: StoredCheck | undefined
}

/** Dependencies of opening a data directory. */
export type OpenDeps = {
  clock: Clock
  log: Log
  memory: EngineMemory
  /**
   * A role that only one process at a time can have, such as the agent of a pod, by the pod's uid: an earlier holder with the same role is
   * dead.
   */
  only?: string
  /** Called at each boundary between two effects. */
  boundary?: Boundary
}

/** What a data directory holds; undefined if no apply has ended, or unknown. */
export type Synced = { commit: CommitHash; syncHash: string } | undefined

/** Returns the manifest. Throws FolderLocked, DataDirectoryMissing, SymbolicLink, NotWritable, DiskFull, PublishFailed. */
export async function openFolder(
  { clock, log, memory, only, boundary = ignore }: OpenDeps,
  dataDir: string,
  signal: AbortSignal,
): Promise<Manifest> {
  ensureEngineFolder(dataDir, ownershipOf(dataDir))
  await takeLock(dataDir, clock, signal, only)
  const remembered = memory.manifest
  if (remembered !== undefined && isSameFile(dataDir, remembered) && emptied(dataDir, remembered) === undefined) return remembered
  const manifest = readManifest(dataDir)
  memory.manifest = manifest
  await recover(dataDir, manifest, log, boundary)
  const why = replaced(manifest, remembered) ?? emptied(dataDir, manifest)
  if (why !== undefined) {
    log.warn({ message: why }, 'every file is verified, because the folder changed since the last sync')
    markSuspect(dataDir, manifest, { why, changes: [], state: manifest.state })
  }
  return manifest
}

/** Why the records on disk differ from those that this process left; undefined: they do not. Inodes alone may change on some volumes. */
function replaced(manifest: Manifest, remembered: Manifest | undefined): string | undefined {
  if (remembered === undefined || manifest.suspectReason !== undefined) return undefined
  const isSame =
    manifest.bytes === remembered.bytes &&
    manifest.files.size === remembered.files.size &&
    isDeepStrictEqual(manifest.state, remembered.state)
  return isSame ? undefined : 'the data directory was replaced or restored while the sync ran'
}

/** Like `replaced`, for a top-level folder of owned files that is gone as a whole. */
function emptied(dataDir: string, { files, suspectReason }: Manifest): string | undefined {
  if (suspectReason !== undefined) return undefined
  const observer = createObserver(dataDir)
  const tops = new Set<string>()
  for (const file of files.keys()) tops.add(file.slice(0, Math.max(0, file.indexOf('/'))))
  const gone = [...tops].find((folder) => folder !== '' && observer.observe(folder).kind === 'absent')
  return gone === undefined ? undefined : `the data directory was emptied or replaced: its folder "${gone}" is gone`
}

/**
 * Opens the data directory at the start of a process, before any wait, and recovers an interrupted apply from the directory's content
 * alone. `dataDir` is absolute; returns what the directory then holds. Throws what `openFolder` throws; FolderLocked means that another
 * process works here and nothing was touched.
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

/** The commit and configuration that an earlier process left in a data directory; undefined: unknown. Never throws. */
export function readSynced(dataDir: string): Synced {
  try {
    return isInterrupted(dataDir) ? undefined : syncedOf(readManifest(dataDir))
  } catch {
    // The next cycle hits the same fault and reports it.
    return undefined
  }
}

function syncedOf({ state }: Manifest): Synced {
  return state === undefined || state.commit === null ? undefined : { commit: state.commit, syncHash: state.syncHash }
}

function ignore(): void {}

/** A process that waits for the lock and finds its own file gone tries again (lock.ts). */
const leftover = /^(?:(?:journal|manifest|clean|was-synced|first-start|first-recovery)\.tmp|lock\.[0-9a-f-]{36})$/

/**
 * Finishes an interrupted apply or, if that is impossible, undoes it; removes staging leftovers. If the remains do not show what is in place,
 * the folder is suspect: the next cycle verifies every file by its content, and until then no commit counts as being in place. Updates the manifest.
 * Throws what an apply throws if none of these is possible.
 */
export async function recover(dataDir: string, manifest: Manifest, log: Log, boundary: Boundary): Promise<void> {
  const left = findJournal(dataDir)
  if (left !== undefined) {
    if (left instanceof Fault) markSuspect(dataDir, manifest, { why: left.message, changes: [], state: manifest.state })
    else resume(dataDir, left, manifest, log, boundary)
    boundary('recovered')
    withDiskFault(() => dropJournal(dataDir), '.cluster-sync/journal')
    boundary('journal dropped')
  }
  if (manifest.suspectReason !== undefined)
    log.warn({ message: manifest.suspectReason }, 'every file is verified, because the records of this folder cannot be trusted')
  await sweep(dataDir)
}

/** Returns the journal; for a damaged one the fault, as a value. Every other read failure is thrown. */
function findJournal(dataDir: string): Journal | Fault | undefined {
  try {
    return readJournal(dataDir)
  } catch (error) {
    if (error instanceof Fault && error.reason === 'StateUnreadable') return error
    throw error
  }
}

function resume(dataDir: string, journal: Journal, manifest: Manifest, log: Log, boundary: Boundary): void {
  const location = { dataDir, run: `${engineFolder}/${journal.run}` }
  const { state, changes, steps, base } = journal
  const recorded = { apply: manifest.state?.publish ?? null, suspectReason: manifest.suspectReason }
  withFolders(dataDir, (folders) => {
    const effects = diskEffects(folders, location, journal, () => {
      // The manifest is rewritten as a whole: the lines that a failed write left may be in memory only.
      manifest.bytes = 0
      appendManifest(dataDir, manifest, changes, state)
    })
    const leftovers: Leftovers = {
      hasRun: () => effects.exists(location.run),
      misplaced: () => misplaced(dataDir, journal),
      isUndone: () => isUndone(dataDir, journal, manifest),
    }
    const outcome = resumeSteps({ ...effects, ...leftovers }, { steps, base, apply: state.publish }, recorded, boundary)
    const commit = state.commit ?? ''
    if (outcome.kind === 'finished') log.info({ commit }, 'finished an interrupted sync')
    else if (outcome.kind === 'undone') log.warn({ commit }, 'rolled back an interrupted sync')
    else markSuspect(dataDir, manifest, { why: outcome.why, changes: stillOwned(dataDir, [...changes]), state })
  })
}

/**
 * A file that the steps should have put in place and that is not the one that was staged. A step counts as done when its staged file is gone,
 * so a staged file that was lost would otherwise go unnoticed.
 */
function misplaced(dataDir: string, { steps, changes }: Journal): string | undefined {
  const observer = createObserver(dataDir)
  const files = new Set(steps.flatMap((step) => (step.op === 'put' ? [step.path] : [])))
  const trees = new Set(steps.flatMap((step) => (step.op === 'tree' ? [step.path] : [])))
  const wasPut = (path: string): boolean => files.has(path) || folderAbove(path, trees) !== undefined
  return Iterator.from(changes).find(({ path, owned }) => {
    if (owned === undefined || !wasPut(path)) return false
    const seen = observer.observe(path)
    return seen.kind !== 'file' || !isUnchanged(seen.stat, owned.stat)
  })?.path
}

/** Whether every file that the apply was going to replace or delete exists again, as the manifest describes it. */
function isUndone(dataDir: string, { steps, changes }: Journal, { files }: Manifest): boolean {
  const observer = createObserver(dataDir)
  const isThere = (path: string): boolean => {
    const seen = observer.observe(path)
    const owned = files.get(path)
    return seen.kind === 'file' && (owned === undefined || isUnchanged(seen.stat, owned.stat))
  }
  return (
    steps.every((step) => step.op !== 'put' || !step.had || isThere(step.path)) &&
    Iterator.from(changes).every(({ path }) => !files.has(path) || isThere(path))
  )
}

/** A rename changes neither size nor time; the inode differs on a volume without stable inodes. */
function isUnchanged(seen: FileStat, recorded: FileStat): boolean {
  return seen.size === recorded.size && seen.mtimeMs === recorded.mtimeMs
}

/** The journal's changes, except that a file that was to be deleted and still exists stays owned. */
function stillOwned(dataDir: string, changes: readonly ManifestChange[]): ManifestChange[] {
  const observer = createObserver(dataDir)
  return changes.filter(({ path, owned }) => owned !== undefined || observer.observe(path).kind !== 'file')
}

/** Removes what no journal names: staged files of runs that were never applied, temporary files, and a killed process's lock files. */
async function sweep(dataDir: string): Promise<void> {
  const runs: string[] = []
  try {
    withEngineFolder(dataDir, (engine) => {
      for (const name of fs.readdirSync(engine.folder())) {
        if (/^run-[0-9a-f-]+$/.test(name)) runs.push(name)
        else if (leftover.test(name)) removeFile(engine.at(name))
      }
    })
    for (const name of runs) await removeRun({ dataDir, run: `${engineFolder}/${name}` })
  } catch (error) {
    throw diskFault(error, engineFolder)
  }
}
