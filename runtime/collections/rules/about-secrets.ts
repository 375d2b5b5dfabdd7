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

export function* plainCredential({ collection, resource, path, json }: ResourceFacts, { hasModes }: ResourceContext): Generator<Found> {
  const name = foldName(collection.name)
  // In core of several environments another rule says it, together with hosts.
  if (name === 'local' || (name === 'core' && hasModes) || unsearchedTypes.has(typeOf(resource))) return
  const places: string[] = []
  for (const [file, value] of json) {
    if (file === usersFile) continue
    for (const { kind, at } of findHosts(value, foldName(resource.key), file)) {
      if (kind === 'credential' && passwordPlace.test(at)) places.push(at)
    }
  }
  const [first] = places
  if (first === undefined) return
  const more = places.length === 1 ? '' : ` (and ${places.length - 1} more)`
  yield { path, collection: collection.name, message: `holds a password in plain text at ${first}${more}` }
}

export function* keyCommitted({ keys }: TreeFacts): Generator<Found> {
  for (const path of keys) yield { path, message: 'holds a key of a gateway: whoever has it reads every secret that it encrypted' }
}
