/**
 * What a killed process left: an unfinished publish is finished, or undone where it cannot be; staging leftovers are swept. Runs under
 * the lock, before anything else looks at the folder.
 */
import * as fs from 'node:fs'
import { Fault } from '../fault.ts'
import type { Log } from '../log.ts'
import { engineFolder } from '../gatewaysync/names.ts'
import { diskFault } from './disk.ts'
import { openEngineFolder } from './folders.ts'
import { dropJournal, type Journal, readJournal } from './journal.ts'
import type { Manifest } from './manifest.ts'
import { appendManifest } from './manifest-file.ts'
import { type Boundary, carryOut, type Places, removeEmptied, removeRun, undo } from './publish.ts'

/** Ends at exactly one commit and brings the manifest up to it. Throws what a publish throws when neither direction can be ended. */
export function recover(dataDir: string, manifest: Manifest, nowMs: number, log: Log, boundary: Boundary): void {
  const journal = readJournal(dataDir)
  if (journal !== undefined) {
    const places = { dataDir, run: `${engineFolder}/${journal.run}` }
    const commit = journal.state.commit ?? ''
    if (forward(places, journal, manifest, boundary)) log.info({ commit }, 'finished an interrupted publish')
    else log.warn({ commit }, 'undid an interrupted publish')
    boundary('recovered')
    dropJournal(dataDir)
    boundary('journal dropped')
  }
  sweep(dataDir, nowMs)
}

function forward(places: Places, journal: Journal, manifest: Manifest, boundary: Boundary): boolean {
  const recorded = manifest.state?.publish === journal.state.publish
  try {
    if (!recorded) carryOut(places, journal.steps, true, boundary)
  } catch {
    undo(places, journal.steps)
    return false
  }
  if (!recorded) appendManifest(places.dataDir, manifest, journal.changes, journal.state)
  boundary('manifest')
  removeEmptied(places.dataDir, journal.emptied)
  return true
}

/** Removes what no journal speaks of: staging of a run that never came to publish, temporary files of ours. */
function sweep(dataDir: string, nowMs: number): void {
  try {
    using engine = openEngineFolder(dataDir)
    for (const name of fs.readdirSync(engine.folder())) {
      if (/^run-[0-9a-f-]+$/.test(name)) removeRun({ dataDir, run: `${engineFolder}/${name}` })
      else if (/^(?:journal|manifest|clean)\.tmp$/.test(name)) fs.rmSync(engine.at(name), { force: true })
      else if (/^lock\.[0-9a-f-]{36}$/.test(name)) sweepOldLock(engine.at(name), nowMs)
    }
  } catch (error) {
    throw error instanceof Fault ? error : diskFault(error, '.cluster-sync')
  }
}

/** Another process may be about to take the lock: only what is minutes old is left over. */
function sweepOldLock(file: string, nowMs: number): void {
  const stat = fs.lstatSync(file, { throwIfNoEntry: false })
  if (stat !== undefined && nowMs - stat.mtimeMs > 600_000) fs.rmSync(file, { force: true })
}
