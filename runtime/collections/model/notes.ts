/**
 * What one resource says that others have a part in: which resources it names, which types of tags it defines and uses, which machine it
 * talks to. Small, so that it can be kept from one commit to the next without the files. Pure.
 */
import { foldName } from '../../gatewaysync/values.ts'
import { hostsIn, isEverywhere } from './addresses.ts'
import { isObject } from '../../json.ts'

/** `type` is `<module>/<type>` of what is named; `at` tells where the name stands. */
export type Reference = { type: string; name: string; at: string }

/** What one resource says; lists hold what was written, in the order of the files. */
export type Notes = {
  references: readonly Reference[]
  /** What a gateway knows the resource by beside its name. */
  uuid: string | undefined
  /** The machine it talks to, with whatever tells several there apart. */
  target: string | undefined
  /** Types of tags, by their path within the provider, folded. */
  defines: readonly string[]
  /** Types that tags and types are made of, as they are written. */
  uses: readonly string[]
  /** Views of Perspective that are to be shown, by their path. */
  views: readonly string[]
  /** A file was too large to be looked into: there may be more of everything. */
  isPartial: boolean
}

export const databaseType = 'ignition/database-connection'
export const secretProviderType = 'ignition/secret-provider'
export const userSourceType = 'ignition/user-source'
export const identityProviderType = 'ignition/identity-provider'
export const tagDefinitionType = 'ignition/tag-definition'
export const tagTypeType = 'ignition/tag-type-definition'
const deviceType = 'com.inductiveautomation.opcua/device'
const historianType = 'com.inductiveautomation.historian/historian-provider'

/** Types whose names others refer to. */
export const referredTypes: ReadonlySet<string> = new Set([databaseType, secretProviderType, userSourceType, identityProviderType])

/** Keys below `settings` that hold the name of a database connection. */
const databaseKeys: ReadonlySet<string> = new Set(['datasource', 'datasourceName', 'defaultDatasourceName', 'databaseConnection'])
/** Types that also call it so; elsewhere the key may mean a database within a server. */
const namesDatabase: ReadonlySet<string> = new Set(['ignition/alarm-journal', 'ignition/audit-profile'])
const pathOfDatabase = 'settings.database'

/** Fixed places of a name, by the type that holds it. */
const fixedPlaces: Readonly<Record<string, readonly { at: string; type: string }[]>> = {
  [databaseType]: [{ at: 'failoverProfile', type: databaseType }],
  [identityProviderType]: [{ at: 'settings.userSource', type: userSourceType }],
  'ignition/security-properties': [
    { at: 'systemAuthProfile', type: userSourceType },
    { at: 'systemIdentityProvider', type: identityProviderType },
  ],
  'com.inductiveautomation.opcua/server-config': [{ at: 'authenticationProfile', type: userSourceType }],
}

const maxDepth = 32
/** More names than any resource has; the rest would tell nothing new. */
const maxNames = 2_000
const maxName = 256
/** Types of one provider beyond these, and places beyond this length, are somebody's attempt on the memory of whoever looks. */
const maxDefined = 20_000
const maxPlace = 512

/**
 * Takes the parsed JSON of a resource by the name of its file; a `name` of several segments is joined by `/`. Undefined where there is
 * nothing to note.
 */
export function notesOf(
  { type, key }: { type: string; key: string },
  json: ReadonlyMap<string, unknown>,
  attributes: Readonly<Record<string, unknown>> | undefined,
  isPartial: boolean,
): Notes | undefined {
  // What is switched off asks for nothing and talks to nobody.
  const isDisabled = attributes?.['enabled'] === false
  const isTags = type === tagDefinitionType || type === tagTypeType
  const tags = isTags ? tagTypesOf(key.slice(type.length + 1), json) : { defines: [], uses: [], isPartial: false }
  const uuid = attributes?.['uuid']
  const notes = {
    references: isTags || isDisabled ? [] : referencesOf(type, json),
    uuid: typeof uuid === 'string' && uuid !== '' && uuid.length <= maxName ? uuid : undefined,
    target: isDisabled ? undefined : targetOf(type, json.get('config.json')),
    defines: tags.defines,
    uses: tags.uses,
    views: [],
    isPartial: isTags && (isPartial || tags.isPartial),
  }
  const hasNone = notes.references.length + notes.defines.length + notes.uses.length === 0
  return hasNone && notes.uuid === undefined && notes.target === undefined && !notes.isPartial ? undefined : notes
}

function referencesOf(type: string, json: ReadonlyMap<string, unknown>): Reference[] {
  const found: Reference[] = []
  const add = (wanted: string, name: unknown, at: string): void => {
    // A name that is filled in on the way is known only there.
    if (typeof name !== 'string' || name === '' || name.length > maxName || /\{\{|\{%|\$\{/.test(name)) return
    if (found.length < maxNames) found.push({ type: wanted, name, at })
  }
  const config = json.get('config.json')
  for (const { at, type: wanted } of fixedPlaces[type] ?? []) add(wanted, valueAt(config, at), at)
  if (namesDatabase.has(type)) add(databaseType, valueAt(config, pathOfDatabase), pathOfDatabase)
  const settings = valueAt(config, 'settings')
  if (isObject(settings)) findDatabases(settings, 'settings', 0, add)
  for (const value of json.values()) findSecrets(value, '', 0, add)
  return found
}

type Add = (type: string, name: unknown, at: string) => void

function findDatabases(value: Record<string, unknown>, at: string, depth: number, add: Add): void {
  for (const [key, member] of Object.entries(value)) {
    if (databaseKeys.has(key)) add(databaseType, member, placeBelow(at, key))
    else if (depth < 2 && isObject(member)) findDatabases(member, placeBelow(at, key), depth + 1, add)
  }
}

/** A secret that is kept elsewhere names its provider. */
function findSecrets(value: unknown, at: string, depth: number, add: Add): void {
  if (depth > maxDepth || typeof value !== 'object' || value === null) return
  if (isObject(value) && value['type'] === 'Referenced') {
    const data = isObject(value['data']) ? value['data'] : value
    add(secretProviderType, data['providerName'], at)
  }
  for (const [key, member] of Object.entries(value)) {
    if (typeof member === 'object') findSecrets(member, placeBelow(at, key), depth + 1, add)
  }
}

function placeBelow(at: string, key: string): string {
  if (at.length > maxPlace) return at
  const name = key.slice(0, maxName)
  return at === '' ? name : `${at}.${name}`
}

function valueAt(value: unknown, path: string): unknown {
  let found = value
  for (const key of path.split('.')) found = isObject(found) ? found[key] : undefined
  return found
}

/** Settings by which a driver tells apart what lies behind one address. */
const partOfAddress = /port|slot|rack|unit|node|path|database|schema|channel/i

function targetOf(type: string, config: unknown): string | undefined {
  if (type === databaseType) return addressOf(valueAt(config, 'connectURL'))
  if (type === historianType) return addressOf(valueAt(config, 'settings.jdbcUrl'))
  const settings = type === deviceType ? valueAt(config, 'settings') : undefined
  if (!isObject(settings)) return undefined
  const parts: string[] = []
  let hasHost = false
  collectAddress(settings, 0, (name, value) => {
    const hosts = typeof value === 'string' ? hostsIn(value, name) : []
    if (hosts.some(isElsewhere)) hasHost = true
    if (hosts.length > 0 || partOfAddress.test(name)) parts.push(`${name}=${String(value).toLowerCase()}`)
  })
  return hasHost ? parts.toSorted().join(' ') : undefined
}

function collectAddress(value: Record<string, unknown>, depth: number, take: (name: string, value: unknown) => void): void {
  for (const [name, member] of Object.entries(value)) {
    if (isObject(member)) {
      if (depth < 3) collectAddress(member, depth + 1, take)
    } else if (typeof member === 'string' || typeof member === 'number') take(name, member)
  }
}

function addressOf(url: unknown): string | undefined {
  return typeof url === 'string' && hostsIn(url, '').some(isElsewhere) ? url.trim().toLowerCase() : undefined
}

/** A name without a dot is looked up in the network of each environment, where it may be another machine. */
function isElsewhere(host: string): boolean {
  return !isEverywhere(host) && /[.:]/.test(host)
}

/**
 * The types that files of a tag folder define and use. `folder` is `<provider>[/<folder>...]`, perhaps with `_unary` at its end. `isPartial`:
 * it defines more than was looked at.
 */
function tagTypesOf(
  folder: string,
  json: ReadonlyMap<string, unknown>,
): { defines: readonly string[]; uses: readonly string[]; isPartial: boolean } {
  const [, ...below] = folder.split('/').filter((name) => name !== '_unary')
  const found = { defines: new Set<string>(), uses: new Set<string>(), isPartial: false }
  for (const value of json.values()) walkTags(value, below.join('/'), 0, found)
  return { defines: [...found.defines], uses: [...found.uses], isPartial: found.isPartial }
}

type TagTypes = { defines: Set<string>; uses: Set<string>; isPartial: boolean }

function walkTags(value: unknown, folder: string, depth: number, into: TagTypes): void {
  if (depth > maxDepth || folder.length > maxPlace) {
    into.isPartial = true
    return
  }
  for (const tag of Array.isArray(value) ? value : [value]) {
    if (!isObject(tag)) continue
    const { name, tagType, typeId, tags } = tag
    const path = typeof name !== 'string' ? folder : folder === '' ? name : `${folder}/${name}`
    if (typeof name === 'string' && tagType === 'UdtType') define(path, into)
    const isMade = tagType === 'UdtInstance' || tagType === 'UdtType'
    if (isMade && typeof typeId === 'string' && typeId !== '' && into.uses.size < maxNames) into.uses.add(typeId.slice(0, maxName))
    if (tags !== undefined) walkTags(tags, tagType === 'Folder' ? path : folder, depth + 1, into)
  }
}

function define(path: string, into: TagTypes): void {
  if (path.length > maxPlace || into.defines.size >= maxDefined) into.isPartial = true
  else into.defines.add(foldName(path))
}
