/**
 * The data of one resource that checks between resources need: the resources it names, the tag types it defines and uses, the values that
 * no other gateway may have. Small, so that it can be kept from one commit to the next without the files. Pure.
 */
import { isObject } from '../../platform/text/json.ts'
import { hostsIn, isEverywhere } from './addresses.ts'
import {
  componentFields,
  createReferences,
  databaseType,
  findReferences,
  historianType,
  type Reference,
  type ReferenceSet,
  tagDefinitionType,
  tagTypeType,
  viewType,
} from './references.ts'
import { deviceType, localSingletons } from './resource-types.ts'
import { type TagNotes, tagNotesOf } from './tag-notes.ts'

/** A member is undefined if there is nothing of its kind. */
export type Notes = {
  references?: readonly Reference[]
  /** Identifies the resource besides its name. */
  uuid?: string
  /** Values that must differ from one environment to the next. */
  unique?: readonly Unique[]
  tags?: TagNotes
  /** Views of Perspective to be shown, by their path. */
  views?: readonly string[]
  /** Files that its manifest does not list. */
  unlisted?: { count: number; first: string }
  /** Why it belongs in a deployment mode, if the tree has none. */
  belongs?: string
}

const maxUuid = 256

/** The content of a resource for the checks; `json` holds its parsed files by name. */
export type NotedContent = {
  kind: 'collections' | 'projects'
  type: string
  /** Decoded, with the type. */
  key: string
  json: ReadonlyMap<string, unknown>
  hashes: ReadonlyMap<string, string>
  /** The value of the manifest, if it could be read. */
  manifest: Readonly<Record<string, unknown>> | undefined
  attributes: Readonly<Record<string, unknown>> | undefined
  /** Some JSON has no value here, because it is damaged or too large. */
  isPartial: boolean
}

/** Returns the notes of a resource; undefined if there are none. `more` was noted by the rules. */
export function notesOf(content: NotedContent, more: Pick<Notes, 'unlisted' | 'belongs'>): Notes | undefined {
  const { kind, type, key, json, hashes, manifest, attributes, isPartial } = content
  const notes: Notes = { ...more }
  const references = createReferences()
  // A disabled resource needs nothing and connects to nothing.
  const isDisabled = attributes?.['enabled'] === false
  if (type === tagDefinitionType || type === tagTypeType) {
    const tags = tagNotesOf(key.slice(type.length + 1), json, references, isPartial)
    if (tags !== undefined) notes.tags = tags
  } else if (!isDisabled) {
    findReferences(type, manifest === undefined ? json : new Map([...json, ['resource.json', manifest]]), references)
    const unique = uniqueValues(type, json, hashes)
    if (unique.length > 0) notes.unique = unique
  }
  const views = viewNotesOf(type, json, references)
  if (views.length > 0) notes.views = views
  const all = references.list()
  if (all.length > 0) notes.references = all
  const uuid = kind === 'collections' ? attributes?.['uuid'] : undefined
  if (typeof uuid === 'string' && uuid !== '' && uuid.length <= maxUuid) notes.uuid = uuid
  return Object.keys(notes).length === 0 ? undefined : notes
}

/** `what` completes "has the same …"; `value` is only compared. */
type Unique = { what: string; value: string }

type Row = { type: string; at: string; what: string; isAddress?: true }

const machine = 'target address'
const engine = 'com.cirruslink.mqtt.engine.gateway'
const transmission = 'com.cirruslink.mqtt.transmission.gateway'

const rows: readonly Row[] = [
  { type: databaseType, at: 'connectURL', what: machine, isAddress: true },
  { type: historianType, at: 'settings.jdbcUrl', what: machine, isAddress: true },
  { type: 'ignition/system-properties', at: 'systemName', what: 'gateway name' },
  { type: 'ignition/local-system-properties', at: 'systemUID', what: 'system UID' },
  { type: `${engine}/server-set`, at: 'primaryHostId', what: 'primary host ID' },
  { type: `${transmission}/server`, at: 'clientId', what: 'MQTT client ID' },
]

const maxValue = 1_024

function uniqueValues(type: string, json: ReadonlyMap<string, unknown>, hashes: ReadonlyMap<string, string>): Unique[] {
  const found: Unique[] = []
  const config = json.get('config.json')
  for (const { type: of, at, what, isAddress } of rows) {
    const value = of === type ? valueAt(config, at) : undefined
    if (typeof value !== 'string' || value.trim() === '' || value.length > maxValue || /\{\{|\{%|\$\{/.test(value)) continue
    if (isAddress !== true || hostsIn(value, '').some(isElsewhere)) found.push({ what, value: value.trim().toLowerCase() })
  }
  const target = type === deviceType ? deviceTarget(valueAt(config, 'settings')) : undefined
  if (target !== undefined) found.push({ what: machine, value: target })
  // Keys and UUIDs, regardless of the content of their files.
  if (localSingletons.has(type))
    for (const [file, hash] of hashes) if (file !== 'config.json') found.push({ what: `content of ${file.slice(0, 80)}`, value: hash })
  return found
}

/** Settings with which a driver distinguishes devices at one address. */
const partOfAddress = /port|slot|rack|unit|node|path|database|schema|channel/i

function deviceTarget(settings: unknown): string | undefined {
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

/** A name without a dot is resolved in the network of each environment, where it may be another machine. */
function isElsewhere(host: string): boolean {
  return !isEverywhere(host) && /[.:]/.test(host)
}

function valueAt(value: unknown, path: string): unknown {
  let found = value
  for (const key of path.split('.')) found = isObject(found) ? found[key] : undefined
  return found
}

const perspective = 'com.inductiveautomation.perspective'
const pageType = `${perspective}/page-config`

/** Components whose property `path` is a view. */
const embeds: ReadonlySet<string> = new Set(['ia.display.view', 'ia.display.flex-repeater'])
const maxDepth = 64
const maxViews = 2_000
const maxPath = 512
/** Longer places are not searched, because comparing them with bindings would not take linear time. */
const maxPlace = 512

/**
 * The views that a resource of the given type names; `json` holds its parsed files by name. Names in its components go into `references`.
 */
export function viewNotesOf(type: string, json: ReadonlyMap<string, unknown>, references: ReferenceSet): string[] {
  const named = new Set<string>()
  if (type === pageType) findPaths(json.get('config.json'), '', 0, new Set(), named)
  if (type === viewType) {
    const view = json.get('view.json')
    if (isObject(view)) component(view['root'], 0, named, references)
  }
  return [...named]
}

function component(value: unknown, depth: number, named: Set<string>, references: ReferenceSet): void {
  if (!isObject(value) || depth > maxDepth) return
  const { type, props, propConfig, events, children } = value
  const bound = new Set(isObject(propConfig) ? Object.keys(propConfig).filter((key) => isBound(propConfig[key])) : [])
  if (isObject(props) && !bound.has('props')) {
    if (typeof type === 'string' && embeds.has(type) && !bound.has('props.path')) add(props['path'], named)
    const fields = typeof type === 'string' && Object.hasOwn(componentFields, type) ? componentFields[type] : undefined
    for (const [field, to] of Object.entries(fields ?? {})) {
      if (!bound.has(`props.${field}`)) references.add(to, props[field], `${String(type)} props.${field}`)
    }
    findPaths(props, 'props', depth, bound, named)
  }
  for (const list of isObject(events) ? Object.values(events) : []) popups(list, depth, named)
  if (Array.isArray(children)) for (const child of children) component(child, depth + 1, named, references)
}

function isBound(config: unknown): boolean {
  return isObject(config) && config['binding'] !== undefined
}

/** Every `viewPath` below a place that is not set by a binding. */
function findPaths(value: unknown, at: string, depth: number, bound: ReadonlySet<string>, named: Set<string>): void {
  if (depth > maxDepth || typeof value !== 'object' || value === null) return
  for (const [key, member] of Object.entries(value)) {
    if (at.length + key.length > maxPlace) continue
    const place = Array.isArray(value) ? `${at}[${key}]` : `${at}.${key}`
    if (bound.has(place)) continue
    if (key === 'viewPath') add(member, named)
    else findPaths(member, place, depth + 1, bound, named)
  }
}

/** Actions that open a popup. */
function popups(value: unknown, depth: number, named: Set<string>): void {
  if (depth > maxDepth || typeof value !== 'object' || value === null) return
  if (isObject(value) && value['type'] === 'popup') {
    const config = value['config']
    if (isObject(config) && config['mode'] !== 'close') add(config['viewPath'], named)
    return
  }
  for (const member of Object.values(value)) popups(member, depth + 1, named)
}

function add(path: unknown, named: Set<string>): void {
  if (typeof path !== 'string' || path.length > maxPath || named.size >= maxViews || /[{}[\]]/.test(path)) return
  const name = path.trim().replace(/^\/|\/$/g, '')
  if (name !== '') named.add(name)
}
