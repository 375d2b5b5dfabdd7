/**
 * Checks of what resources say of each other: that what one names exists for every gateway that reads it, and that no two are the same
 * where they should differ. Pure.
 */
import { foldName } from '../../gatewaysync/values.ts'
import { defaultResources, tagProviderType } from '../model/resource-types.ts'
import { isUserMode } from '../model/inheritance.ts'
import { databaseType, identityProviderType, type Reference, secretProviderType, tagTypeType, userSourceType } from '../model/notes.ts'
import { nearest } from '../model/known-types.ts'
import { type Found, inRoot } from './input.ts'
import { isEffective, type Noted, type Overview, type View } from './overview.ts'

const called: Readonly<Record<string, string>> = {
  [databaseType]: 'database connection',
  [secretProviderType]: 'secret provider',
  [userSourceType]: 'user source',
  [identityProviderType]: 'identity provider',
  [tagProviderType]: 'tag provider',
}

/** Types that a gateway brings itself, so that a repository may well leave them out as a whole. */
const oftenLeftOut: ReadonlySet<string> = new Set([userSourceType, identityProviderType])

export function* missingReference(overview: Overview): Generator<Found> {
  if (!overview.isWhole) return
  let suggestions = 0
  for (const noted of overview.noted) {
    for (const reference of noted.notes?.references ?? []) {
      const views = overview.views.filter((view) => isEffective(overview, view, noted))
      const without = views.filter((view) => !isNamed(overview, view, reference))
      if (without.length === 0 || isDefault(reference) || isLeftOut(overview, reference.type)) continue
      const what = `names the ${called[reference.type] ?? reference.type} "${reference.name.slice(0, 80)}" at ${reference.at.slice(0, 200)}`
      suggestions += 1
      const meant = suggestions > maxSuggestions ? '' : suggestion(overview, reference)
      const message = `${what}, which ${isSomewhere(overview, reference) ? lack(without) : `does not exist${meant}`}`
      yield { path: inRoot(overview, noted.folder), collection: noted.collection, message }
    }
  }
  yield* missingTagProvider(overview)
}

/** The folder of a provider's tags is named after it. */
function* missingTagProvider(overview: Overview): Generator<Found> {
  if (isLeftOut(overview, tagProviderType)) return
  for (const { collection, provider, folder } of overview.tagFolders) {
    const reference = { type: tagProviderType, name: provider, at: '' }
    const views = overview.views.filter(({ chain }) => chain.includes(foldName(collection)))
    const without = views.filter((view) => !isNamed(overview, view, reference))
    if (without.length === 0 || builtInProviders.has(foldName(provider))) continue
    const message = `holds tags of the tag provider "${provider.slice(0, 80)}", which ${isSomewhere(overview, reference) ? lack(without) : 'does not exist'}`
    yield { path: inRoot(overview, folder), collection, message }
  }
}

/** Every gateway has it, with or without files. */
const builtInProviders: ReadonlySet<string> = new Set(['system'])

function isNamed({ names }: Overview, { chain }: View, { type, name }: Reference): boolean {
  const byCollection = names.get(type)
  return chain.some((collection) => byCollection?.get(collection)?.has(foldName(name)) === true)
}

/** Whether any gateway has it, be it in another deployment mode. */
function isSomewhere({ names }: Overview, { type, name }: Reference): boolean {
  for (const [collection, own] of names.get(type) ?? []) if (collection !== 'local' && own.has(foldName(name))) return true
  return false
}

function isDefault({ type, name }: Reference): boolean {
  return defaultResources.has(`${type}/${foldName(name)}`)
}

function isLeftOut({ names }: Overview, type: string): boolean {
  if (!oftenLeftOut.has(type) && type !== tagProviderType) return false
  for (const all of names.get(type)?.values() ?? []) for (const name of all) if (!defaultResources.has(`${type}/${name}`)) return false
  return true
}

function lack(without: readonly View[]): string {
  return `${modesOf(without)} ${without.length === 1 ? 'does' : 'do'} not have`
}

/** Each compares the name with others letter by letter. */
const maxSuggestions = 50

function suggestion({ names }: Overview, { type, name }: Reference): string {
  const all = [...(names.get(type)?.values() ?? [])].flatMap((set) => [...set])
  const meant = nearest(
    foldName(name),
    all.filter((other) => other !== foldName(name)),
  )
  return meant === undefined ? '' : `: did you mean "${meant}"?`
}

/** The names of modes in a sentence. */
export function modesOf(views: readonly View[]): string {
  const [only] = views
  if (views.length === 1 && only?.mode === '') return 'a gateway without a deployment mode'
  const names = views.map(({ mode }) => (mode === '' ? 'none' : `"${mode}"`))
  const last = names.pop() ?? ''
  return names.length === 0 ? `the deployment mode ${last}` : `the deployment modes ${names.join(', ')} and ${last}`
}

export function* unknownTagType(overview: Overview): Generator<Found> {
  if (!overview.isWhole) return
  const types = definedTypes(overview.noted)
  for (const noted of overview.noted) {
    const views = overview.views.filter((view) => isEffective(overview, view, noted))
    const missing = (noted.notes?.uses ?? []).filter((typeId) => views.some((view) => isUnknown(typeId, noted, view, types)))
    const [first] = missing
    if (first === undefined) continue
    const more = missing.length === 1 ? '' : ` (and ${missing.length - 1} more)`
    const message = `is made of the tag type "${first.slice(0, 120)}", which its tag provider does not have${more}`
    yield { path: inRoot(overview, noted.folder), collection: noted.collection, message }
  }
}

/** The types of each provider by collection; undefined where not all of them are known. */
type DefinedTypes = ReadonlyMap<string, Map<string, Set<string>> | undefined>

function definedTypes(all: readonly Noted[]): DefinedTypes {
  const types = new Map<string, Map<string, Set<string>> | undefined>()
  for (const { key, collection, notes } of all) {
    if (notes === undefined || !key.startsWith(`${tagTypeType}/`)) continue
    const provider = providerOf(key)
    const known = types.has(provider) ? types.get(provider) : new Map<string, Set<string>>()
    types.set(provider, notes.isPartial ? undefined : known)
    const own = known?.get(foldName(collection)) ?? new Set<string>()
    for (const name of notes.defines) own.add(name)
    known?.set(foldName(collection), own)
  }
  return types
}

function isUnknown(typeId: string, { key }: Noted, { chain }: View, types: DefinedTypes): boolean {
  // What a parameter fills in is known only at run time.
  if (typeId.includes('{')) return false
  const [, named, path = ''] = /^(?:\[([^\]]*)\])?(?:_types_\/)?(.*)$/s.exec(foldName(typeId)) ?? []
  const byCollection = types.get(named ?? providerOf(key))
  const known = chain.flatMap((collection) => byCollection?.get(collection) ?? [])
  const name = path.replace(/^\/|\/$/g, '')
  // A provider without a single type has them from elsewhere: from a module, or from another gateway.
  return known.some(({ size }) => size > 0) && !known.some((names) => names.has(name))
}

/** `key` is folded: `ignition/tag-definition/<provider>/...`. */
function providerOf(key: string): string {
  return key.split('/')[2] ?? ''
}

export function* duplicateUuid(overview: Overview): Generator<Found> {
  const byUuid = new Map<string, Noted[]>()
  for (const noted of overview.noted) {
    const uuid = noted.notes?.uuid
    if (uuid === undefined) continue
    const id = `${foldName(noted.collection)} ${foldName(uuid)}`
    const same = byUuid.get(id)
    if (same === undefined) byUuid.set(id, [noted])
    else same.push(noted)
  }
  for (const same of byUuid.values()) {
    if (same.length === 1) continue
    const [first, ...others] = same.toSorted((a, b) => (a.folder < b.folder ? -1 : 1))
    for (const { folder, collection } of others) {
      const message = `has the same uuid as ${first?.folder.slice(0, 300)}: one was likely copied from the other`
      yield { path: inRoot(overview, folder), collection, message }
    }
  }
}

export function* sameTarget(overview: Overview): Generator<Found> {
  const seen = new Map<string, Noted[]>()
  for (const noted of overview.noted) {
    const target = noted.notes?.target
    if (target === undefined || !isUserMode(noted.collection)) continue
    const id = `${noted.key} ${target}`
    const others = seen.get(id) ?? []
    const other = others.find(({ collection }) => areApart(overview, collection, noted.collection))
    if (other !== undefined) {
      const message = `talks to the same machine as in the deployment mode "${other.collection}"`
      yield { path: inRoot(overview, noted.folder), collection: noted.collection, message }
    }
    seen.set(id, [...others, noted])
  }
}

/** Neither mode inherits from the other. */
function areApart({ ancestors }: Overview, some: string, other: string): boolean {
  const [a, b] = [foldName(some), foldName(other)]
  return a !== b && ancestors.get(a)?.has(b) !== true && ancestors.get(b)?.has(a) !== true
}
