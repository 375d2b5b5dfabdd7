/**
 * Defines the order in which an apply changes the disk, and how a failure is handled. One rule: a journal is removed only when the folder
 * and the manifest are both at the old commit or both at the new one, or when the manifest says that the folder must be verified. Any other
 * failure leaves the journal, and the next start resumes from it. Accesses the disk through `Effects` only, so that a test can let each
 * effect fail.
 */
import { Fault } from '../../platform/fault.ts'
import { type Boundary, carryOut, type Entries, undo } from './carry-out.ts'
import type { Step } from './steps.ts'

/**
 * What one apply does to the disk besides its steps. Each function throws faults of the disk, and may then have done part of its work.
 */
export type Effects = Entries & {
  /** Writes the journal; from then on the apply is finished or undone, even if the process ends. */
  writeJournal(): void
  /** Writes the changes and the state of the journal to the manifest, durably. */
  record(): void
  /** Removes the folders that the steps left empty. */
  removeEmptied(): void
  dropJournal(): void
  /** Removes the folder with the staged and the kept content. Never fails: the next start sweeps the rest. */
  removeRun(): Promise<void>
}

/**
 * Carries out an apply whose new content is staged. Awaits only the removal of the run's folder, at the end. Throws a fault of the disk; then
 * the folder is at the old commit, or the journal exists.
 */
export async function applySteps(effects: Effects, steps: readonly Step[], boundary: Boundary): Promise<void> {
  try {
    effects.writeJournal()
  } catch (error) {
    // The journal may exist although writing it failed; while it does, the run's folder is needed.
    effects.dropJournal()
    await effects.removeRun()
    throw error
  }
  boundary('journal')
  try {
    carryOut(effects, steps, false, boundary)
  } catch (error) {
    undoSteps(effects, steps, error)
    effects.dropJournal()
    await effects.removeRun()
    throw error
  }
  // From here on nothing is undone: a manifest that was not written completely may name the new commit nevertheless.
  effects.record()
  boundary('manifest')
  effects.removeEmptied()
  boundary('emptied')
  effects.dropJournal()
  boundary('journal dropped')
  await effects.removeRun()
  boundary('run removed')
}

/** Throws the first fault even if undoing fails, because it is the cause of the failed apply. */
function undoSteps(effects: Effects, steps: readonly Step[], cause: unknown): void {
  try {
    undo(effects, steps)
  } catch (error) {
    if (!(cause instanceof Fault)) throw cause
    throw new Fault(cause.reason, `${cause.message}; the folder contains files of two commits until the next attempt`, { cause: error })
  }
}

/** The manifest's state when recovery begins. `apply`: the id of the last apply that it records; null: none. */
export type Recorded = { apply: string | null; suspectReason: string | undefined }

/** How an interrupted apply ended. `suspect`: it is unknown what is in place, and every file must be verified by its content. */
export type Outcome = { kind: 'finished' } | { kind: 'undone' } | { kind: 'suspect'; why: string }

/** What recovery reads from the disk. Each function throws faults of the disk. */
export type Leftovers = {
  /** Whether the run's folder exists; without it the progress of the steps is unknown. */
  hasRun(): boolean
  /** A path with content other than what was staged for it; undefined: none. */
  misplaced(): string | undefined
  /** Whether every file that the apply was going to replace or delete is there as it was. */
  isUndone(): boolean
}

/**
 * Finishes an interrupted apply or, if that fails, undoes it. The caller drops the journal once the outcome is recorded. Throws a fault of
 * the disk if neither is possible; calling it again resumes.
 */
export function resumeSteps(
  effects: Omit<Effects, 'writeJournal'> & Leftovers,
  { steps, base, apply }: { steps: readonly Step[]; base: string | null; apply: string },
  recorded: Recorded,
  boundary: Boundary,
): Outcome {
  if (!effects.hasRun()) return suspect('the folder with the staged files of an interrupted sync is missing')
  const isRecorded = recorded.apply === apply
  const isOther = !isRecorded && recorded.apply !== base
  const unknown = recorded.suspectReason ?? (isOther ? 'the manifest was replaced after an interrupted sync began' : undefined)
  try {
    carryOut(effects, steps, true, boundary)
  } catch {
    // Files of the old commit under a manifest that names the new one would count as local changes.
    if (isRecorded) return suspect('an interrupted sync is in the manifest but could not be finished')
    undo(effects, steps)
    if (!effects.isUndone()) return suspect('an interrupted sync could be neither finished nor undone')
    return unknown === undefined ? { kind: 'undone' } : suspect(unknown)
  }
  const misplaced = effects.misplaced()
  if (misplaced !== undefined) return suspect(`an interrupted sync lost the content of "${misplaced}"`)
  if (unknown !== undefined) return suspect(unknown)
  effects.record()
  boundary('manifest')
  effects.removeEmptied()
  return { kind: 'finished' }
}

function suspect(why: string): Outcome {
  return { kind: 'suspect', why }
}
