/**
 * Checks of whether resources stand where a gateway looks for them: in the folders of a module, a type and a name. Pure.
 */
import { likelyPlace, namedTypes, nestedTypes } from '../model/known-types.ts'
import type { Resource } from '../model/resources.ts'
import { type Found, inRoot, type TreeFacts, typeOf } from './input.ts'

/** More unknown types than any gateway has modules for; each is compared with every known one. */
const maxUnknownTypes = 500

/** One finding for each folder of a type. */
export function* misplacedType(facts: TreeFacts): Generator<Found> {
  for (const { name, resources } of facts.tree.collections) {
    const seen = new Set<string>()
    for (const resource of resources) {
      const type = typeOf(resource)
      if (seen.has(type) || seen.size > maxUnknownTypes) continue
      seen.add(type)
      const meant = likelyPlace(resource.module, resource.type)
      if (meant === undefined) continue
      const message = `no gateway knows ${type}: did you mean ${meant}?`
      yield { path: inRoot(facts, `${name}/${type}`), collection: name, message }
    }
  }
}

export function* missingNameFolder(facts: TreeFacts): Generator<Found> {
  for (const { name, resources } of facts.tree.collections) {
    for (const resource of resources) {
      if (!lacksName(resource)) continue
      const message = `the manifest stands directly in the folder of ${typeOf(resource)}, whose resources each have a folder with their name`
      yield { path: inRoot(facts, resource.folder), collection: name, message }
    }
  }
}

/** A manifest in the folder of a type whose resources have names. It makes no singleton. */
export function lacksName(resource: Resource): boolean {
  return resource.kind === 'singleton' && namedTypes.has(typeOf(resource))
}

export function* nameTooDeep(facts: TreeFacts): Generator<Found> {
  for (const { name, resources } of facts.tree.collections) {
    for (const resource of resources) {
      const type = typeOf(resource)
      if (resource.kind !== 'named' || !namedTypes.has(type) || nestedTypes.has(type)) continue
      const [, , , , ...below] = resource.folder.split('/')
      if (below.length === 0) continue
      const message = `stands ${below.length === 1 ? 'a folder' : `${below.length} folders`} too deep: names of ${type} do not nest`
      yield { path: inRoot(facts, resource.folder), collection: name, message }
    }
  }
}
