/**
 * Checks for secrets that every reader of the repository could use. Pure.
 */
import { foldName } from '../../api/values.ts'
import { baseCollections } from '../model/inheritance.ts'
import { unsearchedTypes } from '../model/resource-types.ts'
import { findHosts, hasAllowedPlaces } from './hosts.ts'
import { type Violation, type ResourceContext, type ResourceFacts, type TreeFacts, typeOf } from './input.ts'

/** Holds hashes. */
const usersFile = 'users.json'

/** The places where a file of a resource holds a credential in plain text, never the values; `key` is the resource's, in lower case. */
export function plainPlaces(value: unknown, key: string, file: string): string[] {
  if (file === usersFile) return []
  return findHosts(value, key, file).flatMap(({ kind, at }) => (kind === 'password' ? [at] : []))
}

/**
 * The same for a file that may belong to any of several resources. A profile with templates may deliver it to thousands of places, so it is
 * searched once for all resources with equal results.
 */
export function plainPlacesOfAny(value: unknown, resources: readonly { key: string; file: string }[]): string[] {
  const kinds = new Set(resources.filter(({ file }) => file !== usersFile).map(({ key }) => (hasAllowedPlaces(key) ? key : '')))
  return [...new Set([...kinds].flatMap((key) => plainPlaces(value, key, '')))]
}

export function* plainCredential({ collection, resource, path, json }: ResourceFacts, { hasModes }: ResourceContext): Generator<Violation> {
  const name = foldName(collection.name)
  // Another rule reports credentials in shared collections, together with hosts.
  if (name === 'local' || (baseCollections.includes(name) && hasModes) || unsearchedTypes.has(typeOf(resource))) return
  const places: string[] = []
  for (const [file, value] of json) places.push(...plainPlaces(value, foldName(resource.key), file))
  const [first] = places
  if (first === undefined) return
  const more = places.length === 1 ? '' : ` (and ${places.length - 1} more)`
  yield {
    path,
    collection: collection.name,
    message: `contains a password in plain text at ${first}${more}: everyone who can read the repository has it`,
  }
}

export function* keyCommitted({ keys }: TreeFacts): Generator<Violation> {
  for (const path of keys)
    yield { path, message: 'contains a key of a gateway: everyone who can read the repository can decrypt its secrets' }
}
