/**
 * What was found in each resource, remembered from one commit to the next, so that a change costs what it touches. A finding of a
 * resource follows from its own files, from the resource that it overrides, and from whether every mode overrides it: where all three
 * are as before, so is the finding. Pure.
 */
import type { Placed } from './contents.ts'
import type { Digest, Found, TreeFacts } from './facts.ts'
import { type Family, foldName, lineage } from './inheritance.ts'
import type { Entry } from './listing.ts'
import type { RuleId } from './rules.ts'
import type { Collection } from './tree.ts'

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

/** What one check learned of a root. */
export type Learned = {
  /** Resources by their folder, relative to the root, in the order of judgement; nearly all of them are one and the same value. */
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
  /** Known where no file was added or removed since and no manifest of a collection changed: the files below a folder of the root. */
  filesBelow: ((folder: string) => readonly Entry[]) | undefined
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

/** Puts resources in order, those that are overridden first, and says which have to be read. */
export function planSteps(facts: TreeFacts, memory: Memory | undefined): Step[] {
  const steps = withBases(facts)
  if (memory?.learned === undefined) return steps
  const { known } = memory.learned
  const isTouched = (step: Step | undefined): boolean => step !== undefined && memory.touched.has(step.resource.folder)
  for (const step of steps) {
    const { base, everywhere, resource } = step
    const judged = known.get(resource.folder)
    if (judged === undefined || isTouched(step) || isTouched(base)) continue
    if (judged.base === base?.resource.folder && judged.everywhere === everywhere) step.judged = judged
  }
  // What is read is compared with its base, which must be known or read too; bases come before.
  for (const { judged, base } of steps.toReversed()) {
    if (judged === undefined && base?.judged !== undefined && base.judged.digest === undefined) base.judged = undefined
  }
  return steps
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
      known?.set(step.resource.folder, judged)
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
    const empty: Collection = { name, manifest, resources: [], strays: [], skipped: [] }
    return [folded, { collection: empty, mode }] as const
  })
  return { byName: new Map(bare) }
}

function withBases(facts: TreeFacts): Step[] {
  const { family, tree } = facts
  // Parents before their children, so that an override finds what it is compared with.
  const ordered = tree.collections
    .map((collection) => ({ collection, ancestors: lineage(family, collection.name).names.slice(1) }))
    .toSorted((a, b) => a.ancestors.length - b.ancestors.length)
  const repeated = repeatedKeys(tree.collections)
  const steps: Step[] = []
  for (const { collection, ancestors } of ordered) {
    const name = foldName(collection.name)
    for (const resource of collection.resources) {
      const key = foldName(resource.key)
      const seen = repeated.get(key)
      const holder = seen === undefined || name === 'local' ? undefined : ancestors.find((ancestor) => seen.has(ancestor))
      const base = holder === undefined ? undefined : seen?.get(holder)
      const everywhere = name === 'core' && facts.overriddenEverywhere.has(key)
      const step: Step = { collection, resource, base, isRepeated: seen !== undefined, everywhere, judged: undefined }
      seen?.set(name, step)
      steps.push(step)
    }
  }
  return steps
}

/** The keys that occur more than once, each with room for the step of each collection that holds it. */
function repeatedKeys(collections: readonly Collection[]): Map<string, Map<string, Step>> {
  const seen = new Set<string>()
  const repeated = new Map<string, Map<string, Step>>()
  for (const { key: written } of collections.flatMap(({ resources }) => resources)) {
    const key = foldName(written)
    if (seen.has(key)) repeated.set(key, new Map())
    else seen.add(key)
  }
  return repeated
}
