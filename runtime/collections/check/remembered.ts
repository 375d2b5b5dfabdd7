/**
 * What was found in each resource, remembered from one commit to the next, so that a change costs what it touches. A finding of a
 * resource follows from its own files, from the resource that it overrides, and from whether every mode overrides it: where all three
 * are as before, so is the finding. Pure.
 */
import { foldName } from '../../gatewaysync/values.ts'
import type { Placed } from './read-resources.ts'
import type { Digest, Found, TreeFacts } from '../rules/input.ts'
import { type Family, lineage } from '../model/inheritance.ts'
import { createKeyTable } from '../rules/key-table.ts'
import type { RuleId } from '../rules/rules.ts'
import { noResources, type Resource } from '../model/resources.ts'
import type { Collection } from '../model/tree.ts'

/** What one resource gave. */
export type Judged = {
  found: readonly (readonly [RuleId, Found])[]
  /** Known where the resource exists in several collections. */
  digest: Digest | undefined
  /** Folder of the resource that it overrides. */
  base: string | undefined
  everywhere: boolean
}

export type Size = { resources: number; collections: number }

/** Nothing was found, and nothing depends on it. */
export const unremarkable: Judged = { found: [], digest: undefined, base: undefined, everywhere: false }

/** What one check learned of a root. */
export type Learned = {
  /**
   * Resources by their folder, relative to the root, in the order of judgement. Nearly all are unremarkable and not held here: such a one is
   * known where nothing made it a resource since.
   */
  known: Map<string, Judged>
  /** What follows from names and the manifests of collections; undefined where there is too much of it, or of the resources'. */
  shape: Shape | undefined
}

export type Shape = {
  found: readonly (readonly [RuleId, Found])[]
  /** Without the resources of the collections. */
  family: Family
  modesInUse: readonly string[] | undefined
  size: Size
}

/** A root from one commit to the next. */
export type Memory = {
  learned: Learned | undefined
  /** Folders in which a file was added, changed or removed since, with all folders above them; relative to the root. */
  touched: ReadonlySet<string>
  /** Those of them that hold a manifest which was added, changed or removed: what is below may have become a resource. */
  remade: ReadonlySet<string>
  /** Known where no file was added or removed since and no manifest of a collection changed: the resource in a folder of the root. */
  resourceAt: ((folder: string) => Placed | undefined) | undefined
  /** What was read and judged of this commit already, by folder. */
  judged?: ReadonlyMap<string, Judged>
}

/** Each is some 200 bytes. */
export const rememberedFindings = 5_000

/** A resource in the order of judgement. */
export type Step = Placed & {
  /** What it overrides: a step before. */
  base: Step | undefined
  /** Whether a resource of its name exists in several collections. */
  isRepeated: boolean
  everywhere: boolean
  /** What is known of it; undefined: it has to be read. */
  judged: Judged | undefined
}

/**
 * Puts resources in order, those that are overridden first, and says which have to be read. Those that are known to be unremarkable are
 * left out.
 */
export function* planSteps(facts: TreeFacts, memory: Memory | undefined): Generator<Step> {
  const collections = inOrderOfJudgement(facts)
  const compared = comparedSteps(facts, collections)
  for (const step of compared.values()) step.judged = remembered(step.resource, step.base, step.everywhere, memory)
  // What is read is compared with its base, which must be known or read too; bases come before.
  for (const { judged, base } of [...compared.values()].toReversed()) {
    if (judged === undefined && base?.judged !== undefined && base.judged.digest === undefined) base.judged = undefined
  }
  let index = 0
  for (const { collection } of collections) {
    for (const resource of collection.resources) {
      const step = compared.get(index)
      index += 1
      const judged = step === undefined ? remembered(resource, undefined, false, memory) : step.judged
      // Nearly all are like this, and nothing is made for them.
      if (judged === unremarkable) continue
      yield step ?? { ...stepOf(collection, resource), judged }
    }
  }
}

function stepOf(collection: Collection, resource: Resource): Step {
  return { collection, resource, base: undefined, isRepeated: false, everywhere: false, judged: undefined }
}

function remembered({ folder }: Resource, base: Step | undefined, everywhere: boolean, memory: Memory | undefined): Judged | undefined {
  if (memory?.learned === undefined) return undefined
  const { learned: earlier, touched, remade } = memory
  const now = memory.judged?.get(folder)
  if (now !== undefined) return now
  if (touched.has(folder) || (base !== undefined && touched.has(base.resource.folder))) return undefined
  const judged = earlier.known.get(folder) ?? (isBelowAny(folder, remade) ? undefined : unremarkable)
  return judged?.base === base?.resource.folder && judged?.everywhere === everywhere ? judged : undefined
}

function isBelowAny(folder: string, folders: ReadonlySet<string>): boolean {
  if (folders.size === 0) return false
  for (let end = folder.lastIndexOf('/'); end > 0; end = folder.lastIndexOf('/', end - 1))
    if (folders.has(folder.slice(0, end))) return true
  return false
}

/** Remembers what steps gave; where that is too much, nothing. */
export function createLearner(isWanted: boolean): { known(): Map<string, Judged> | undefined; learn(step: Step): void } {
  let known = isWanted ? new Map<string, Judged>() : undefined
  let left = rememberedFindings
  return {
    known: () => known,
    learn(step) {
      const { judged } = step
      if (judged === undefined) return
      left -= judged.found.length
      if (left < 0) known = undefined
      if (judged !== unremarkable) known?.set(step.resource.folder, judged)
      // Others may still be compared with it.
      if (known === undefined && judged.found.length > 0) step.judged = { ...judged, found: [] }
    },
  }
}

export function learned(
  { family, modesInUse }: TreeFacts,
  inTree: Shape['found'],
  inResources: Map<string, Judged> | undefined,
  size: Size,
): Learned | undefined {
  if (inResources === undefined) return undefined
  const shape = { found: inTree, family: withoutResources(family), modesInUse, size }
  return { known: inResources, shape: inTree.length > rememberedFindings ? undefined : shape }
}

function withoutResources({ byName }: Family): Family {
  const bare = [...byName].map(([folded, { collection, mode }]) => {
    const { name, manifest } = collection
    const empty: Collection = { name, manifest, resources: noResources, strays: [], skipped: [] }
    return [folded, { collection: empty, mode }] as const
  })
  return { byName: new Map(bare) }
}

type Ordered = readonly { collection: Collection; ancestors: readonly string[] }[]

/** Parents before their children, so that an override finds what it is compared with. */
function inOrderOfJudgement({ family, tree }: TreeFacts): Ordered {
  return tree.collections
    .map((collection) => ({ collection, ancestors: lineage(family, collection.name).names.slice(1) }))
    .toSorted((a, b) => a.ancestors.length - b.ancestors.length)
}

/** The steps of resources that exist in several collections, by their place in the order. */
function comparedSteps(facts: TreeFacts, collections: Ordered): Map<number, Step> {
  const steps = new Map<number, Step>()
  const repeated = repeatedKeys(collections)
  if (repeated.size === 0) return steps
  let index = -1
  for (const { collection, ancestors } of collections) {
    const name = foldName(collection.name)
    for (const resource of collection.resources) {
      index += 1
      const key = foldName(resource.key)
      const seen = repeated.get(key)
      if (seen === undefined) continue
      const holder = name === 'local' ? undefined : ancestors.find((ancestor) => seen.has(ancestor))
      const base = holder === undefined ? undefined : seen.get(holder)
      const everywhere = name === 'core' && facts.overriddenEverywhere.has(key)
      const step: Step = { ...stepOf(collection, resource), base, isRepeated: true, everywhere }
      seen.set(name, step)
      steps.set(index, step)
    }
  }
  return steps
}

/** The keys that occur more than once, each with room for the step of each collection that holds it. */
function repeatedKeys(collections: Ordered): Map<string, Map<string, Step>> {
  const firsts: number[] = []
  let count = 0
  for (const { collection } of collections) {
    firsts.push(count)
    count += collection.resources.length
  }
  const seen = createKeyTable(count, (at) => {
    const number = firsts.findLastIndex((first) => first <= at)
    return foldName(collections[number]?.collection.resources.at(at - (firsts[number] ?? 0)).key ?? '')
  })
  const repeated = new Map<string, Map<string, Step>>()
  let index = 0
  for (const { collection } of collections) {
    for (const resource of collection.resources) {
      const key = foldName(resource.key)
      if (seen.put(key, index) >= 0 && !repeated.has(key)) repeated.set(key, new Map())
      index += 1
    }
  }
  return repeated
}
