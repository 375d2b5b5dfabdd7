/**
 * Determines which collection takes effect: the order in which a gateway with a given mode reads its collections, and the resulting set of
 * resources. The later collection replaces the whole resource of an earlier one. Pure.
 */
import { foldName } from '../../api/values.ts'
import type { ParsedMode } from './manifests.ts'
import type { Resource } from './resources.ts'
import type { Collection, Tree } from './tree.ts'

/** Collections that every gateway reads, regardless of its mode; later ones override earlier ones. */
export const baseCollections: readonly string[] = ['external', 'core']
/** Parents that every gateway has, with or without a folder. */
export const builtInParents: ReadonlySet<string> = new Set(['system', ...baseCollections])
/** Names that no deployment mode may have, folded. */
export const reservedNames: ReadonlySet<string> = new Set([...builtInParents, 'local'])

/** The collections of a tree with their parsed manifests, by folded name. Of two names with the same folded form the first counts. */
export type CollectionsByName = {
  byName: ReadonlyMap<string, { collection: Collection; mode: ParsedMode | undefined }>
}

/** Pairs each collection of a tree with its parsed manifest; `modes` holds them by the name as written. */
export function collectionsByName(tree: Tree, modes: ReadonlyMap<string, ParsedMode>): CollectionsByName {
  const byName = new Map<string, { collection: Collection; mode: ParsedMode | undefined }>()
  for (const collection of tree.collections) {
    const name = foldName(collection.name)
    if (!byName.has(name)) byName.set(name, { collection, mode: modes.get(collection.name) })
  }
  return { byName }
}

/** Whether a name is that of a deployment mode, which users create. */
export function isUserMode(name: string): boolean {
  return !reservedNames.has(foldName(name))
}

/** Whether a collection may be named as a parent; `local` belongs to one gateway only, committed or not. */
export function exists({ byName }: CollectionsByName, name: string): boolean {
  const folded = foldName(name)
  return builtInParents.has(folded) || (folded !== 'local' && byName.has(folded))
}

/**
 * A collection and everything that it inherits from, nearest first, as folded names. `declared` returns the parent in the manifest of a
 * folded name, undefined without one. `cycle` is the name at which a cycle closes.
 */
export function ancestry(name: string, declared: (folded: string) => string | undefined): { names: string[]; cycle: string | undefined } {
  const names: string[] = []
  for (let next: string | undefined = foldName(name); next !== undefined; next = parentOf(next, declared)) {
    if (names.includes(next)) return { names, cycle: next }
    names.push(next)
  }
  return { names, cycle: undefined }
}

function parentOf(folded: string, declared: (folded: string) => string | undefined): string | undefined {
  if (folded === 'system') return undefined
  if (folded === 'external') return 'system'
  if (folded === 'core') return 'external'
  return foldName(declared(folded) ?? 'core')
}

/** The parent that the manifest of a collection names, exactly as written. */
export function declaredParent({ byName }: CollectionsByName, name: string): string | undefined {
  return parentIn(byName.get(foldName(name))?.mode)
}

/** The parent in a manifest, even if the rest of it is wrong; undefined if it cannot be read. */
export function parentIn(mode: ParsedMode | undefined): string | undefined {
  return mode?.kind === 'ok' ? mode.manifest.parent : mode?.parent
}

/** The message of the rule unknown-parent. */
export function missingParent(parent: string): string {
  const why = foldName(parent) === 'local' ? 'differs on each gateway' : 'does not exist'
  return `the parent "${parent}" ${why}: the inherited resources are missing`
}

/** The same for the manifests of a tree. */
export function ancestryIn(family: CollectionsByName, name: string): { names: string[]; cycle: boolean } {
  const { names, cycle } = ancestry(name, (folded) => declaredParent(family, folded))
  return { names, cycle: cycle !== undefined }
}

/** The collections that a gateway in this mode reads, in order of increasing precedence, without `local`. `''`: without a mode. */
export function readingOrder(family: CollectionsByName, mode: string): string[] {
  return ancestryIn(family, mode === '' ? 'core' : mode).names.toReversed()
}

/** A resource in effect on a gateway, and the collections whose resource it replaces, nearest first. */
export type Effective = { resource: Resource; collection: Collection; overrides: Collection[] }

/** The resources of a gateway with this mode, by folded key; `local` is applied last if `withLocal` is set. */
export function effectiveSet(family: CollectionsByName, mode: string, withLocal = false): Map<string, Effective> {
  const effective = new Map<string, Effective>()
  for (const name of [...readingOrder(family, mode), ...(withLocal ? ['local'] : [])]) {
    const collection = family.byName.get(name)?.collection
    if (collection?.manifest === undefined) continue
    for (const resource of collection.resources) {
      const key = foldName(resource.key)
      const earlier = effective.get(key)
      const overrides = earlier === undefined ? [] : [earlier.collection, ...earlier.overrides]
      effective.set(key, { resource, collection, overrides: overrides.filter((other) => other !== collection) })
    }
  }
  return effective
}

/** Deployment modes of a tree, with their names as written. */
export function userModes({ byName }: CollectionsByName): string[] {
  return [...byName.values()].map(({ collection }) => collection.name).filter(isUserMode)
}

/**
 * The collections whose findings decide: external, core, and each mode in use with everything that it inherits from. If the modes are
 * undefined, every mode counts. `local` never does, because it is never delivered.
 */
export function decidingCollections(family: CollectionsByName, modesInUse: readonly string[] | undefined): Set<string> {
  const deciding = new Set(builtInParents)
  for (const mode of modesInUse ?? userModes(family)) for (const name of ancestryIn(family, mode).names) deciding.add(name)
  deciding.delete('local')
  return deciding
}
