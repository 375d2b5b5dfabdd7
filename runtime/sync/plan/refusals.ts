/**
 * What keeps a plan from being carried out although every file could be written: too many deletions, the loss of what the gateway runs with,
 * and of changes that were made on it. Each is a question to a person, who confirms by an annotation. Pure.
 */
import { confirmDeletionsAnnotation, confirmOverwritesAnnotation } from '../../gatewaysync/names.ts'
import { type CommitHash, parentOf } from '../../gatewaysync/values.ts'
import type { Reason } from '../../fault.ts'
import type { Aliases } from './aliases.ts'
import { losses } from './danger.ts'

/** Why a plan must not be carried out. `path`: only if a path itself is the problem. */
export type Problem = {
  reason: Extract<Reason, 'LocalChanges' | 'MappingConflict' | 'MassDeletion' | 'ModeRemoved' | 'PathTooLong' | 'SymbolicLink'>
  message: string
  path?: string
}

type Paths = { has(path: string): boolean }

/** What a plan is made from, as far as refusals look at it; `PlanInput` says what each means. */
type Input = {
  puts: Paths
  owned: Paths & { size: number }
  removed: Paths
  aliases: Aliases
  held: ReadonlySet<string>
  maxDeletions: string | number
  commit: CommitHash
  confirmedDeletions: CommitHash | undefined
  mode: string | undefined
}

/** What the plan writes and deletes. */
type Planned = { puts: readonly { path: string }[]; deletes: readonly { path: string; why: 'gone' | 'foreign' }[] }

/** Below this many deletions a mistake is small, and a percentage of few files says little. */
const harmlessDeletions = 10

/** How many paths a problem names. */
const namedLosses = 5

/** At most one problem of each kind, in the order MassDeletion, ModeRemoved, LocalChanges; none where the plan may be carried out. */
export function refusals(input: Input, planned: Planned): Problem[] {
  return [...tooManyDeletions(input, planned), ...lostParts(input, planned), ...lostChanges(input, planned)]
}

function tooManyDeletions({ maxDeletions, owned, commit, confirmedDeletions }: Input, { deletes }: Planned): Problem[] {
  if (deletes.length <= harmlessDeletions || confirmedDeletions === commit) return []
  const limit = typeof maxDeletions === 'number' ? maxDeletions : Math.floor((Number.parseInt(maxDeletions, 10) * owned.size) / 100)
  if (deletes.length <= limit) return []
  const message =
    `${deletes.length} of ${owned.size} files would be deleted, more than maxDeletions ${maxDeletions} permits; ` +
    `confirm with the annotation ${confirmDeletionsAnnotation}: ${commit}`
  return [{ reason: 'MassDeletion', message }]
}

/** Losing a mode, project or singleton must be confirmed: files that are gone from git may have been renamed, or lost in a merge. */
function lostParts({ puts, owned, removed, aliases, mode, commit, confirmedDeletions }: Input, { deletes }: Planned): Problem[] {
  if (confirmedDeletions === commit) return []
  const gone = deletes.filter(({ why }) => why === 'gone').map(({ path }) => path)
  // A gateway takes another spelling of a name for the same mode, and a singleton of core may have moved to external.
  const respelled = new Set([...aliases.files.values(), ...aliases.folders.map(({ from }) => from)])
  const isRespelled = (path: string): boolean => path !== '' && (respelled.has(path) || isRespelled(parentOf(path)))
  const isThere = (path: string): boolean => puts.has(path) || (owned.has(path) && !removed.has(path))
  const inExternal = (path: string): string => path.replace(/^config\/resources\/core\//i, 'config/resources/external/')
  const lost = losses(gone, (path) => isRespelled(path) || isThere(inExternal(path)), mode)
  if (lost.length === 0) return []
  const message =
    `the gateway would lose what it runs with: ${named(lost)}; where that is meant, ` +
    `confirm with the annotation ${confirmDeletionsAnnotation}: ${commit}`
  return [{ reason: 'ModeRemoved', message }]
}

/** With `drift: hold` a commit waits as a whole: half of it would be a state that nobody has checked. */
function lostChanges({ held, commit }: Input, { puts, deletes }: Planned): Problem[] {
  if (held.size === 0) return []
  const lost = [...puts, ...deletes].map(({ path }) => path).filter((path) => held.has(path))
  if (lost.length === 0) return []
  const message =
    `the commit would undo what was changed on the gateway: ${named(lost.map((path) => `"${path}"`))}; capture it and merge that, ` +
    `or give it up with the annotation ${confirmOverwritesAnnotation}: ${commit}`
  return [{ reason: 'LocalChanges', message }]
}

function named(lost: readonly string[]): string {
  const more = lost.length > namedLosses ? ` and ${lost.length - namedLosses} more` : ''
  return `${lost.slice(0, namedLosses).join(', ')}${more}`
}
