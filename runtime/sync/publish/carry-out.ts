/**
 * Carries out the steps of a journal, or undoes them. The run's folder shows how far each step got, so that both can be resumed after a crash
 * at any instruction.
 */
import * as fs from 'node:fs'
import { Fault } from '../../fault.ts'
import { diskFault, errorCode, isMissing } from '../disk/disk.ts'
import { type Folders, openFolders } from '../disk/folders.ts'
import type { Step } from './steps.ts'
import { beatWhenDue } from '../disk/lock.ts'
import { isStandingFolder } from '../model/paths.ts'

/** Called at each boundary between two effects; tests kill the process there. */
export type Boundary = (name: string) => void

/** `run` is the run's folder, below the data directory like everything else. */
export type Places = { dataDir: string; run: string }

/** Whether the run's folder exists; without it nobody knows how far any step got. */
export function hasRun({ dataDir, run }: Places): boolean {
  using folders = openFolders(dataDir)
  return exists(folders, run)
}

/** Does every step that is not done yet; `resumed`: some may be. Throws DiskFull, NotWritable, SymbolicLink, PublishFailed at the first failure. */
export function carryOut(places: Places, steps: readonly Step[], resumed: boolean, boundary: Boundary): void {
  using folders = openFolders(places.dataDir)
  for (const step of steps) {
    try {
      doStep(folders, places.run, step, resumed, boundary)
    } catch (error) {
      throw diskFault(error, step.path)
    }
    boundary(`${step.op} ${step.path}`)
    beatWhenDue(places.dataDir)
  }
}

function doStep(folders: Folders, run: string, step: Step, resumed: boolean, boundary: Boundary): void {
  const target = step.path
  if (step.op === 'move') {
    const keep = `${run}/${step.keep}`
    if (resumed && exists(folders, keep)) return
    renameIfThere(folders, target, keep)
    return
  }
  const stage = `${run}/${step.stage}`
  if (resumed && !exists(folders, stage)) return
  if (step.op === 'put' && step.had) {
    keepOld(folders, target, `${run}/${step.keep}`)
    boundary(`keep ${target}`)
  }
  rename(folders, stage, target)
}

/** Gives the old file a second name, so that the new one replaces it atomically; on a volume without hard links it is moved away. */
function keepOld(folders: Folders, target: string, keep: string): void {
  if (exists(folders, keep)) return
  try {
    fs.linkSync(folders.at(target), folders.at(keep))
  } catch (error) {
    const code = errorCode(error)
    if (code === 'ENOENT') return
    if (code === undefined || !['EPERM', 'EACCES', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV'].includes(code)) throw error
    rename(folders, target, keep)
  }
}

/** Undoes every step that was done, the last one first. All are tried, and the first failure is thrown. */
export function undo(places: Places, steps: readonly Step[]): void {
  using folders = openFolders(places.dataDir)
  let failure: unknown
  for (const step of steps.toReversed()) {
    try {
      undoStep(folders, places.run, step)
    } catch (error) {
      failure ??= diskFault(error, step.path)
    }
  }
  if (failure !== undefined) throw failure
}

function undoStep(folders: Folders, run: string, step: Step): void {
  const target = step.path
  if (step.op !== 'move') {
    const stage = `${run}/${step.stage}`
    if (!exists(folders, stage)) renameIfThere(folders, target, stage)
    if (step.op === 'tree' || !step.had) return
  }
  const keep = `${run}/${step.keep}`
  if (!exists(folders, keep)) return
  rename(folders, keep, target)
  // Renaming one name of a file over another name of it does nothing at all.
  fs.rmSync(folders.at(keep), { force: true })
}

/** Renames, and forgets the descriptors of both places, for a folder there may be another one now. */
function rename(folders: Folders, from: string, to: string): void {
  fs.renameSync(folders.at(from), folders.at(to))
  folders.forget(from)
  folders.forget(to)
}

function renameIfThere(folders: Folders, from: string, to: string): void {
  if (exists(folders, from)) rename(folders, from, to)
}

function exists(folders: Folders, file: string): boolean {
  try {
    return fs.lstatSync(folders.at(file), { throwIfNoEntry: false }) !== undefined
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
}

/** Removes folders that the publish left empty; one that is not empty, or is gone, is skipped. */
export function removeEmptied(dataDir: string, emptied: readonly string[]): void {
  using folders = openFolders(dataDir)
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
}

function asDiskCode(error: unknown): string {
  return error instanceof Fault ? error.reason : (errorCode(error) ?? '')
}

/** Removes a run's folder with everything in it. Never throws: what is left the next start sweeps. */
export function removeRun({ dataDir, run }: Places): void {
  try {
    using folders = openFolders(dataDir)
    folders.removeTree(run)
  } catch {
    // The folder keeps its name, by which the next start finds it.
  }
}
