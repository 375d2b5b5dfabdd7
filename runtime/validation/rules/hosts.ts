/**
 * Finds addresses and credentials in a resource's JSON, except those that every default gateway has. Never returns a value, only its place.
 * Pure.
 */
import { isObject, jsonOrUndefined } from '../../platform/text/json.ts'
import { connectionPairs, hostsIn, isEverywhere, isHostKey } from '../model/addresses.ts'

/**
 * `password` is one that a person chose, `credential` any other, such as a token; `readable` is encrypted with the key that every installation has,
 * `encrypted` with a custom one; `connection` is a connection string.
 */
export type Sighting = { kind: 'host' | 'connection' | 'password' | 'credential' | 'readable' | 'encrypted'; at: string }

/** Keys of templates and hashes, which hold no address or credential. */
const allowedKeys: ReadonlySet<string> = new Set(['urlFormat', 'urlInstructions', 'passwordDate', 'tokenHash'])

/** Values that every default gateway, or every default module, has: by resource and place. */
const allowedPlaces: Readonly<Record<string, readonly string[]>> = {
  'ignition/opc-connection/ignition opc ua server': ['settings.authentication.password', 'settings.security.keyStoreAliasPassword'],
  'com.cirruslink.mqtt.distributor.gateway/user/admin': ['password'],
}

const credentialKey = /(?:password|passwd|pwd|passphrase|secret|api_?key|access_?key|private_?key|token)$/i
/** Keys with a user-chosen text. The password of an alias within a key store is the same in most installations. */
const passwordKey = /^(?!keyStoreAliasPassword$)[a-z_]*(?:password|passwd|pwd|passphrase|secret)$/i
/** `Bearer …` under any key, and any scheme under `authorization`. */
const authorization = /^bearer [a-z0-9+/._~-]{6,}=*$/i
const underAuthorization = /^[a-z]+ [a-z0-9+/._~-]{6,}=*$/i
/** `user:password@` of a URL. */
const userInfo = /^[a-z][a-z0-9+.:-]{0,64}:\/\/[^/?#\s:@]*:[^/?#\s@]+@/i
/** Deeper than any resource; JSON of a hostile depth is left unsearched there. */
const maxDepth = 64

/** `key` is the resource's, in lower case; `file` is the name of the file within the resource. */
export function findHosts(value: unknown, key: string, file: string): Sighting[] {
  if (/^ignition\/user-source\/(?:default|opcua-module|temp)$/.test(key) && file === 'users.json') return []
  const allowed = new Set(hasAllowedPlaces(key) ? allowedPlaces[key] : [])
  const found: Sighting[] = []
  const addresses = { own: 0, others: 0 }
  search(value, undefined, 0, addresses, (kind, place) => {
    const at = placeText(place)
    if (!allowed.has(at)) found.push({ kind, at })
    return found.length < maxSightings
  })
  // Values encrypted for a service on the same machine, or without an address, do not depend on the environment.
  const isLocal = addresses.own > 0 && addresses.others === 0
  return isLocal ? found.filter(({ kind }) => kind !== 'readable' && kind !== 'encrypted') : found
}

/** Whether the results of a resource may differ from those of other resources with the same value. */
export function hasAllowedPlaces(key: string): boolean {
  return Object.hasOwn(allowedPlaces, key)
}

/** Whether a value has addresses, and none but those of the machine itself. */
export function isOnlyLocal(value: unknown): boolean {
  const addresses = { own: 0, others: 0 }
  search(value, undefined, 0, addresses, () => true)
  return addresses.own > 0 && addresses.others === 0
}

/** A key and its place. It becomes text only for a finding. */
type KeyPath = { key: string; above: KeyPath | undefined }
/** The number of addresses of the machine itself (or empty), and of others. */
type Addresses = { own: number; others: number }
type Report = (kind: Sighting['kind'], place: KeyPath | undefined) => boolean

/** The end of a key shows its purpose; a list below a long key would have it searched for each of its items. */
const maxKey = 64
const maxPlace = 512
/** A header names algorithms and at most a key. */
const maxHeader = 4_096
/** One resource may hold a hundred thousand; only their number is reported. */
const maxSightings = 1_000

/** Returns false as soon as `report` does. */
function search(value: unknown, place: KeyPath | undefined, depth: number, addresses: Addresses, report: Report): boolean {
  if (depth > maxDepth) return true
  if (Array.isArray(value)) return value.every((item) => search(item, place, depth + 1, addresses, report))
  if (isObject(value)) {
    const encrypted = encryptionOf(value) ?? encryptionOf(value['data'])
    if (encrypted !== undefined) return report(encrypted, place)
    return Object.entries(value).every(
      ([name, member]) => allowedKeys.has(name) || search(member, { key: name.slice(-maxKey), above: place }, depth + 1, addresses, report),
    )
  }
  if (typeof value !== 'string') return true
  if (isTemplate(value)) {
    // `jdbc:sqlite:${data}/…`: the gateway fills in its own folder.
    if (value.startsWith('jdbc:sqlite:')) addresses.own += 1
    return true
  }
  return searchText(value, place, addresses, report)
}

function searchText(value: string, place: KeyPath | undefined, addresses: Addresses, report: Report): boolean {
  const name = place?.key ?? ''
  if (value === '') {
    if (isHostKey(name)) addresses.own += 1
    return true
  }
  if (credentialKey.test(name)) return report(passwordKey.test(name) ? 'password' : 'credential', place)
  if (authorization.test(value) || (/^authorization$/i.test(name) && underAuthorization.test(value))) return report('credential', place)
  const pairs = connectionPairs(value)
  if ((hasPassword(pairs) || hasPassword(urlPairs(value)) || userInfo.test(value.slice(0, maxPlace))) && !report('password', place))
    return false
  const hosts = hostsIn(value, name)
  const others = hosts.filter((host) => !isEverywhere(host))
  addresses.others += others.length
  if (hosts.length > others.length || value.startsWith('jdbc:')) addresses.own += 1
  if (others.length > 0) return report(pairs.length > 1 ? 'connection' : 'host', place)
  return pairs.some(({ name: key }) => /^(?:file)?dsn$/i.test(key)) ? report('connection', place) : true
}

function hasPassword(pairs: readonly { name: string; text: string }[]): boolean {
  return pairs.some(({ name, text }) => /^(?:password|pwd|user_?password)$/i.test(name) && text !== '' && !isTemplate(text))
}

/** What follows the address of a JDBC URL: `;key=value` or `?key=value&…`. */
function urlPairs(value: string): { name: string; text: string }[] {
  if (!value.startsWith('jdbc:') || value.length > maxHeader) return []
  return value.split(/[;?&]/).flatMap((pair) => {
    const at = pair.indexOf('=')
    return at <= 0 ? [] : [{ name: pair.slice(0, at).trim(), text: pair.slice(at + 1).trim() }]
  })
}

function placeText(place: KeyPath | undefined): string {
  const keys: string[] = []
  for (let each = place; each !== undefined; each = each.above) keys.push(each.key)
  return keys.toReversed().join('.').slice(0, maxPlace)
}

/**
 * A value that a gateway encrypted (a JSON Web Encryption). Its protected header names the key by `kid` where that is a custom one; the default
 * key is the same in every installation.
 */
function encryptionOf(value: unknown): 'readable' | 'encrypted' | undefined {
  if (!isObject(value) || typeof value['ciphertext'] !== 'string' || typeof value['encrypted_key'] !== 'string') return undefined
  const header = value['protected']
  if (typeof header !== 'string' || header.length > maxHeader) return 'encrypted'
  const parsed = jsonOrUndefined(Buffer.from(header, 'base64url').toString('utf8'))
  return isObject(parsed) && parsed['kid'] === undefined ? 'readable' : 'encrypted'
}

/** A value that is filled in per gateway before it is delivered. */
function isTemplate(text: string): boolean {
  return /\{\{|\{%|\$\{|#\{/.test(text) || /^(?:%\w+%|__\w+__|@\w+@|\$\w+)$/.test(text)
}
