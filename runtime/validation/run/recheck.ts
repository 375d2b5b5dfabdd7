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
 * The report that `checkCollections` would return, or undefined if that has to be called. Its state replaces the kept one, even when a
 * later step of the caller fails.
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
  if (steps.some(({ resource, judged }) => judged !== nothingFound && !known.has(resource.folder))) {
    options.memory.judged = new Map(steps.flatMap(({ resource, judged }) => (judged === undefined ? [] : [[resource.folder, judged]])))
    return undefined
  }
  const sameNotes = steps.every(({ resource, judged }) => isDeepStrictEqual(judged?.notes, known.get(resource.folder)?.notes))
  for (const { resource, judged } of steps) if (judged !== undefined && known.has(resource.folder)) known.set(resource.folder, judged)
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
  for (const [folder, judged] of known) {
    if (!changedFolders.has(folder) && (judged.base === undefined || !changedFolders.has(judged.base))) continue
    const placed = resourceAt(folder)
    const base = judged.base === undefined ? undefined : (steps.get(judged.base) ?? remembered(judged.base, known))
    if (placed === undefined || (judged.base !== undefined && base === undefined)) return undefined
    steps.set(folder, { ...placed, base, isRepeated: judged.digest !== undefined, overridden: judged.overridden, judged: undefined })
  }
  for (const folder of changedFolders) {
    const placed = steps.has(folder) ? undefined : resourceAt(folder)
    if (placed !== undefined) steps.set(folder, { ...placed, base: undefined, isRepeated: false, overridden: 'nowhere', judged: undefined })
  }
  return [...steps.values()]
}

/** A resource that is only compared: its name, its collection's and its digest. */
function remembered(folder: string, known: ReadonlyMap<string, Checked>): CheckStep | undefined {
  const judged = known.get(folder)
  if (judged?.digest === undefined) return undefined
  const [name = '', module = '', type = ''] = folder.split('/')
  const collection: Collection = { name, manifest: undefined, resources: noResources, strays: [], skipped: [] }
  const resource: Resource = { key: '', module, type, folder, kind: 'named', manifest: { path: '' }, files: [] }
  return { collection, resource, base: undefined, isRepeated: true, overridden: judged.overridden, judged }
}

function isSame(some: readonly string[] | undefined, others: readonly string[] | undefined): boolean {
  return JSON.stringify(some) === JSON.stringify(others)
}
