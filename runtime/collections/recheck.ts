/**
 * A root of which only contents changed: what its names tell is as before, and of its resources only those are read that changed or
 * override a changed one.
 */
import { type CheckReport, type CollectorOptions, createCollector } from './collector.ts'
import { type Placed, readResources } from './contents.ts'
import { foldName } from './inheritance.ts'
import type { Entry, Listing } from './listing.ts'
import { judge } from './judge.ts'
import type { Judged, Memory, Step } from './recall.ts'
import { buildTree, type Collection, type Resource } from './tree.ts'

type Options = CollectorOptions & { root: string; memory: Memory }

/**
 * The report that `checkCollections` would give, or undefined where it has to be asked. What it learned takes the place of what was
 * remembered, also when a later step of the caller fails.
 */
export async function recheckCollections(listing: Listing, options: Options, signal: AbortSignal): Promise<CheckReport | undefined> {
  const { learned, filesBelow, touched } = options.memory
  if (learned?.shape === undefined || filesBelow === undefined) return undefined
  const { known, shape } = learned
  if (!isSame(shape.modesInUse, options.modesInUse)) return undefined
  const steps = stepsOf(known, touched, filesBelow, options.root)
  if (steps === undefined) return undefined
  const overriddenEverywhere = new Set(steps.filter(({ everywhere }) => everywhere).map(({ resource }) => foldName(resource.key)))
  let index = 0
  await readResources(
    listing,
    steps,
    (content) => {
      const step = steps[index]
      index += 1
      if (step !== undefined) step.judged = judge(content, step, { root: options.root, overriddenEverywhere })
    },
    signal,
  )
  for (const { resource, judged } of steps) if (judged !== undefined) known.set(resource.folder, judged)
  const collector = createCollector(options, shape.family)
  for (const [rule, found] of shape.found) collector.add(rule, found)
  for (const { found } of known.values()) for (const [rule, each] of found) collector.add(rule, each)
  return collector.report(shape.size)
}

/** The resources to read, those that are overridden first; undefined where one of them cannot be told. */
function stepsOf(
  known: ReadonlyMap<string, Judged>,
  touched: ReadonlySet<string>,
  filesBelow: (folder: string) => readonly Entry[],
  root: string,
): Step[] | undefined {
  const steps = new Map<string, Step>()
  for (const [folder, judged] of known) {
    if (!touched.has(folder) && (judged.base === undefined || !touched.has(judged.base))) continue
    const placed = place(folder, filesBelow(folder), root)
    const base = judged.base === undefined ? undefined : (steps.get(judged.base) ?? remembered(judged.base, known))
    if (placed === undefined || (judged.base !== undefined && base === undefined)) return undefined
    steps.set(folder, { ...placed, base, isRepeated: judged.digest !== undefined, everywhere: judged.everywhere, judged: undefined })
  }
  return [...steps.values()]
}

function place(folder: string, files: readonly Entry[], root: string): Placed | undefined {
  for (const collection of buildTree(files, root).collections) {
    const resource = collection.resources.find((each) => each.folder === folder)
    if (resource !== undefined) return { collection, resource }
  }
  return undefined
}

/** A resource that is only compared with: its name, its collection's and its digest. */
function remembered(folder: string, known: ReadonlyMap<string, Judged>): Step | undefined {
  const judged = known.get(folder)
  if (judged?.digest === undefined) return undefined
  const [name = '', module = '', type = ''] = folder.split('/')
  const collection: Collection = { name, manifest: undefined, resources: [], strays: [], skipped: [] }
  const resource: Resource = { key: '', module, type, folder, kind: 'named', manifest: { path: '' }, files: [] }
  return { collection, resource, base: undefined, isRepeated: true, everywhere: judged.everywhere, judged }
}

function isSame(some: readonly string[] | undefined, others: readonly string[] | undefined): boolean {
  return JSON.stringify(some) === JSON.stringify(others)
}
