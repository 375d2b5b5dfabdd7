/**
 * Which collection wins: the order in which a gateway with a given mode reads its collections, and the set of resources that results. The
 * later collection replaces the whole resource of an earlier one. Pure.
 */
import type { ParsedMode } from './manifests.ts'
import type { Resource } from './resources.ts'
import type { Collection, Tree } from './tree.ts'

/** Names of collections are compared by this. */
export function foldName(name: string): string {
  return isFolded.test(name) ? name : name.normalize('NFC').toLowerCase()
}

/** Most names are lower case ASCII already; a copy of each would be a third of the memory of a check. */
const isFolded = /^[ -@[-~]*$/

/** Parents that every gateway has, with or without a folder. */
const builtInParents: ReadonlySet<string> = new Set(['system', 'external', 'core'])
export const reservedNames: ReadonlySet<string> = new Set(['system', 'external', 'core', 'local'])

/** The collections of a tree with what their manifests say, by folded name. Of two names with one fold the first counts. */
export type Family = {
  byName: ReadonlyMap<string, { collection: Collection; mode: ParsedMode | undefined }>
}

export function familyOf(tree: Tree, modes: ReadonlyMap<string, ParsedMode>): Family {
  const byName = new Map<string, { collection: Collection; mode: ParsedMode | undefined }>()
  for (const collection of tree.collections) {
    const name = foldName(collection.name)
    if (!byName.has(name)) byName.set(name, { collection, mode: modes.get(collection.name) })
  }
  return { byName }
}

/** Whether a name stands for a deployment mode: a collection that users make. */
export function isUserMode(name: string): boolean {
  return !reservedNames.has(foldName(name))
}

/** Whether a collection may be named as a parent. */
export function exists({ byName }: Family, name: string): boolean {
  const folded = foldName(name)
  return builtInParents.has(folded) || byName.has(folded)
}

/** The folded name of a collection's parent: what its manifest says, else the usual one. Undefined for `system`. */
export function parentOf(family: Family, name: string): string | undefined {
  const folded = foldName(name)
  if (folded === 'system') return undefined
  if (folded === 'external') return 'system'
  if (folded === 'core') return 'external'
  return foldName(declaredParent(family, folded) ?? 'core')
}

/** The parent that a collection's manifest names, as it is written. */
export function declaredParent({ byName }: Family, name: string): string | undefined {
  const mode = byName.get(foldName(name))?.mode
  return mode?.kind === 'ok' ? mode.manifest.parent : mode?.parent
}

/** The collection and everything that it inherits from, nearest first, as folded names. A cycle ends where it closes. */
export function lineage(family: Family, name: string): { names: string[]; cycle: boolean } {
  const names: string[] = []
  for (let next: string | undefined = foldName(name); next !== undefined; next = parentOf(family, next)) {
    if (names.includes(next)) return { names, cycle: true }
    names.push(next)
  }
  return { names, cycle: false }
}

/** The collections that a gateway with this mode reads, the winning one last; `''` is no mode. Without `local`, which is its own. */
export function readingOrder(family: Family, mode: string): string[] {
  return lineage(family, mode === '' ? 'core' : mode).names.toReversed()
}

/** A resource as a gateway sees it: the one that wins, and the collections whose resource it replaces, nearest first. */
export type Effective = { resource: Resource; collection: Collection; overrides: Collection[] }

/** What a gateway with this mode would hold, by folded key; `local` is applied last where `withLocal` asks for it. */
export function effectiveSet(family: Family, mode: string, withLocal = false): Map<string, Effective> {
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

/** User modes of a tree, by their names as they stand. */
export function userModes({ byName }: Family): string[] {
  return [...byName.values()].map(({ collection }) => collection.name).filter(isUserMode)
}

/**
 * The collections whose findings decide: external, core, and each mode in use with all that it inherits from. Undefined modes are not
 * known, and then every mode counts. `local` never does, for it is never delivered.
 */
export function decidingCollections(family: Family, modesInUse: readonly string[] | undefined): Set<string> {
  const deciding = new Set(['external', 'core', 'system'])
  for (const mode of modesInUse ?? userModes(family)) for (const name of lineage(family, mode).names) deciding.add(name)
  deciding.delete('local')
  return deciding
}
