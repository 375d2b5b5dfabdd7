/**
 * Checks of the values in JSON files: secrets that cannot be decrypted, views that show nothing, objects in place of lists, wrong fields of
 * manifests, and values that two gateways or two resources must not share. Pure.
 */
import { foldName } from '../../api/values.ts'
import { isObject } from '../../platform/text/json.ts'
import { isUserMode } from '../model/inheritance.ts'
import { tagDefinitionType, tagTypeType, userSourceType, viewType } from '../model/references.ts'
import { localSingletons } from '../model/resource-types.ts'
import { type Violation, inRoot, type ResourceCheck, type ResourceFacts, type TreeFacts, typeOf } from './input.ts'
import type { Noted, Overview } from './overview.ts'

/** The parts of a JSON Web Encryption, in each secret that a gateway wrote. */
const secretParts = ['protected', 'encrypted_key', 'iv', 'ciphertext', 'tag'] as const
const maxDepth = 64
const maxPlace = 512

export const brokenSecret: ResourceCheck = function* (facts: ResourceFacts): Generator<Violation> {
  for (const [file, value] of facts.json) {
    const [first] = brokenIn(value, '', 0)
    if (first !== undefined)
      yield found(facts, fileAt(facts, file), `${first.problem} at ${first.at.slice(0, maxPlace)}: the gateway cannot read it`)
  }
}

function* brokenIn(value: unknown, at: string, depth: number): Generator<{ at: string; problem: string }> {
  if (depth > maxDepth || typeof value !== 'object' || value === null) return
  if (isObject(value) && value['type'] === 'Embedded' && Object.hasOwn(value, 'data')) {
    const { data } = value
    const problem = typeof data === 'string' ? 'contains a secret in plain text instead of its encrypted form' : lackingParts(data)
    if (problem !== undefined) yield { at, problem }
    return
  }
  for (const [key, member] of Object.entries(value)) {
    if (typeof member === 'object') yield* brokenIn(member, at.length > maxPlace ? at : at === '' ? key : `${at}.${key}`, depth + 1)
  }
}

function lackingParts(data: unknown): string | undefined {
  if (!isObject(data)) return undefined
  const lacking = secretParts.filter((part) => typeof data[part] !== 'string')
  return lacking.length === 0 ? undefined : `contains an encrypted secret without its ${lacking.join(', ')}`
}

export const viewWithoutRoot: ResourceCheck = function* (facts: ResourceFacts): Generator<Violation> {
  if (typeOf(facts.resource) !== viewType) return
  const view = facts.json.get('view.json')
  if (isObject(view) && !isObject(view['root']))
    yield found(facts, fileAt(facts, 'view.json'), 'has no root component: the view shows nothing')
}

type Shape = { file: string; type?: string; isList?: true }

/** Which JSON files hold an object and which a list. Without a type, the row applies to all types. */
const shapes: readonly Shape[] = [
  { file: 'config.json' },
  { file: 'backupConfig.json' },
  { file: 'view.json' },
  { file: 'users.json', type: userSourceType },
  ...[tagDefinitionType, tagTypeType].flatMap((type) => ['tags.json', 'udts.json'].map((file) => ({ file, type, isList: true as const }))),
]

export const wrongShape: ResourceCheck = function* (facts: ResourceFacts): Generator<Violation> {
  const type = typeOf(facts.resource)
  for (const { file, type: of = type, isList = false } of shapes) {
    const value = of === type ? facts.json.get(file) : undefined
    if (value === undefined) continue
    if (isList ? !Array.isArray(value) : !isObject(value))
      yield found(
        facts,
        fileAt(facts, file),
        `is ${shapeOf(value)} instead of ${isList ? 'a list' : 'an object'}: the gateway cannot read it`,
      )
  }
  if (type === tagDefinitionType || type === tagTypeType) {
    for (const [file, value] of facts.json) {
      const wrong = Array.isArray(value) ? noList({ tags: value }, 'tags', '', 0) : undefined
      if (wrong !== undefined) yield found(facts, fileAt(facts, file), `${wrong}: the gateway cannot read these tags`)
    }
  }
  const view = type === viewType ? facts.json.get('view.json') : undefined
  const wrong = isObject(view) ? noList(view['root'], 'children', 'root', 0) : undefined
  // The view is loaded, and fails only where it is shown.
  if (wrong !== undefined) yield { ...found(facts, fileAt(facts, 'view.json'), `${wrong}: the view cannot be shown`), severity: 'warning' }
}

/** Describes the first place below a value where a member that must be a list is something else. */
function noList(value: unknown, key: string, at: string, depth: number): string | undefined {
  if (!isObject(value) || depth > maxDepth) return undefined
  const members = value[key]
  const place = at === '' ? key : `${at.slice(0, maxPlace)}.${key}`
  if (!Array.isArray(members))
    return members === undefined || members === null ? undefined : `has ${shapeOf(members)} instead of a list at ${place}`
  for (const [index, member] of members.entries()) {
    const wrong = noList(member, key, `${place}[${index}]`, depth + 1)
    if (wrong !== undefined) return wrong
  }
  return undefined
}

function shapeOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'a list' : typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

function fileAt({ resource }: ResourceFacts, file: string): string {
  return `${resource.manifest.path.slice(0, resource.manifest.path.lastIndexOf('/') + 1)}${file}`
}

/** Gateways never get `local`, so nothing in it is an error. */
function found({ collection }: ResourceFacts, path: string, message: string): Violation {
  const all = { path, collection: collection.name, message }
  return foldName(collection.name) === 'local' ? { ...all, severity: 'warning' } : all
}

export function* duplicateUuid(overview: Overview): Generator<Violation> {
  const withUuid = overview.noted.filter(({ notes }) => notes?.uuid !== undefined)
  const byUuid = Map.groupBy(withUuid, ({ collection, notes }) => `${foldName(collection)} ${foldName(notes?.uuid ?? '')}`)
  for (const same of byUuid.values()) {
    const [first, ...others] = same.toSorted((a, b) => (a.folder < b.folder ? -1 : 1))
    for (const { folder, collection } of others) {
      const message = `has the same uuid as ${first?.folder.slice(0, 300)}: a gateway may confuse them`
      yield { path: inRoot(overview, folder), collection, message }
    }
  }
}

export function* sameValueInModes(overview: Overview): Generator<Violation> {
  const seen = new Map<string, Noted[]>()
  for (const noted of overview.noted) {
    if (!isUserMode(noted.collection)) continue
    for (const { what, value } of noted.notes?.unique ?? []) {
      const id = JSON.stringify([noted.key, what, value])
      const others = seen.get(id) ?? []
      const other = others.find(({ collection }) => areApart(overview, collection, noted.collection))
      if (other !== undefined) {
        const message = `has the same ${what} as in the deployment mode "${other.collection}": the two environments are not separate`
        yield { path: inRoot(overview, noted.folder), collection: noted.collection, message }
      }
      seen.set(id, [...others, noted])
    }
  }
}

/** Whether neither mode inherits from the other. */
function areApart({ ancestors }: Overview, some: string, other: string): boolean {
  const [a, b] = [foldName(some), foldName(other)]
  return a !== b && ancestors.get(a)?.has(b) !== true && ancestors.get(b)?.has(a) !== true
}

/** Resources that a gateway keeps in `local`, found in a collection that every gateway reads. */
export function* machineIdentity(facts: TreeFacts): Generator<Violation> {
  for (const { name, resources } of facts.tree.collections) {
    if (foldName(name) !== 'core' && foldName(name) !== 'external') continue
    for (const resource of resources) {
      if (!localSingletons.has(typeOf(resource))) continue
      const message = `contains ${typeOf(resource)}, the identity of one machine: every gateway that reads ${name} would share it`
      yield { path: inRoot(facts, resource.folder), collection: name, message }
    }
  }
}

/** The identity of a machine as one of several settings of a resource. */
export function* machineSetting({ collection, resource, path, json }: ResourceFacts): Generator<Violation> {
  if (foldName(collection.name) !== 'core' && foldName(collection.name) !== 'external') return
  if (localSingletons.has(typeOf(resource))) return
  const config = json.get('config.json')
  const uid = typeof config === 'object' && config !== null && 'systemUID' in config ? config.systemUID : undefined
  if (typeof uid !== 'string' || uid === '') return
  yield {
    path,
    collection: collection.name,
    message: 'contains the systemUID of one machine: every gateway that reads it would share it',
  }
}

/** Gateway, Designer, client, all, none. */
const scopes = /^[GDCAN]+$/

export const invalidManifestField: ResourceCheck = function* ({ collection, parsed, resource }: ResourceFacts): Generator<Violation> {
  // No gateway reads the `local` of a repository.
  if (parsed.kind !== 'ok' || foldName(collection.name) === 'local') return
  const problems = [...problemsOf(parsed.value)]
  const [first] = problems
  if (first === undefined) return
  const more = problems.length === 1 ? '' : ` (and ${problems.length - 1} more)`
  yield { path: resource.manifest.path, collection: collection.name, message: `${first}${more}: how a gateway handles it is unknown` }
}

function* problemsOf(value: Readonly<Record<string, unknown>>): Generator<string> {
  const { scope, version, attributes } = value
  if (typeof scope !== 'string' || !(scopes.test(scope) || isTemplateText(scope)))
    yield `${describeField('scope', scope)}, which must consist of the letters A, G, D and C`
  if (!Number.isInteger(version) && !isTemplateText(version)) yield `${describeField('version', version)}, which must be a whole number`
  for (const name of ['restricted', 'overridable']) {
    const flag = value[name]
    if (flag !== undefined && typeof flag !== 'boolean' && !isTemplateText(flag))
      yield `${describeField(name, flag)}, which must be true or false`
  }
  const modified = isObject(attributes) ? attributes['lastModification'] : undefined
  if (modified === undefined || modified === null) return
  const timestamp = isObject(modified) ? modified['timestamp'] : undefined
  if (!isTime(timestamp) && !isTemplateText(timestamp))
    yield `${describeField('lastModification.timestamp', timestamp)}, which must be a time such as 2026-01-15T08:00:00Z`
}

function isTime(value: unknown): boolean {
  return typeof value === 'number' || (typeof value === 'string' && value.length < 64 && !Number.isNaN(Date.parse(value)))
}

/** The value of a template is known only after it is rendered. */
function isTemplateText(value: unknown): boolean {
  return typeof value === 'string' && /\{\{|\{%|\$\{/.test(value)
}

function describeField(name: string, value: unknown): string {
  if (value === undefined) return `has no ${name}`
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? `has "${name}": ${JSON.stringify(value).slice(0, 80)}`
    : `has ${value === null ? 'null' : Array.isArray(value) ? 'a list' : 'an object'} as ${name}`
}
