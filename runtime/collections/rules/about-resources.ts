/**
 * Checks of one resource and its content. Pure.
 */
import { foldName } from '../../gatewaysync/values.ts'
import { type Found, nameInResource, type ResourceContext, type ResourceFacts, typeOf } from './input.ts'
import { isExplained } from './about-json.ts'
import { lacksName } from './about-places.ts'
import { findHosts, type Sighting } from './hosts.ts'
import { isUserMode } from '../model/inheritance.ts'
import { isSigned, signatureAttribute } from './signature.ts'
import { defaultResources, deviceType, environmentTypes, tagProviderType, unsearchedTypes } from '../model/resource-types.ts'
import { isObject } from '../../json.ts'
import { isLitter } from '../model/resources.ts'

export function* invalidResourceJson(facts: ResourceFacts): Generator<Found> {
  const { parsed, resource, damaged, pointers } = facts
  const { path } = resource.manifest
  // Another rule says what it holds instead.
  if (pointers.includes(path) || isExplained(damaged.get(path))) return
  if (parsed.kind === 'invalid') yield at(facts, path, parsed.problem)
}

export function* missingAttributes(facts: ResourceFacts): Generator<Found> {
  const { parsed, resource } = facts
  if (parsed.kind === 'ok' && parsed.manifest.attributes === undefined) yield at(facts, resource.manifest.path, 'has no attributes')
}

export function* listedFileMissing(facts: ResourceFacts, { isFragment, isLaidOver }: ResourceContext): Generator<Found> {
  const { parsed, resource } = facts
  if (parsed.kind !== 'ok' || isLaidOver) return
  const present = new Set([resource.manifest, ...resource.files].map(({ path }) => nameInResource(resource, path)))
  for (const file of new Set(parsed.manifest.files)) {
    if (present.has(file) || pictures.has(file)) continue
    const found = at(facts, resource.manifest.path, `lists "${file.slice(0, 200)}", which is not there as an ordinary file`)
    yield isFragment || optionalFiles.has(file) ? { ...found, severity: 'warning' } : found
  }
}

/** What the Designer draws anew whenever it likes; many repositories leave it out. */
const pictures: ReadonlySet<string> = new Set(['thumbnail.png'])

/** Files that a gateway does without: what the redundant backup node has instead of `config.json`. */
const optionalFiles: ReadonlySet<string> = new Set(['backupConfig.json'])

export function* unlistedFile(facts: ResourceFacts): Generator<Found> {
  const { parsed, resource } = facts
  // A manifest without a name's folder has all resources of its type below it, which another rule says.
  if (parsed.kind !== 'ok' || lacksName(resource)) return
  const listed = new Set(parsed.manifest.files)
  for (const { path } of resource.files) {
    const name = nameInResource(resource, path)
    if (!listed.has(name) && !pictures.has(name) && !isLitter(path)) yield at(facts, path, 'is not listed in the "files" of its resource')
  }
}

export function* lfsPointer(facts: ResourceFacts): Generator<Found> {
  for (const path of facts.pointers) yield at(facts, path, 'is a pointer of Git LFS and not the content')
}

export function* staleSignature(facts: ResourceFacts): Generator<Found> {
  const { collection, parsed, resource, hash } = facts
  // No gateway reads the `local` of a repository.
  if (parsed.kind !== 'ok' || foldName(collection.name) === 'local') return
  // Who mends a damaged file signs it then.
  if (facts.damaged.size > 0 || facts.pointers.length > 0) return
  const written = parsed.manifest.attributes?.[signatureAttribute]
  if (typeof written !== 'string') return
  if (isSigned(parsed.text, written, hash, parsed.value) === false)
    yield at(facts, resource.manifest.path, 'its signature does not match its content')
}

export function* overrideIdentical(facts: ResourceFacts): Generator<Found> {
  const { base, own, path } = facts
  if (base !== undefined && base.digest === own?.digest)
    yield at(facts, path, `equals the resource of "${base.collection}" that it overrides`)
}

export function* overrideForbidden(facts: ResourceFacts): Generator<Found> {
  const { base, path } = facts
  if (base?.overridable === false) yield at(facts, path, `overrides a resource of "${base.collection}" that is not overridable`)
}

export function* hostOrCredentialInCore(facts: ResourceFacts, { hasModes }: ResourceContext): Generator<Found> {
  // Where there is one environment, core is its place.
  if (foldName(facts.collection.name) !== 'core' || !hasModes || facts.overridden === 'everywhere') return
  const sightings = sightingsOf(facts)
  const first = sightings.find(({ kind }) => kind !== 'encrypted') ?? sightings[0]
  if (first === undefined) return
  const more = sightings.length === 1 ? '' : ` (and ${sightings.length - 1} more)`
  yield at(facts, facts.path, `${wording[first.kind]} at ${first.at}${more}`)
}

const wording: Record<Sighting['kind'], string> = {
  host: 'names a host',
  credential: 'holds a credential',
  readable: 'holds a credential encrypted with the default key, which every installation has and whoever reads the repository can open,',
  encrypted: 'holds a value that opens only with the custom key it was encrypted with,',
}

export function* environmentResourceInCore(facts: ResourceFacts): Generator<Found> {
  const { collection, resource, path, overridden } = facts
  // What no mode overrides may well be the same everywhere.
  if (foldName(collection.name) !== 'core' || overridden !== 'somewhere' || defaultResources.has(resource.key)) return
  const type = typeOf(resource)
  const remote = type === tagProviderType && /gan|gateway-?network|remote/i.test(profileType(facts))
  if (!environmentTypes.has(type) && !remote) return
  // Said already by the rule about hosts.
  if (sightingsOf(facts).length > 0) return
  const what = remote ? 'a remote tag provider' : `a resource of ${type}`
  yield at(facts, path, `${what} differs between environments: some deployment modes override it, the others run with this one`)
}

export function* simulatorInMode(facts: ResourceFacts): Generator<Found> {
  const { collection, resource, path, own } = facts
  if (!isUserMode(collection.name) || typeOf(resource) !== deviceType || !/simulator/i.test(profileType(facts))) return
  // A simulator in one mode and a real device of the same name in another is what modes are for.
  if (own !== undefined) return
  if (sightingsOf(facts).length === 0) yield at(facts, path, 'a simulated device without an address is the same in every environment')
}

function sightingsOf({ resource, json }: ResourceFacts): Sighting[] {
  if (unsearchedTypes.has(typeOf(resource))) return []
  const key = foldName(resource.key)
  return [...json].flatMap(([file, value]) => findHosts(value, key, file))
}

/** `profile.type` of config.json, where types tell their variants apart. */
function profileType({ json }: ResourceFacts): string {
  const config = json.get('config.json')
  const profile = isObject(config) ? config['profile'] : undefined
  const type = isObject(profile) ? profile['type'] : undefined
  return typeof type === 'string' ? type : ''
}

/** What is wrong in `local` reaches nobody, so it never is an error. */
function at({ collection }: ResourceFacts, path: string, message: string): Found {
  const found = { path, collection: collection.name, message }
  return foldName(collection.name) === 'local' ? { ...found, severity: 'warning' } : found
}
