/**
 * Finds addresses and credentials in a resource's JSON, except those that every default gateway has. Never returns a
 * value, only where it stands. Pure.
 */
import { isObject, jsonOrUndefined } from '../../json.ts'
import { hostsIn, isEverywhere } from '../model/addresses.ts'

/** `readable` is encrypted with the key that every installation has, `encrypted` with a custom one. */
export type Sighting = { kind: 'host' | 'credential' | 'readable' | 'encrypted'; at: string }

/** Keys of templates and of hashes, which hold no address and no credential of anybody. */
const allowedKeys: ReadonlySet<string> = new Set(['urlFormat', 'urlInstructions', 'passwordDate', 'tokenHash'])

/** Values that every default gateway has, by resource and place. */
const allowedPlaces: Readonly<Record<string, readonly string[]>> = {
  'ignition/opc-connection/ignition opc ua server': ['settings.authentication.password', 'settings.security.keyStoreAliasPassword'],
}

const credentialKey = /(?:password|passwd|passphrase|secret|api_?key|access_?key|private_?key|token)$/i
/** Deeper than any resource; JSON of a hostile depth is left unsearched there. */
const maxDepth = 64

/** `key` is the resource's, in lower case; `file` is the name of the file within the resource. */
export function findHosts(value: unknown, key: string, file: string): Sighting[] {
  if (/^ignition\/user-source\/(?:default|opcua-module|temp)$/.test(key) && file === 'users.json') return []
  const allowed = new Set(Object.hasOwn(allowedPlaces, key) ? allowedPlaces[key] : [])
  const found: Sighting[] = []
  search(value, undefined, 0, (kind, place) => {
    const at = placeText(place)
    if (!allowed.has(at)) found.push({ kind, at })
    return found.length < maxSightings
  })
  return found
}

/** A key and where it stands. It is made text only once something is found there. */
type Place = { key: string; above: Place | undefined }

/** The end of a key tells what it is for; a list below a long one would have it looked through for each of its items. */
const maxKey = 64
const maxPlace = 512
/** A header names algorithms and at most a key. */
const maxHeader = 4_096
/** One resource may hold a hundred thousand; they are told as a number. */
const maxSightings = 1_000

/** Returns false as soon as `report` does. */
function search(
  value: unknown,
  place: Place | undefined,
  depth: number,
  report: (kind: Sighting['kind'], place: Place | undefined) => boolean,
): boolean {
  if (depth > maxDepth) return true
  if (Array.isArray(value)) return value.every((item) => search(item, place, depth + 1, report))
  if (isObject(value)) {
    const encrypted = encryptionOf(value) ?? encryptionOf(value['data'])
    if (encrypted !== undefined) return report(encrypted, place)
    return Object.entries(value).every(
      ([name, member]) => allowedKeys.has(name) || search(member, { key: name.slice(-maxKey), above: place }, depth + 1, report),
    )
  }
  if (typeof value !== 'string' || value === '' || isTemplate(value)) return true
  const name = place?.key ?? ''
  if (credentialKey.test(name)) return report('credential', place)
  return hostsIn(value, name).every(isEverywhere) || report('host', place)
}

function placeText(place: Place | undefined): string {
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
