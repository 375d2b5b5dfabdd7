/**
 * Checks of what should not stand in a repository for everybody to read. Pure.
 */
import { foldName } from '../../gatewaysync/values.ts'
import { unsearchedTypes } from '../model/resource-types.ts'
import { findHosts } from './hosts.ts'
import { type Found, type ResourceContext, type ResourceFacts, type TreeFacts, typeOf } from './input.ts'

/** Where a person chose the text. The password of an alias within a key store is the same in most installations. */
const passwordPlace = /(?:^|\.)(?!keyStoreAliasPassword$)[a-z_]*(?:password|passwd|passphrase|secret)$/i
/** Holds hashes. */
const usersFile = 'users.json'

/** Where a file of a resource holds a credential in plain text; `key` is the resource's, in lower case. Never a value. */
export function plainPlaces(value: unknown, key: string, file: string): string[] {
  if (file === usersFile) return []
  return findHosts(value, key, file).flatMap(({ kind, at }) => (kind === 'credential' && passwordPlace.test(at) ? [at] : []))
}

export function* plainCredential({ collection, resource, path, json }: ResourceFacts, { hasModes }: ResourceContext): Generator<Found> {
  const name = foldName(collection.name)
  // In core of several environments another rule says it, together with hosts.
  if (name === 'local' || (name === 'core' && hasModes) || unsearchedTypes.has(typeOf(resource))) return
  const places: string[] = []
  for (const [file, value] of json) places.push(...plainPlaces(value, foldName(resource.key), file))
  const [first] = places
  if (first === undefined) return
  const more = places.length === 1 ? '' : ` (and ${places.length - 1} more)`
  yield { path, collection: collection.name, message: `holds a password in plain text at ${first}${more}` }
}

export function* keyCommitted({ keys }: TreeFacts): Generator<Found> {
  for (const path of keys) yield { path, message: 'holds a key of a gateway: whoever has it reads every secret that it encrypted' }
}
