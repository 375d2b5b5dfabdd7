/**
 * Carries the steps of a journal out, or undoes them. Each step can tell from the run's folder how far it got, so both directions can be
 * taken up after a crash at any instruction.
 */
import * as fs from 'node:fs'
import path from 'node:path'
import { Fault } from '../fault.ts'
import { diskFault, errorCode, isMissing } from './disk.ts'
import type { Step } from './layout.ts'
import { isStandingFolder } from './paths.ts'
import { createObserver, type Observer } from './present.ts'

/** Called at each boundary between two effects; tests kill the process there. */
export type Boundary = (name: string) => void

type Places = { dataDir: string; runFolder: string }

/** Does every step that is not done yet. Throws DiskFull, NotWritable, SymbolicLink, PublishFailed at the first that fails. */
export function carryOut(places: Places, steps: readonly Step[], resumed: boolean, boundary: Boundary): void {
  const observer = createObserver(places.dataDir)
  for (const step of steps) {
    try {
      doStep(places, step, resumed, observer, boundary)
    } catch (error) {
      throw diskFault(error, step.path)
    }
    boundary(`${step.op} ${step.path}`)
  }
}

function doStep({ dataDir, runFolder }: Places, step: Step, resumed: boolean, observer: Observer, boundary: Boundary): void {
  const target = path.join(dataDir, step.path)
  if (step.op === 'move') {
    const keep = path.join(runFolder, step.keep)
    if (resumed && exists(keep)) return
    observer.requireFolders(step.path)
    renameIfThere(target, keep)
    return
  }
  const stage = path.join(runFolder, step.stage)
  if (resumed && !exists(stage)) return
  observer.requireFolders(step.path)
  if (step.op === 'put' && step.had) {
    keepOld(target, path.join(runFolder, step.keep))
    boundary(`keep ${step.path}`)
  }
  fs.renameSync(stage, target)
}

/** A second name for the old file, so that the new one replaces it in one instant; where links are not to be had, it is moved away. */
function keepOld(target: string, keep: string): void {
  if (exists(keep)) return
  try {
    fs.linkSync(target, keep)
  } catch (error) {
    const code = errorCode(error)
    if (code === 'ENOENT') return
    if (code === undefined || !['EPERM', 'EACCES', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV'].includes(code)) throw error
    fs.renameSync(target, keep)
  }
}

/** Undoes every step that was done, last first. The first failure is thrown after all others were tried. */
export function undo(places: Places, steps: readonly Step[]): void {
  let failure: unknown
  for (const step of steps.toReversed()) {
    try {
      undoStep(places, step)
    } catch (error) {
      failure ??= diskFault(error, step.path)
    }
  }
  if (failure !== undefined) throw failure
}

function undoStep({ dataDir, runFolder }: Places, step: Step): void {
  const target = path.join(dataDir, step.path)
  createObserver(dataDir).requireFolders(step.path)
  if (step.op !== 'move') {
    const stage = path.join(runFolder, step.stage)
    if (!exists(stage)) renameIfThere(target, stage)
    if (step.op === 'tree' || !step.had) return
  }
  const keep = path.join(runFolder, step.keep)
  if (!exists(keep)) return
  fs.renameSync(keep, target)
  // Renaming one name of a file over another name of it does nothing at all.
  fs.rmSync(keep, { force: true })
}

function renameIfThere(from: string, to: string): void {
  try {
    fs.renameSync(from, to)
  } catch (error) {
    if (!isMissing(error)) throw error
  }
}

function exists(file: string): boolean {
  return fs.lstatSync(file, { throwIfNoEntry: false }) !== undefined
}

/** Removes folders that the publish left empty; one that is not empty, or not there, is no failure. */
export function removeEmptied(dataDir: string, emptied: readonly string[]): void {
  const observer = createObserver(dataDir)
  for (const folder of emptied) {
    if (isStandingFolder(folder) || observer.look(folder).kind !== 'folder') continue
    try {
      fs.rmdirSync(path.join(dataDir, folder))
    } catch (error) {
      const code = errorCode(error)
      if (isMissing(error) || code === 'ENOTEMPTY' || code === 'EEXIST' || code === 'EBUSY' || code === 'EACCES' || code === 'EPERM')
        continue
      throw diskFault(error, folder)
    }
  }
}

/** Removes a run's folder with whatever is in it; a failure only leaves rubbish that the next start sweeps. */
export function removeRun(runFolder: string): void {
  try {
    fs.rmSync(runFolder, { recursive: true, force: true })
  } catch (error) {
    if (error instanceof Fault) throw error
  }
}
