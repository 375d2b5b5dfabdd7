/**
 * The table of references between resources: type and field that hold the name of a resource, and the type of that resource. A new reference is
 * a new row. Pure.
 */
import { foldName } from '../../api/values.ts'
import { isObject } from '../../platform/text/json.ts'

/** `type` is the `<module>/<type>` of the named resource; `at` is the place of the name. */
export type Reference = { type: string; name: string; at: string }

const vendor = 'com.inductiveautomation'
export const databaseType = 'ignition/database-connection'
const secretProviderType = 'ignition/secret-provider'
export const userSourceType = 'ignition/user-source'
const identityProviderType = 'ignition/identity-provider'
export const tagProviderType = 'ignition/tag-provider'
export const tagGroupType = 'ignition/tag-group'
export const tagDefinitionType = 'ignition/tag-definition'
export const tagTypeType = 'ignition/tag-type-definition'
export const historianType = `${vendor}.historian/historian-provider`
const journalType = 'ignition/alarm-journal'
const auditType = 'ignition/audit-profile'
const scheduleType = 'ignition/schedule'
const emailType = 'ignition/email-profile'
const opcConnectionType = 'ignition/opc-connection'
const pipelineType = `${vendor}.alarm-notification/alarm-pipelines`
const engine = 'com.cirruslink.mqtt.engine.gateway'
const transmission = 'com.cirruslink.mqtt.transmission.gateway'
/** A project is referenced like a resource, although it is a separate folder. */
export const projectType = 'project'

type Target = {
  /** Its name in messages. */
  called: string
  /** Names that every gateway has, folded. */
  builtIn?: RegExp
  /** Gateways create some themselves, so a repository may leave out the whole type. */
  mayBeLeftOut?: true
  /** Kept in projects, not in collections. */
  inProjects?: true
}

/** Every type with resources that other resources name. */
export const targets: Readonly<Record<string, Target>> = {
  [databaseType]: { called: 'database connection' },
  [secretProviderType]: { called: 'secret provider' },
  [userSourceType]: { called: 'user source', builtIn: /^(?:opcua-module|temp)$/, mayBeLeftOut: true },
  [identityProviderType]: { called: 'identity provider', mayBeLeftOut: true },
  [tagProviderType]: { called: 'tag provider', builtIn: /^system$/, mayBeLeftOut: true },
  [tagGroupType]: { called: 'tag group', builtIn: /\/default(?: historical)?$/, mayBeLeftOut: true },
  [historianType]: { called: 'historian', builtIn: /^(?:edge historian|internal historian)$/ },
  [journalType]: { called: 'alarm journal' },
  [auditType]: { called: 'audit profile' },
  [scheduleType]: { called: 'schedule', builtIn: /^(?:always|example)$/, mayBeLeftOut: true },
  [emailType]: { called: 'email profile' },
  [opcConnectionType]: { called: 'OPC connection', builtIn: /^ignition opc[ -]ua server$/, mayBeLeftOut: true },
  [`${engine}/server-set`]: { called: 'MQTT server set', mayBeLeftOut: true },
  [`${transmission}/server-set`]: { called: 'MQTT server set', mayBeLeftOut: true },
  [pipelineType]: { called: 'alarm pipeline', inProjects: true },
  [projectType]: { called: 'project', inProjects: true },
}

/**
 * `from` undefined: every type. `at` is a path in the file of settings: `*` matches each member, and `**` any depth. `file` is another file of the
 * resource; `resource.json` is its manifest. `beside`: only if the object has this member too.
 */
type Row = { from?: string; file?: string; at: string; to: string; beside?: string }

/** Types of projects that refer to resources of the gateway. */
const namedQueryType = 'ignition/named-query'
export const scriptType = 'ignition/script-python'
export const viewType = `${vendor}.perspective/views`

const rows: readonly Row[] = [
  { at: '**.providerName', beside: 'secretName', to: secretProviderType },
  { at: 'settings.**.datasource', to: databaseType },
  { at: 'settings.**.datasourceName', to: databaseType },
  { at: 'settings.**.defaultDatasourceName', to: databaseType },
  { at: 'settings.**.databaseConnection', to: databaseType },
  { from: databaseType, at: 'failoverProfile', to: databaseType },
  { from: journalType, at: 'settings.database', to: databaseType },
  { from: auditType, at: 'settings.database', to: databaseType },
  { from: auditType, at: 'settings.databaseName', to: databaseType },
  { from: historianType, at: 'settings.database', to: databaseType },
  { from: `${engine.replace('engine', 'recorder')}/general`, at: 'datasource', to: databaseType },
  { from: identityProviderType, at: 'settings.userSource', to: userSourceType },
  { from: 'ignition/roster-config', at: 'users.*.profile', to: userSourceType },
  { from: 'ignition/security-properties', at: 'systemAuthProfile', to: userSourceType },
  { from: 'ignition/security-properties', at: 'systemIdentityProvider', to: identityProviderType },
  { from: 'ignition/security-properties', at: 'gatewayAuditProfile', to: auditType },
  { from: `${vendor}.opcua/server-config`, at: 'authentication.authenticationProfile', to: userSourceType },
  { from: userSourceType, file: 'users.json', at: 'users.*.schedule', to: scheduleType },
  { from: 'ignition/store-and-forward-engine', at: 'forwardingSchedule', to: scheduleType },
  { from: 'ignition/system-properties', at: 'gatewayScriptingProject', to: projectType },
  { from: 'ignition/system-properties', at: 'fallbackProjectName', to: projectType },
  { from: `${vendor}.alarm-notification/alarm-notification-profile`, at: 'settings.auditProfile', to: auditType },
  { from: `${vendor}.alarm-notification/alarm-notification-profile`, at: 'settings.settings.emailProfile', to: emailType },
  { from: `${engine}/server`, at: 'serverSet', to: `${engine}/server-set` },
  { from: `${engine}/namespace-server-set`, at: 'serverSet', to: `${engine}/server-set` },
  { from: `${transmission}/server`, at: 'serverSet', to: `${transmission}/server-set` },
  { from: `${transmission}/transmitter`, at: 'serverSet', to: `${transmission}/server-set` },
  { from: `${transmission}/transmitter`, at: 'tagProvider', to: tagProviderType },
  { from: `${transmission}/uns-transmitter`, at: 'serverSet', to: `${transmission}/server-set` },
  { from: `${transmission}/uns-transmitter`, at: 'tagProvider', to: tagProviderType },
  { from: namedQueryType, file: 'resource.json', at: 'attributes.database', to: databaseType },
]

/** Members of a tag, and of each of its alarms, that refer to something. */
export const tagFields: Readonly<Record<string, string>> = {
  tagGroup: tagGroupType,
  historyProvider: historianType,
  datasource: databaseType,
  opcServer: opcConnectionType,
}
export const alarmFields: Readonly<Record<string, string>> = {
  activePipeline: pipelineType,
  clearPipeline: pipelineType,
  ackPipeline: pipelineType,
}
/** Properties of Perspective components that refer to something, by the type of the component. */
export const componentFields: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'ia.display.alarmjournaltable': { name: journalType },
}

const maxDepth = 32
/** More names than any resource has; the rest would add nothing. */
const maxNames = 2_000
const maxName = 256
const maxPlace = 512

/** Collects references; each name of a type once. */
export type ReferenceSet = { add(type: string, name: unknown, at: string): void; list(): Reference[] }

export function createReferences(): ReferenceSet {
  const found = new Map<string, Reference>()
  return {
    add(type, name, at) {
      // A name in a template is known only after it is rendered, and a built-in name is never missing.
      if (typeof name !== 'string' || name === '' || name.length > maxName || /[{}]|\$\(/.test(name)) return
      if (found.size < maxNames && !isBuiltIn(type, name)) found.set(`${type} ${name}`, { type, name, at: at.slice(0, maxPlace) })
    },
    list: () => [...found.values()],
  }
}

/** Whether every gateway has a resource with this name. */
export function isBuiltIn(type: string, name: string): boolean {
  return targets[type]?.builtIn?.test(foldName(name)) === true
}

/** The references in the JSON files of a resource, by the table; `json` holds them by file name, the manifest as `resource.json`. */
export function findReferences(type: string, json: ReadonlyMap<string, unknown>, into: ReferenceSet): void {
  for (const { from, file = 'config.json', at, to, beside } of rows) {
    if (from !== undefined && from !== type) continue
    const deep = at.indexOf('**.')
    const files =
      from === undefined && deep === 0 ? [...json].flatMap(([name, value]) => (name === 'resource.json' ? [] : [value])) : [json.get(file)]
    for (const value of files) {
      if (deep < 0) valuesAt(value, at.split('.'), '', (name, place) => into.add(to, name, place))
      else {
        const above = at.slice(0, Math.max(0, deep - 1))
        const found = { key: at.slice(deep + '**.'.length), beside, to, into }
        valuesAt(value, above === '' ? [] : above.split('.'), '', (start, place) => searchBelow(start, place, 0, found))
      }
    }
  }
}

function valuesAt(value: unknown, path: readonly string[], at: string, take: (value: unknown, at: string) => void): void {
  const [key, ...rest] = path
  if (key === undefined) take(value, at)
  else if (key === '*') {
    if (typeof value === 'object' && value !== null)
      for (const member of Object.values(value)) valuesAt(member, rest, placeBelow(at, key), take)
  } else if (isObject(value)) valuesAt(value[key], rest, placeBelow(at, key), take)
}

type Search = { key: string; beside: string | undefined; to: string; into: ReferenceSet }

function searchBelow(value: unknown, at: string, depth: number, search: Search): void {
  if (depth > maxDepth || typeof value !== 'object' || value === null) return
  if (isObject(value) && (search.beside === undefined || typeof value[search.beside] === 'string')) {
    search.into.add(search.to, value[search.key], placeBelow(at, search.key))
  }
  for (const [key, member] of Object.entries(value)) {
    if (typeof member === 'object') searchBelow(member, placeBelow(at, key), depth + 1, search)
  }
}

function placeBelow(at: string, key: string): string {
  if (at.length > maxPlace) return at
  const name = key.slice(0, maxName)
  return at === '' ? name : `${at}.${name}`
}
