/**
 * Cleans up after a killed process: an unfinished publish is finished or, if it cannot be, undone; staging leftovers are swept. Runs under the
 * lock, before anything else looks at the folder. When the remains do not tell what is in place, that is a doubt: the next cycle verifies
 * every file by its content, and until then no commit counts as being there.
 */
import * as fs from 'node:fs'
import { Fault } from '../../fault.ts'
import { engineFolder } from '../../gatewaysync/names.ts'
import type { Log } from '../../log.ts'
import { diskFault } from '../disk/disk.ts'
import { openEngineFolder } from '../disk/folders.ts'
import { dropJournal, type Journal, readJournal } from './journal.ts'
import type { FileStat, Manifest, ManifestChange } from '../model/manifest.ts'
import { appendManifest, type Doubt, recordDoubt } from '../disk/manifest-file.ts'
import { createObserver } from '../plan/observe.ts'
import { type Boundary, carryOut, hasRun, type Places, removeEmptied, removeRun, undo } from './carry-out.ts'

/** Ends at exactly one commit, or in a doubt, and updates the manifest. Throws what a publish throws when neither can be reached. */
export function recover(dataDir: string, manifest: Manifest, nowMs: number, log: Log, boundary: Boundary): void {
  const left = findJournal(dataDir)
  if (left !== undefined) {
    const outcome: Outcome = left instanceof Fault ? unreadable(left, manifest) : end(dataDir, left, manifest, boundary)
    const commit = left instanceof Fault ? '' : (left.state.commit ?? '')
    if (outcome.kind === 'finished') log.info({ commit }, 'finished an interrupted publish')
    else if (outcome.kind === 'undone') log.warn({ commit }, 'undid an interrupted publish')
    else recordDoubt(dataDir, manifest, outcome)
    boundary('recovered')
    dropJournal(dataDir)
    boundary('journal dropped')
  }
  if (manifest.doubt !== undefined)
    log.warn({ message: manifest.doubt }, 'every file is verified, for what is known of them cannot be believed')
  sweep(dataDir, nowMs)
}

/** The journal; for a damaged one the fault, as a value. Every other failure to read it is thrown. */
function findJournal(dataDir: string): Journal | Fault | undefined {
  try {
    return readJournal(dataDir)
  } catch (error) {
    if (error instanceof Fault && error.reason === 'StateUnreadable') return error
    throw error
  }
}

type Outcome = { kind: 'finished' } | { kind: 'undone' } | ({ kind: 'doubt' } & Doubt)

function unreadable({ message }: Fault, { state }: Manifest): Outcome {
  return { kind: 'doubt', why: message, changes: [], state }
}

function end(dataDir: string, journal: Journal, manifest: Manifest, boundary: Boundary): Outcome {
  const places = { dataDir, run: `${engineFolder}/${journal.run}` }
  const { state, changes } = journal
  if (manifest.doubt === undefined && manifest.state?.publish === state.publish) {
    boundary('manifest')
    removeEmptied(dataDir, journal.emptied)
    return { kind: 'finished' }
  }
  const doubt = (why: string): Outcome => ({ kind: 'doubt', why, changes: stillOwned(dataDir, [...changes]), state })
  if (!hasRun(places)) return doubt('an interrupted publish lost the folder with its content')
  try {
    carryOut(places, journal.steps, true, boundary)
  } catch {
    undo(places, journal.steps)
    return isUndone(dataDir, journal) ? { kind: 'undone' } : doubt('an interrupted publish could be neither finished nor undone')
  }
  const strange = missingAfter(places, journal)
  if (strange !== undefined) return doubt(`an interrupted publish lost the content of "${strange}"`)
  if (manifest.doubt !== undefined || (manifest.state?.publish ?? null) !== journal.base) {
    return doubt(manifest.doubt ?? 'the manifest is not the one from which an interrupted publish began')
  }
  appendManifest(dataDir, manifest, changes, state)
  boundary('manifest')
  removeEmptied(dataDir, journal.emptied)
  return { kind: 'finished' }
}

/**
 * A file that the steps should have put in place and that is not the one that was staged. A step counts as done when its staged file is gone,
 * so a staged file that was lost would otherwise go unnoticed.
 */
function missingAfter({ dataDir }: Places, { steps, changes }: Journal): string | undefined {
  const observer = createObserver(dataDir)
  const files = new Set(steps.flatMap((step) => (step.op === 'put' ? [step.path] : [])))
  const trees = steps.flatMap((step) => (step.op === 'tree' ? [`${step.path}/`] : []))
  const wasPut = (path: string): boolean => files.has(path) || trees.some((tree) => path.startsWith(tree))
  return Iterator.from(changes).find(({ path, owned }) => {
    if (owned === undefined || !wasPut(path)) return false
    const seen = observer.look(path)
    return seen.kind !== 'file' || !isStaged(seen.stat, owned.stat)
  })?.path
}

/** A rename changes neither inode nor time. One may differ: on a volume without stable inodes, or after a write by the gateway. */
function isStaged(seen: FileStat, staged: FileStat): boolean {
  return seen.ino === staged.ino || (seen.size === staged.size && seen.mtimeMs === staged.mtimeMs)
}

/** Whether every file that the publish was going to replace is there again. */
function isUndone(dataDir: string, { steps }: Journal): boolean {
  const observer = createObserver(dataDir)
  return steps.every((step) => step.op !== 'put' || !step.had || observer.look(step.path).kind === 'file')
}

/** The journal's changes, except that a file which was to be deleted and still exists stays ours. */
function stillOwned(dataDir: string, changes: readonly ManifestChange[]): ManifestChange[] {
  const observer = createObserver(dataDir)
  return changes.filter(({ path, owned }) => owned !== undefined || observer.look(path).kind !== 'file')
}

/** Removes what no journal names: staged files of runs that were never published, and our temporary files. */
function sweep(dataDir: string, nowMs: number): void {
  try {
    using engine = openEngineFolder(dataDir)
    for (const name of fs.readdirSync(engine.folder())) {
      if (/^run-[0-9a-f-]+$/.test(name)) removeRun({ dataDir, run: `${engineFolder}/${name}` })
      else if (/^(?:journal|manifest|clean|was-synced)\.tmp$/.test(name)) fs.rmSync(engine.at(name), { force: true })
      else if (/^lock\.[0-9a-f-]{36}$/.test(name)) sweepOldLock(engine.at(name), nowMs)
    }
  } catch (error) {
    throw error instanceof Fault ? error : diskFault(error, engineFolder)
  }
}

/** Another process may be about to take the lock, so only files that are minutes old count as leftovers. */
function sweepOldLock(file: string, nowMs: number): void {
  const stat = fs.lstatSync(file, { throwIfNoEntry: false })
  if (stat !== undefined && nowMs - stat.mtimeMs > 600_000) fs.rmSync(file, { force: true })
}
