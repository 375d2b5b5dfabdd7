/**
 * Refuses a plan that could be written but would delete too much, remove what the gateway needs to run, or overwrite local changes. A user
 * confirms each by an annotation. Pure.
 */
import { confirmDeletionsAnnotation, confirmOverwritesAnnotation } from '../../api/names.ts'
import { type CommitHash, foldName, parentOf } from '../../api/values.ts'
import type { Reason } from '../../platform/fault.ts'
import { firstBootSingletons, localSingletons, oneTimeType, singletonTypes } from '../../validation/model/resource-types.ts'
import { manifestName, modeManifest, projectManifest } from '../../validation/model/tree.ts'
import { collectionsFolder } from '../model/paths.ts'
import type { Aliases } from './path-collisions.ts'

/** Why a plan must not be carried out. `path`: only if a path itself is the problem. */
export type Problem = {
  reason: Extract<Reason, 'LocalChanges' | 'MappingConflict' | 'MassDeletion' | 'ModeRemoved' | 'PathTooLong' | 'SymbolicLink'>
  message: string
  path?: string
}

type Paths = { has(path: string): boolean }

/** The part of the plan's input that refusals depend on; see `PlanInput`. */
type Input = {
  puts: Paths
  owned: Paths & { size: number }
  removed: Paths
  aliases: Aliases
  withheld: ReadonlySet<string>
  maxDeletions: string | number
  commit: CommitHash
  confirmedDeletions: CommitHash | undefined
  mode: string | undefined
}

/** What the plan writes and deletes. */
type Planned = { puts: readonly { path: string }[]; deletes: readonly { path: string; why: 'gone' | 'foreign' }[] }

/** Below this many deletions a mistake is small, and a percentage of few files means little. */
const harmlessDeletions = 10

/** How many paths a problem names. */
const namedLosses = 5

/** Returns at most one problem of each kind, in the order MassDeletion, ModeRemoved, LocalChanges; none if the plan may be carried out. */
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
  // A gateway treats another spelling of a name as the same mode, and a singleton of core may have moved to external.
  const respelled = new Set([...aliases.files.values(), ...aliases.folders.map(({ from }) => from)])
  const isRespelled = (path: string): boolean => path !== '' && (respelled.has(path) || isRespelled(parentOf(path)))
  const isThere = (path: string): boolean => puts.has(path) || (owned.has(path) && !removed.has(path))
  const inExternal = (path: string): string => path.replace(/^config\/resources\/core\//i, 'config/resources/external/')
  const lost = losses(gone, (path) => isRespelled(path) || isThere(inExternal(path)), mode)
  if (lost.length === 0) return []
  const message =
    `the commit removes what the gateway needs to run: ${named(lost)}; if this is intended, ` +
    `confirm with the annotation ${confirmDeletionsAnnotation}: ${commit}`
  return [{ reason: 'ModeRemoved', message }]
}

/** With `drift: Hold` a commit waits as a whole: half of it would be an untested state. */
function lostChanges({ withheld, commit }: Input, { puts, deletes }: Planned): Problem[] {
  if (withheld.size === 0) return []
  const lost = [...puts, ...deletes].map(({ path }) => path).filter((path) => withheld.has(path))
  if (lost.length === 0) return []
  const message =
    `the commit would overwrite local changes on the gateway: ${named(lost.map((path) => `"${path}"`))}; capture and merge the changes, ` +
    `or discard them with the annotation ${confirmOverwritesAnnotation}: ${commit}, ` +
    'which is also needed if a merged file differs from the one on the gateway'
  return [{ reason: 'LocalChanges', message }]
}

function named(lost: readonly string[]): string {
  const more = lost.length > namedLosses ? ` and ${lost.length - namedLosses} more` : ''
  return `${lost.slice(0, namedLosses).join(', ')}${more}`
}

/**
 * `going`: the paths to be deleted; `staysOrComes`: whether a path will exist afterwards; `mode`: the gateway's deployment mode, `''` or
 * undefined for none. Returns the losses as parts of a sentence.
 */
function losses(going: readonly string[], staysOrComes: (path: string) => boolean, mode: string | undefined): string[] {
  const lost: string[] = []
  for (const path of going) {
    const what = lossOf(path, mode)
    if (what !== undefined && !staysOrComes(path)) lost.push(what)
  }
  return lost
}

function lossOf(path: string, mode: string | undefined): string | undefined {
  const below = path.startsWith(`${collectionsFolder}/`) ? path.slice(collectionsFolder.length + 1).split('/') : undefined
  if (below === undefined) {
    const [projects, name, file, ...rest] = path.split('/')
    return projects === 'projects' && file === projectManifest && rest.length === 0 ? `the project "${name}"` : undefined
  }
  const [collection = '', module, type, file, ...rest] = below
  if (below.length === 2 && module === modeManifest) {
    const isActive = mode !== undefined && foldName(mode) === foldName(collection)
    return isActive ? `its deployment mode "${collection}"` : undefined
  }
  if (foldName(collection) !== 'core' || file !== manifestName || rest.length > 0) return undefined
  const name = `${module}/${type}`
  return singletonTypes.has(name) && !dispensable.has(name) ? `the only ${name} of core` : undefined
}

/** Singletons that gateways create themselves, and that the validation rules advise to leave out of a repository. */
const dispensable: ReadonlySet<string> = new Set([...firstBootSingletons, ...localSingletons, oneTimeType])
