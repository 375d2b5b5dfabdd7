/**
 * What was found in each resource, remembered from one commit to the next, so that a change costs what it touches. A finding of a
 * resource follows from its own files, from the resource that it overrides, and from whether every mode overrides it: where all three
 * are as before, so is the finding. Pure.
 */
import type { Placed } from './contents.ts'
import type { Digest, Found, TreeFacts } from './facts.ts'
import { foldName, lineage } from './inheritance.ts'
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

/** Resources of one root by their folder, relative to the root; nearly all of them are the one value `unremarkable`. */
export type Memory = {
  known: Map<string, Judged>
  /** Folders in which a file was added, changed or removed since, with all folders above them; relative to the root. */
  touched: ReadonlySet<string>
}

/** Each is some 200 bytes. */
const rememberedFindings = 5_000

const unremarkable: Judged = { found: [], digest: undefined, base: undefined, everywhere: false }

/** A resource in the order of judgement. */
export type Step = Placed & {
  /** Index of the resource that it overrides, always a smaller one. */
  base: number | undefined
  /** Whether a resource of its name exists in several collections. */
  isRepeated: boolean
  everywhere: boolean
  /** What is known of it; undefined: it has to be read. */
  judged: Judged | undefined
}

/** Puts resources in order, those that are overridden first, and says which have to be read. */
export function planSteps(facts: TreeFacts, memory: Memory | undefined): Step[] {
  const steps = withBases(facts)
  if (memory === undefined) return steps
  const folderOf = (index: number | undefined): string | undefined => (index === undefined ? undefined : steps[index]?.resource.folder)
  const isTouched = (folder: string | undefined): boolean => folder !== undefined && memory.touched.has(folder)
  for (const step of steps) {
    const known = memory.known.get(step.resource.folder)
    const base = folderOf(step.base)
    if (known === undefined || isTouched(step.resource.folder) || isTouched(base)) continue
    if (known.base === base && known.everywhere === step.everywhere) step.judged = known
  }
  // What is read is compared with its base, which must be known or read too; bases come before.
  for (const { judged, base } of steps.toReversed()) {
    const needed = judged === undefined && base !== undefined ? steps[base] : undefined
    if (needed?.judged?.digest === undefined && needed !== undefined) needed.judged = undefined
  }
  return steps
}

export function judgedOf({ base, everywhere }: Step, steps: readonly Step[], found: Judged['found'], digest: Digest | undefined): Judged {
  if (found.length === 0 && digest === undefined && base === undefined && !everywhere) return unremarkable
  return { found, digest, base: base === undefined ? undefined : steps[base]?.resource.folder, everywhere }
}

/** Remembers what steps gave. Findings beyond a bound are let go of, so that their resources are read again the next time. */
export function createLearner(isWanted: boolean): { known: Map<string, Judged>; learn(step: Step): void } {
  const known = new Map<string, Judged>()
  let left = isWanted ? rememberedFindings : 0
  return {
    known,
    learn(step) {
      const { judged } = step
      if (judged === undefined) return
      left -= judged.found.length
      if (isWanted && left >= 0) known.set(step.resource.folder, judged)
      // Others may still be compared with it.
      else if (judged.found.length > 0) step.judged = { ...judged, found: [] }
    },
  }
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
      seen?.set(name, steps.length)
      const everywhere = name === 'core' && facts.overriddenEverywhere.has(key)
      steps.push({ collection, resource, base, isRepeated: seen !== undefined, everywhere, judged: undefined })
    }
  }
  return steps
}

/** The keys that occur more than once, each with room for the index of each collection that holds it. */
function repeatedKeys(collections: readonly Collection[]): Map<string, Map<string, number>> {
  const seen = new Set<string>()
  const repeated = new Map<string, Map<string, number>>()
  for (const { key: written } of collections.flatMap(({ resources }) => resources)) {
    const key = foldName(written)
    if (seen.has(key)) repeated.set(key, new Map())
    else seen.add(key)
  }
  return repeated
}
