/**
 * Rechecks a root with changed contents only: the facts from its names stay the same, and only resources are read that changed or override
 * a changed one.
 */
import { isDeepStrictEqual } from 'node:util'
import { type CheckReport, type CollectorOptions, createCollector } from '../rules/findings.ts'
import type { LocatedResource } from './read-resources.ts'
import type { Listing } from '../model/listing.ts'
import { addCrossFindings } from './check-root.ts'
import { type Checked, type Previous, type CheckStep, nothingFound } from './incremental-cache.ts'
import { noResources, type Resource } from '../model/resources.ts'
import type { Collection } from '../model/tree.ts'
import { checkSteps } from './check-resource.ts'

type Options = CollectorOptions & { root: string; templated?: boolean | undefined; memory: Previous }

/**
 * The report that `checkCollections` would return, or undefined if that must be called. Its state replaces the kept one, even when a later
 * step of the caller fails.
 */
export async function recheckCollections(listing: Listing, options: Options, signal: AbortSignal): Promise<CheckReport | undefined> {
  const { learned, resourceAt, changedFolders } = options.memory
  if (learned?.treeFindings === undefined || resourceAt === undefined) return undefined
  const { known, treeFindings } = learned
  if (!isSame(treeFindings.modesInUse, options.modesInUse)) return undefined
  const steps = options.templated === true ? [] : stepsOf(known, changedFolders, resourceAt)
  if (steps === undefined) return undefined
  await checkSteps(listing, steps, learned.context, signal)
  // A resource that newly has findings needs its place in the order, which only the whole tree gives.
  if (steps.some(({ resource, checked }) => checked !== nothingFound && !known.has(resource.folder))) {
    options.memory.checked = new Map(steps.flatMap(({ resource, checked }) => (checked === undefined ? [] : [[resource.folder, checked]])))
    return undefined
  }
  const sameNotes = steps.every(({ resource, checked }) => isDeepStrictEqual(checked?.notes, known.get(resource.folder)?.notes))
  for (const { resource, checked } of steps) if (checked !== undefined && known.has(resource.folder)) known.set(resource.folder, checked)
  const collector = createCollector(options, treeFindings.family)
  for (const [rule, found] of treeFindings.found) collector.add(rule, found)
  for (const { found } of known.values()) for (const [rule, each] of found) collector.add(rule, each)
  // Most changes do not affect other resources.
  if (sameNotes && treeFindings.crossFound !== undefined) for (const each of treeFindings.crossFound) collector.add(...each)
  else treeFindings.crossFound = addCrossFindings(collector, treeFindings.cross, known)
  return collector.report(treeFindings.size)
}

/** The resources to read, overridden ones first; undefined if one of them is unknown. */
function stepsOf(
  known: ReadonlyMap<string, Checked>,
  changedFolders: ReadonlySet<string>,
  resourceAt: (folder: string) => LocatedResource | undefined,
): CheckStep[] | undefined {
  const steps = new Map<string, CheckStep>()
  for (const [folder, checked] of known) {
    if (!changedFolders.has(folder) && (checked.base === undefined || !changedFolders.has(checked.base))) continue
    const placed = resourceAt(folder)
    const base = checked.base === undefined ? undefined : (steps.get(checked.base) ?? remembered(checked.base, known))
    if (placed === undefined || (checked.base !== undefined && base === undefined)) return undefined
    steps.set(folder, { ...placed, base, isRepeated: checked.digest !== undefined, overridden: checked.overridden, checked: undefined })
  }
  for (const folder of changedFolders) {
    const placed = steps.has(folder) ? undefined : resourceAt(folder)
    if (placed !== undefined)
      steps.set(folder, { ...placed, base: undefined, isRepeated: false, overridden: 'nowhere', checked: undefined })
  }
  return [...steps.values()]
}

/** A resource that is only compared: its name, its collection's and its digest. */
function remembered(folder: string, known: ReadonlyMap<string, Checked>): CheckStep | undefined {
  const checked = known.get(folder)
  if (checked?.digest === undefined) return undefined
  const [name = '', module = '', type = ''] = folder.split('/')
  const collection: Collection = { name, manifest: undefined, resources: noResources, strays: [], skipped: [] }
  const resource: Resource = { key: '', module, type, folder, kind: 'named', manifest: { path: '' }, files: [] }
  return { collection, resource, base: undefined, isRepeated: true, overridden: checked.overridden, checked }
}

function isSame(some: readonly string[] | undefined, others: readonly string[] | undefined): boolean {
  return JSON.stringify(some) === JSON.stringify(others)
}
