/**
 * Carries out the steps of a journal, or undoes them. The run's folder shows how far each step got, so that both can be resumed after a
 * crash at any instruction.
 */
import * as fs from 'node:fs'
import { Fault } from '../../platform/fault.ts'
import { diskFault, errorCode, isMissing, removeFile } from '../disk/disk.ts'
import { type Folders, withFolders } from '../disk/folders.ts'
import { removeTree } from '../disk/remove-tree.ts'
import type { Step } from './steps.ts'
import { beatWhenDue } from '../disk/lock.ts'
import { isStandingFolder } from '../model/paths.ts'

/** Called at each boundary between two effects; tests kill the process there. */
export type Boundary = (name: string) => void

/** `run` is the run's folder, below the data directory like everything else. */
export type RunLocation = { dataDir: string; run: string }

/** Moves entries for the steps. Paths are below the data directory; all functions throw errors of the file system. */
export type Entries = {
  /** The run's folder. */
  run: string
  exists(entry: string): boolean
  rename(from: string, to: string): void
  /** Creates a hard link; `unsupported` if the volume has none. */
  link(file: string, name: string): 'linked' | 'missing' | 'unsupported'
  remove(file: string): void
  /** Called after each step, because all steps together may take long. */
  beat(): void
}

/**
 * Runs every step that is not done yet; `resumed`: some may be. Throws DiskFull, NotWritable, SymbolicLink, PublishFailed at the first
 * failure.
 */
export function carryOut(entries: Entries, steps: readonly Step[], resumed: boolean, boundary: Boundary): void {
  for (const step of steps) {
    try {
      doStep(entries, step, resumed, boundary)
    } catch (error) {
      throw diskFault(error, step.path)
    }
    boundary(`${step.op} ${step.path}`)
    entries.beat()
  }
}

function doStep(entries: Entries, step: Step, resumed: boolean, boundary: Boundary): void {
  const { run } = entries
  const target = step.path
  if (step.op === 'move') {
    const keep = `${run}/${step.keep}`
    if (resumed && entries.exists(keep)) return
    if (entries.exists(target)) entries.rename(target, keep)
    return
  }
  const stage = `${run}/${step.stage}`
  if (resumed && !entries.exists(stage)) return
  if (step.op === 'put' && step.had) {
    keepOld(entries, target, `${run}/${step.keep}`)
    boundary(`keep ${target}`)
  }
  entries.rename(stage, target)
}

/** Gives the old file a second name, so that the new one replaces it atomically; on a volume without hard links it is moved away. */
function keepOld(entries: Entries, target: string, keep: string): void {
  if (entries.exists(keep)) return
  if (entries.link(target, keep) === 'unsupported') entries.rename(target, keep)
}

/** Undoes every completed step, the last one first. All are tried, and the first failure is thrown. */
export function undo(entries: Entries, steps: readonly Step[]): void {
  let failure: unknown
  for (const step of steps.toReversed()) {
    try {
      undoStep(entries, step)
    } catch (error) {
      failure ??= diskFault(error, step.path)
    }
  }
  if (failure !== undefined) throw failure
}

function undoStep(entries: Entries, step: Step): void {
  const { run } = entries
  const target = step.path
  if (step.op !== 'move') {
    const stage = `${run}/${step.stage}`
    if (!entries.exists(stage) && entries.exists(target)) entries.rename(target, stage)
    if (step.op === 'tree' || !step.had) return
  }
  const keep = `${run}/${step.keep}`
  if (!entries.exists(keep)) return
  entries.rename(keep, target)
  // Renaming one hard link over another of the same file does nothing.
  entries.remove(keep)
}

const noLinks = new Set(['EPERM', 'EACCES', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV'])

/** Accesses the entries of a data directory without following links. */
export function entriesOf({ dataDir, run }: RunLocation, folders: Folders): Entries {
  return {
    run,
    exists: (entry) => exists(folders, entry),
    rename(from, to) {
      fs.renameSync(folders.at(from), folders.at(to))
      // Both places may hold another folder now.
      folders.forget(from)
      folders.forget(to)
    },
    link(file, name) {
      try {
        fs.linkSync(folders.at(file), folders.at(name))
        return 'linked'
      } catch (error) {
        const code = errorCode(error)
        if (code === 'ENOENT') return 'missing'
        if (code === undefined || !noLinks.has(code)) throw error
        return 'unsupported'
      }
    },
    remove: (file) => removeFile(folders.at(file)),
    beat: () => beatWhenDue(dataDir),
  }
}

function exists(folders: Folders, file: string): boolean {
  try {
    return fs.lstatSync(folders.at(file), { throwIfNoEntry: false }) !== undefined
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
}

/** Removes folders that the apply left empty; one that is not empty, or is gone, is skipped. */
export function removeEmptied(dataDir: string, emptied: readonly string[]): void {
  withFolders(dataDir, (folders) => {
    for (const folder of emptied) {
      if (isStandingFolder(folder)) continue
      try {
        fs.rmdirSync(folders.at(folder))
        folders.forget(folder)
      } catch (error) {
        const code = asDiskCode(error)
        if (isMissing(error) || ['ENOTEMPTY', 'EEXIST', 'EBUSY', 'EACCES', 'EPERM', 'SymbolicLink'].includes(code)) continue
        throw diskFault(error, folder)
      }
    }
  })
}

function asDiskCode(error: unknown): string {
  return error instanceof Fault ? error.reason : (errorCode(error) ?? '')
}

/** Removes a run's folder with everything in it. Never throws: the next start removes the rest. */
export async function removeRun({ dataDir, run }: RunLocation): Promise<void> {
  try {
    await removeTree(dataDir, run)
  } catch {
    // The folder keeps its name, so that the next start finds it.
  }
}
