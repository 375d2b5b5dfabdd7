/**
 * What was found in each resource, remembered from one commit to the next, so that a change costs what it touches. A finding of a
 * resource follows from its own files, from the resource that it overrides, from which modes override it, and from whether there are any:
 * where all four are as before, so is the finding. Pure.
 */
import { foldName } from '../../gatewaysync/values.ts'
import type { Placed } from './read-resources.ts'
import type { Digest, Found, Overridden, ResourceContext, TreeFacts } from '../rules/input.ts'
import { type Family, isUserMode, lineage, userModes } from '../model/inheritance.ts'
import { createKeyTable } from '../rules/key-table.ts'
import type { RuleId } from '../rules/rules.ts'
import { noResources } from '../model/resources.ts'
import type { Collection } from '../model/tree.ts'

/** What one resource gave. */
export type Judged = {
  found: readonly (readonly [RuleId, Found])[]
  /** Known where the resource exists in several collections. */
  digest: Digest | undefined
  /** Folder of the resource that it overrides. */
  base: string | undefined
  overridden: Overridden
}

export type Size = { resources: number; collections: number }

/** Nothing was found, and nothing depends on it. */
export const unremarkable: Judged = { found: [], digest: undefined, base: undefined, overridden: 'nowhere' }

/** What one check learned of a root. */
export type Learned = {
  /**
   * Resources by their folder, relative to the root, in the order of judgement. Nearly all are unremarkable and not held here: such a one is
   * known where nothing made it a resource since.
   */
  known: Map<string, Judged>
  /** What all of it was judged with. */
  context: ResourceContext
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
  overridden: Overridden
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
  const known = isSameContext(memory?.learned?.context, facts) ? memory : undefined
  for (const step of compared.values()) step.judged = remembered(step, known)
  let index = 0
  for (const { collection } of collections) {
    for (const resource of collection.resources) {
      const step = compared.get(index)
      index += 1
      const judged = step === undefined ? remembered({ resource, ...alone }, known) : step.judged
      // Nearly all are like this, and nothing is made for them.
      if (judged === unremarkable) continue
      yield step ?? { collection, resource, ...alone, judged }
    }
  }
}

function isSameContext(before: ResourceContext | undefined, now: ResourceContext): boolean {
  return before?.root === now.root && before.hasModes === now.hasModes && before.isFragment === now.isFragment
}

/** A resource that exists in one collection only. */
const alone = { base: undefined, isRepeated: false, overridden: 'nowhere' } as const

function remembered(
  { resource: { folder }, base, isRepeated, overridden }: Pick<Step, 'resource' | 'base' | 'isRepeated' | 'overridden'>,
  memory: Memory | undefined,
): Judged | undefined {
  if (memory?.learned === undefined) return undefined
  const { learned: earlier, touched, remade } = memory
  const now = memory.judged?.get(folder)
  if (now !== undefined) return now
  if (touched.has(folder) || (base !== undefined && touched.has(base.resource.folder))) return undefined
  const judged = earlier.known.get(folder) ?? (isBelowAny(folder, remade) ? undefined : unremarkable)
  const isSame = judged?.base === base?.resource.folder && judged?.overridden === overridden && (judged.digest !== undefined) === isRepeated
  return isSame ? judged : undefined
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
  { root, family, modesInUse, hasModes, isFragment }: TreeFacts,
  inTree: Shape['found'],
  inResources: Map<string, Judged> | undefined,
  size: Size,
): Learned | undefined {
  if (inResources === undefined) return undefined
  const shape = { found: inTree, family: withoutResources(family), modesInUse, size }
  return { known: inResources, context: { root, hasModes, isFragment }, shape: inTree.length > rememberedFindings ? undefined : shape }
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

/** What is known of a key that occurs more than once: the collections that hold it, and the step of each that was met. */
type Repeated = { holders: Set<string>; steps: Map<string, Step> }

/** The steps of resources that exist in several collections, by their place in the order. */
function comparedSteps({ family }: TreeFacts, collections: Ordered): Map<number, Step> {
  const steps = new Map<number, Step>()
  const repeated = repeatedKeys(collections)
  if (repeated.size === 0) return steps
  const modes = userModes(family).map((mode) => lineage(family, mode).names.filter(isUserMode))
  let index = -1
  for (const { collection, ancestors } of collections) {
    const name = foldName(collection.name)
    for (const resource of collection.resources) {
      index += 1
      const seen = repeated.get(foldName(resource.key))
      if (seen === undefined) continue
      const holder = name === 'local' ? undefined : ancestors.find((ancestor) => seen.steps.has(ancestor))
      const base = holder === undefined ? undefined : seen.steps.get(holder)
      const overridden = name === 'core' ? overriddenBy(modes, seen.holders) : 'nowhere'
      const step: Step = { collection, resource, base, isRepeated: true, overridden, judged: undefined }
      seen.steps.set(name, step)
      steps.set(index, step)
    }
  }
  return steps
}

/** `modes` are the deployment modes, each with the modes that it inherits from. */
function overriddenBy(modes: readonly (readonly string[])[], holders: ReadonlySet<string>): Overridden {
  const count = modes.filter((names) => names.some((name) => holders.has(name))).length
  return count === 0 ? 'nowhere' : count === modes.length ? 'everywhere' : 'somewhere'
}

/** The keys that occur more than once. */
function repeatedKeys(collections: Ordered): Map<string, Repeated> {
  const firsts: number[] = []
  let count = 0
  for (const { collection } of collections) {
    firsts.push(count)
    count += collection.resources.length
  }
  const numberOf = (at: number): number => firsts.findLastIndex((first) => first <= at)
  const nameOf = (number: number): string => foldName(collections[number]?.collection.name ?? '')
  const seen = createKeyTable(count, (at) => {
    const number = numberOf(at)
    return foldName(collections[number]?.collection.resources.at(at - (firsts[number] ?? 0)).key ?? '')
  })
  const repeated = new Map<string, Repeated>()
  let index = 0
  for (const [number, { collection }] of collections.entries()) {
    for (const resource of collection.resources) {
      const key = foldName(resource.key)
      const before = seen.put(key, index)
      index += 1
      if (before < 0) continue
      const entry = repeated.get(key) ?? { holders: new Set([nameOf(numberOf(before))]), steps: new Map<string, Step>() }
      entry.holders.add(nameOf(number))
      repeated.set(key, entry)
    }
  }
  return repeated
}
