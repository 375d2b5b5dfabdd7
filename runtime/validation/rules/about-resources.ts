/**
 * Checks of one resource: its place in the folders of a module, a type and a name, and its content. Pure.
 */
import { foldName } from '../../api/values.ts'
import { type Violation, inRoot, nameInResource, type ResourceContext, type ResourceFacts, type TreeFacts, typeOf } from './input.ts'
import { isExplained } from './about-json.ts'
import { findHosts, isOnlyLocal, type Sighting } from './hosts.ts'
import { baseCollections, isUserMode } from '../model/inheritance.ts'
import type { Notes } from '../model/notes.ts'
import { databaseType, scriptType, tagProviderType } from '../model/references.ts'
import { manifestName, nameOf } from '../model/tree.ts'
import { isSigned, signatureAttribute } from './signature.ts'
import { defaultResources, deviceType, environmentTypes, unsearchedTypes } from '../model/resource-types.ts'
import { isObject } from '../../platform/text/json.ts'
import { likelyPlace, namedTypes, nestedTypes } from '../model/known-types.ts'
import { isLitter, type Resource } from '../model/resources.ts'

export function* invalidResourceJson(facts: ResourceFacts): Generator<Violation> {
  const { parsed, resource, damaged, pointers } = facts
  const { path } = resource.manifest
  // Another rule reports its actual content.
  if (pointers.includes(path) || isExplained(damaged.get(path))) return
  if (parsed.kind === 'invalid') yield at(facts, path, `${parsed.problem}, so the gateway does not load the resource`)
}

export function* missingAttributes(facts: ResourceFacts, { kind }: ResourceContext): Generator<Violation> {
  const { parsed, resource } = facts
  if (parsed.kind !== 'ok' || parsed.manifest.attributes !== undefined) return
  const { path } = resource.manifest
  // The reports are of 8.1; a gateway 8.3.8 starts with such projects.
  if (kind === 'projects')
    yield { ...at(facts, path, 'has no "attributes": Ignition 8.1 fails to load such a project'), severity: 'warning' }
  else yield at(facts, path, 'has no "attributes": a gateway that starts with this collection fails with a NullPointerException')
}

export function* listedFileMissing(facts: ResourceFacts, { isFragment, isLaidOver }: ResourceContext): Generator<Violation> {
  const { parsed, resource } = facts
  // Git often ignores the files of one machine, such as its key store.
  if (parsed.kind !== 'ok' || isLaidOver || foldName(facts.collection.name) === 'local') return
  const present = new Set([resource.manifest, ...resource.files].map(({ path }) => nameInResource(resource, path)))
  for (const file of new Set(parsed.manifest.files)) {
    if (present.has(file)) continue
    const effect = optionalFiles.get(file) ?? (isFragment ? 'it works only if the gateway has the file' : 'the resource is lost')
    const found = at(facts, resource.manifest.path, `lists "${file.slice(0, 200)}", which does not exist as a regular file: ${effect}`)
    yield isFragment || optionalFiles.has(file) ? { ...found, severity: 'warning' } : found
  }
}

/** The Designer draws it again. */
const thumbnail = 'thumbnail.png'

/** Files without which a resource is not lost, and what their absence causes. */
export const optionalFiles: ReadonlyMap<string, string> = new Map([
  ['backupConfig.json', 'the redundant backup gateway has no settings of its own'],
  [thumbnail, 'the Designer may fail to open the project'],
])

/** The files that a manifest does not list, except those that are obviously intended. */
function unlistedFiles({ parsed, resource }: ResourceFacts): string[] {
  // A manifest without a name's folder has all resources of its type below it, which another rule reports.
  if (parsed.kind !== 'ok' || lacksName(resource)) return []
  const listed = new Set(parsed.manifest.files)
  const below = childFolders(resource)
  return resource.files.flatMap(({ path }) => {
    const name = nameInResource(resource, path)
    const rendered = name.replace(templateEnding, '')
    const isMeant =
      listed.has(name) || name === thumbnail || isLitter(path) || listed.has(rendered) || rendered === nameOf(resource.manifest.path)
    return isMeant || below.some((folder) => name.startsWith(folder)) ? [] : [path]
  })
}

/** `config.json` is rendered from `config.json.j2` beside it. */
const templateEnding = /\.(?:j2|jinja2?|tpl|tmpl|template|liquid|erb)$/i

/** Folders of a resource that would be resources themselves if they were not below one; each ends in `/`. */
function childFolders(resource: Resource): string[] {
  return resource.files.flatMap(({ path }) => {
    const name = nameInResource(resource, path)
    return name.endsWith(`/${manifestName}`) ? [name.slice(0, -manifestName.length)] : []
  })
}

export function* resourceInResource(facts: ResourceFacts): Generator<Violation> {
  const { resource, path } = facts
  const [first, ...others] = childFolders(resource)
  // Without the folder of its name, all resources of the type are below it.
  if (first === undefined || lacksName(resource)) return
  const below = `"${first.slice(0, -1).slice(0, 200)}"${others.length === 0 ? '' : ` and ${others.length} more`}`
  const message =
    typeOf(resource) === scriptType
      ? `is a script module with code, but also contains the modules ${below}: the gateway loads only its own code`
      : `is a resource, but also contains the resources ${below}: the gateway does not load what is below a resource`
  yield at(facts, path, message)
}

export function* lfsPointer(facts: ResourceFacts): Generator<Violation> {
  for (const path of facts.pointers)
    yield at(facts, path, 'is a Git LFS pointer: the gateway would read the text of the pointer instead of the file')
}

export function* staleSignature(facts: ResourceFacts): Generator<Violation> {
  const { collection, parsed, resource, hash } = facts
  // No gateway reads the `local` of a repository.
  if (parsed.kind !== 'ok' || foldName(collection.name) === 'local') return
  // A damaged file is signed once it is repaired.
  if (facts.damaged.size > 0 || facts.pointers.length > 0) return
  const written = parsed.manifest.attributes?.[signatureAttribute]
  if (typeof written !== 'string') return
  if (isSigned(parsed.text, written, hash, parsed.value) === false)
    yield at(facts, resource.manifest.path, 'the signature does not match the content: a gateway may skip the change when it scans')
}

export function* overrideIdentical(facts: ResourceFacts): Generator<Violation> {
  const { base, own, path } = facts
  if (base !== undefined && base.digest === own?.digest)
    yield at(facts, path, `is identical to the resource of "${base.collection}" that it overrides: it only hides later changes there`)
}

export function* overrideForbidden(facts: ResourceFacts): Generator<Violation> {
  const { base, path } = facts
  if (base?.overridable === false)
    yield at(facts, path, `overrides a resource of "${base.collection}" with overridable: false: how a gateway handles it is unknown`)
}

/** The collections that every gateway reads. */
function isShared(name: string): boolean {
  return baseCollections.includes(foldName(name))
}

export function* hostOrCredentialShared(facts: ResourceFacts, { hasModes }: ResourceContext): Generator<Violation> {
  // Without modes, one finding counts them.
  if (!isShared(facts.collection.name) || !hasModes || facts.overridden === 'everywhere') return
  const environment = environmentSpecific(facts)
  if (environment !== undefined) yield at(facts, facts.path, `${environment.what}: ${environment.why}`)
}

function environmentSpecific(facts: ResourceFacts): { what: string; why: string } | undefined {
  const sightings = sightingsOf(facts)
  const first = sightings.find(({ kind }) => kind !== 'encrypted') ?? sightings[0]
  if (first === undefined) return undefined
  const more = sightings.length === 1 ? '' : ` (and ${sightings.length - 1} more)`
  const { what, why } = wording[first.kind]
  return { what: `${what} at ${first.at}${more}`, why }
}

const everywhere = 'every environment that does not override it uses this value'
const wording: Record<Sighting['kind'], { what: string; why: string }> = {
  host: { what: 'contains a host', why: everywhere },
  connection: { what: 'contains a connection string', why: everywhere },
  password: { what: 'contains a password', why: everywhere },
  credential: { what: 'contains a credential', why: everywhere },
  readable: {
    what: 'contains a credential encrypted with the default key',
    why: 'every installation has that key, so everyone who can read the repository can decrypt it',
  },
  encrypted: { what: 'contains a value encrypted with a custom key', why: 'gateways without that key cannot read it' },
}

export function* belongsInMode(facts: ResourceFacts, { hasModes }: ResourceContext): Generator<Violation> {
  const { collection, path, overridden } = facts
  if (!isShared(collection.name) || !hasModes || overridden === 'everywhere') return
  const what = environmentKind(facts)
  // A usable default, such as a service on the same machine, that some modes replace.
  if (what === undefined || (overridden === 'somewhere' && isLocal(facts))) return
  // The rule about hosts and credentials reports it already.
  if (sightingsOf(facts).length > 0) return
  const others =
    overridden === 'somewhere'
      ? 'only some deployment modes override this one: the others use it'
      : 'no deployment mode overrides this one: all use it'
  yield at(facts, path, `${what} differs between environments, but ${others}`)
}

/** What kind of resource it is if its type belongs in a deployment mode. */
function environmentKind(facts: ResourceFacts): string | undefined {
  const { resource } = facts
  const type = typeOf(resource)
  if (defaultResources.has(foldName(resource.key))) return undefined
  if (type === tagProviderType) return /gan|gateway-?network|remote/i.test(profileType(facts)) ? 'a remote tag provider' : undefined
  // A database in a file, or on the same machine, is the same in each environment.
  if (type === databaseType && isLocal(facts)) return undefined
  return environmentTypes.get(type)
}

function isLocal({ json }: ResourceFacts): boolean {
  return isOnlyLocal(json.get('config.json'))
}

/** What the checks between resources need to know about this one. */
export function notedByRules(facts: ResourceFacts, { hasModes, kind, isFragment }: ResourceContext): Pick<Notes, 'unlisted' | 'belongs'> {
  const unlisted = unlistedFiles(facts)
  const [first] = unlisted
  const isApplicable = kind === 'collections' && !hasModes && !isFragment && isShared(facts.collection.name)
  const belongs = isApplicable ? (environmentSpecific(facts)?.what ?? environmentKind(facts)) : undefined
  return { ...(first === undefined ? {} : { unlisted: { count: unlisted.length, first } }), ...(belongs === undefined ? {} : { belongs }) }
}

export function* simulatorInMode(facts: ResourceFacts): Generator<Violation> {
  const { collection, resource, path, own } = facts
  if (!isUserMode(collection.name) || typeOf(resource) !== deviceType || !/simulator/i.test(profileType(facts))) return
  // Modes are intended for a simulator in one and a real device of the same name in another.
  if (own !== undefined) return
  if (sightingsOf(facts).length === 0)
    yield at(facts, path, 'is a simulated device, the same in every environment: copies in deployment modes drift apart')
}

function sightingsOf({ resource, json }: ResourceFacts): Sighting[] {
  if (unsearchedTypes.has(typeOf(resource))) return []
  const key = foldName(resource.key)
  return [...json].flatMap(([file, value]) => findHosts(value, key, file))
}

/** `profile.type` of config.json, the variant of a type. */
function profileType({ json }: ResourceFacts): string {
  const config = json.get('config.json')
  const profile = isObject(config) ? config['profile'] : undefined
  const type = isObject(profile) ? profile['type'] : undefined
  return typeof type === 'string' ? type : ''
}

/** `local` is never delivered, so a fault in it is never an error. */
function at({ collection }: ResourceFacts, path: string, message: string): Violation {
  const found = { path, collection: collection.name, message }
  return foldName(collection.name) === 'local' ? { ...found, severity: 'warning' } : found
}

/** More unknown types than any gateway has modules for. Each is compared with every known type. */
const maxUnknownTypes = 500

/** One finding for each folder of a type. */
export function* misplacedType(facts: TreeFacts): Generator<Violation> {
  for (const { name, resources } of facts.tree.collections) {
    const seen = new Set<string>()
    for (const resource of resources) {
      const type = typeOf(resource)
      if (seen.has(type) || seen.size > maxUnknownTypes) continue
      seen.add(type)
      const meant = likelyPlace(resource.module, resource.type)
      if (meant === undefined) continue
      const message = `${type} is unknown to gateways, which do not load its resources: did you mean ${meant}?`
      yield { path: inRoot(facts, `${name}/${type}`), collection: name, message }
    }
  }
}

export function* missingNameFolder(facts: TreeFacts): Generator<Violation> {
  for (const { name, resources } of facts.tree.collections) {
    for (const resource of resources) {
      if (!lacksName(resource)) continue
      const message = `the manifest is directly in the folder of ${typeOf(resource)}, whose resources need a folder with their name: the gateway does not load it`
      yield { path: inRoot(facts, resource.folder), collection: name, message }
    }
  }
}

/** Whether the manifest is in the folder of a type whose resources have names, which does not make it a singleton. */
export function lacksName(resource: Resource): boolean {
  return resource.kind === 'singleton' && namedTypes.has(typeOf(resource))
}

export function* nameTooDeep(facts: TreeFacts): Generator<Violation> {
  for (const { name, resources } of facts.tree.collections) {
    for (const resource of resources) {
      const type = typeOf(resource)
      if (resource.kind !== 'named' || !namedTypes.has(type) || nestedTypes.has(type)) continue
      const written = resource.folder.slice(name.length + type.length + 2)
      if (!written.includes('/')) continue
      const below = written.split('/').length - 1
      const message = `is ${below === 1 ? 'one folder' : `${below} folders`} too deep, because names of ${type} do not nest: the gateway does not load it`
      yield { path: inRoot(facts, resource.folder), collection: name, message }
    }
  }
}
