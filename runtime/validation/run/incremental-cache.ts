/**
 * The findings of each resource, kept from one commit to the next, so that the cost of a check follows the change. A finding of a resource
 * follows from its own files, from the resource that it overrides, from the modes that override it, and from whether there are any: if all
 * four are unchanged, so is the finding. Pure.
 */
import { foldName } from '../../api/values.ts'
import type { LocatedResource } from './read-resources.ts'
import type { Digest, Violation, Overridden, ResourceContext, TreeFacts } from '../rules/input.ts'
import { type CollectionsByName, isUserMode, ancestryIn, userModes } from '../model/inheritance.ts'
import { createKeyTable } from '../rules/key-table.ts'
import type { RuleId } from '../rules/rules.ts'
import type { Notes } from '../model/notes.ts'
import type { CrossFindings } from '../rules/overview.ts'
import { noResources } from '../model/resources.ts'
import type { Collection } from '../model/tree.ts'

/** The result of one resource. */
export type Checked = {
  found: readonly (readonly [RuleId, Violation])[]
  /** Set if the resource exists in several collections. */
  digest: Digest | undefined
  /** Folder of the resource that it overrides. */
  base: string | undefined
  overridden: Overridden
  /** The data that other resources depend on. */
  notes: Notes | undefined
}

/** The size of the checked tree. */
export type Size = { resources: number; collections: number }

/** No findings, and no other resource depends on it. */
export const nothingFound: Checked = { found: [], digest: undefined, base: undefined, overridden: 'nowhere', notes: undefined }

/** The state of a root after a check. */
export type Remembered = {
  /**
   * Resources by their folder, relative to the root, in the order of the checks. Only those with a finding, a digest, a base or notes are held. A
   * missing one means "checked, nothing found", unless a manifest above it changed since (`foldersWithChangedManifest`).
   */
  known: Map<string, Checked>
  /** The context of the check. */
  context: ResourceContext
  /** The data that follows from names and the manifests of collections; undefined if there is too much of it, or of the resources'. */
  treeFindings: TreeFindings | undefined
}

/** The findings of name checks, and their inputs. */
export type TreeFindings = {
  found: readonly (readonly [RuleId, Violation])[]
  /** Without the resources of the collections. */
  family: CollectionsByName
  modesInUse: readonly string[] | undefined
  size: Size
  cross: CrossFindings
  /** The last findings of `cross`; undefined if there are too many. */
  crossFound: readonly (readonly [RuleId, Violation])[] | undefined
}

/** A root from one commit to the next. */
export type Previous = {
  learned: Remembered | undefined
  /** Folders in which a file was added, changed or removed since, with all folders above them; relative to the root. */
  changedFolders: ReadonlySet<string>
  /** Those of them with an added, changed or removed manifest: files below may have become a resource. */
  foldersWithChangedManifest: ReadonlySet<string>
  /** Set if no file was added or removed since and no manifest of a collection changed: the resource in a folder of the root. */
  resourceAt: ((folder: string) => LocatedResource | undefined) | undefined
  /** The resources of this commit that were already checked, by folder. */
  checked?: ReadonlyMap<string, Checked>
}

/** Limit on the findings of one kind of a root: 5,000 usual ones. Their texts come from the commit, so a number of them bounds no memory. */
const maxFoundBytes = 1024 * 1024

/** Findings to keep; undefined: there are too many. */
export class KeptFindings {
  #list: (readonly [RuleId, Violation])[] | undefined = []
  #left = maxFoundBytes

  get list(): readonly (readonly [RuleId, Violation])[] | undefined {
    return this.#list
  }

  add(rule: RuleId, found: Violation): void {
    this.#left -= foundBytes(found)
    if (this.#left < 0) this.#list = undefined
    this.#list?.push([rule, found])
  }
}

/** The memory of a finding. */
function foundBytes({ path, message }: Violation): number {
  return 100 + path.length + message.length
}

/** A resource in the order of the checks. */
export type CheckStep = LocatedResource & {
  /** The overridden resource: an earlier step. */
  base: CheckStep | undefined
  /** Whether a resource of its name exists in several collections. */
  isRepeated: boolean
  overridden: Overridden
  /** The known result; undefined: it must be read. */
  checked: Checked | undefined
}

/** Sorts resources, overridden ones first, and determines which must be read. Resources known to have no findings are left out. */
export function* planSteps(facts: TreeFacts, memory: Previous | undefined): Generator<CheckStep> {
  const isProjects = facts.kind === 'projects'
  // A project's copies of its parent's resources are not compared.
  const collections = isProjects ? facts.tree.collections.map((collection) => ({ collection, ancestors: [] })) : inCheckOrder(facts)
  const compared = isProjects ? new Map<number, CheckStep>() : comparedSteps(facts, collections)
  const known = isSameContext(memory?.learned?.context, facts) ? memory : undefined
  for (const step of compared.values()) step.checked = remembered(step, known)
  let index = 0
  for (const { collection } of collections) {
    for (const resource of collection.resources) {
      const step = compared.get(index)
      index += 1
      const checked = step === undefined ? remembered({ resource, ...alone }, known) : step.checked
      // Nearly all are like this, so no object is created for them.
      if (checked === nothingFound) continue
      yield step ?? { collection, resource, ...alone, checked }
    }
  }
}

function isSameContext(before: ResourceContext | undefined, now: ResourceContext): boolean {
  return (
    before?.root === now.root &&
    before.hasModes === now.hasModes &&
    before.isFragment === now.isFragment &&
    before.isLaidOver === now.isLaidOver
  )
}

/** A resource that exists in one collection only. */
const alone = { base: undefined, isRepeated: false, overridden: 'nowhere' } as const

function remembered(
  { resource: { folder }, base, isRepeated, overridden }: Pick<CheckStep, 'resource' | 'base' | 'isRepeated' | 'overridden'>,
  memory: Previous | undefined,
): Checked | undefined {
  if (memory?.learned === undefined) return undefined
  const { learned: earlier, changedFolders, foldersWithChangedManifest } = memory
  const now = memory.checked?.get(folder)
  if (now !== undefined) return now
  if (changedFolders.has(folder) || (base !== undefined && changedFolders.has(base.resource.folder))) return undefined
  const checked = earlier.known.get(folder) ?? (isBelowAny(folder, foldersWithChangedManifest) ? undefined : nothingFound)
  const isSame =
    checked?.base === base?.resource.folder && checked?.overridden === overridden && (checked.digest !== undefined) === isRepeated
  return isSame ? checked : undefined
}

function isBelowAny(folder: string, folders: ReadonlySet<string>): boolean {
  if (folders.size === 0) return false
  for (let end = folder.lastIndexOf('/'); end > 0; end = folder.lastIndexOf('/', end - 1))
    if (folders.has(folder.slice(0, end))) return true
  return false
}

/** Keeps the results of steps, or nothing if there are too many. */
export function createLearner(isEnabled: boolean): { known(): Map<string, Checked> | undefined; learn(step: CheckStep): void } {
  let known = isEnabled ? new Map<string, Checked>() : undefined
  let left = maxFoundBytes
  return {
    known: () => known,
    learn(step) {
      const { checked } = step
      if (checked === undefined) return
      for (const [, found] of checked.found) left -= foundBytes(found)
      if (left < 0) known = undefined
      if (checked !== nothingFound) known?.set(step.resource.folder, checked)
      // Other resources may still be compared with it.
      if (known === undefined && checked.found.length > 0) step.checked = { ...checked, found: [] }
    },
  }
}

/** The state that the next check of this root may use; undefined if there is too much to keep. */
export function learned(
  { root, kind, family, modesInUse, hasModes, isFragment, isLaidOver }: TreeFacts,
  { found, cross, crossFound }: Pick<TreeFindings, 'cross' | 'crossFound'> & { found: TreeFindings['found'] | undefined },
  inResources: Map<string, Checked> | undefined,
  size: Size,
): Remembered | undefined {
  if (inResources === undefined) return undefined
  return {
    known: inResources,
    context: { root, kind, hasModes, isFragment, isLaidOver },
    treeFindings: found === undefined ? undefined : { found, family: withoutResources(family), modesInUse, size, cross, crossFound },
  }
}

function withoutResources({ byName }: CollectionsByName): CollectionsByName {
  const bare = [...byName].map(([folded, { collection, mode }]) => {
    const { name, manifest } = collection
    const empty: Collection = { name, manifest, resources: noResources, strays: [], skipped: [] }
    return [folded, { collection: empty, mode }] as const
  })
  return { byName: new Map(bare) }
}

type Ordered = readonly { collection: Collection; ancestors: readonly string[] }[]

/** Parents before their children, so that an overriding resource finds the one that it is compared with. */
function inCheckOrder({ family, tree }: TreeFacts): Ordered {
  return tree.collections
    .map((collection) => ({ collection, ancestors: ancestryIn(family, collection.name).names.slice(1) }))
    .toSorted((a, b) => a.ancestors.length - b.ancestors.length)
}

/** A key that occurs more than once: the collections that contain it, and the step of each one seen so far. */
type Repeated = { holders: Set<string>; steps: Map<string, CheckStep> }

/** The steps of resources that exist in several collections, by their place in the order. */
function comparedSteps({ family }: TreeFacts, collections: Ordered): Map<number, CheckStep> {
  const steps = new Map<number, CheckStep>()
  const repeated = repeatedKeys(collections)
  if (repeated.size === 0) return steps
  const modes = userModes(family).map((mode) => ancestryIn(family, mode).names.filter(isUserMode))
  let index = -1
  for (const { collection, ancestors } of collections) {
    const name = foldName(collection.name)
    for (const resource of collection.resources) {
      index += 1
      const seen = repeated.get(foldName(resource.key))
      if (seen === undefined) continue
      const holder = name === 'local' ? undefined : ancestors.find((ancestor) => seen.steps.has(ancestor))
      const base = holder === undefined ? undefined : seen.steps.get(holder)
      const overridden = isShared(name) ? overriddenBy(name, modes, seen.holders) : 'nowhere'
      const step: CheckStep = { collection, resource, base, isRepeated: true, overridden, checked: undefined }
      seen.steps.set(name, step)
      steps.set(index, step)
    }
  }
  return steps
}

function isShared(folded: string): boolean {
  return folded === 'core' || folded === 'external'
}

/**
 * `modes` are the deployment modes, each with the modes that it inherits from. Gateways do not read an `external` resource that `core`
 * overrides.
 */
function overriddenBy(name: string, modes: readonly (readonly string[])[], holders: ReadonlySet<string>): Overridden {
  if (name === 'external' && holders.has('core')) return 'everywhere'
  const count = modes.filter((names) => names.some((each) => holders.has(each))).length
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
      const entry = repeated.get(key) ?? { holders: new Set([nameOf(numberOf(before))]), steps: new Map<string, CheckStep>() }
      entry.holders.add(nameOf(number))
      repeated.set(key, entry)
    }
  }
  return repeated
}
