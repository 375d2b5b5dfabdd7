/**
 * The signature that a gateway writes into each resource's manifest, and the parts of a manifest that it covers. Attributes are hashed as
 * written, so they are taken from the text and not from parsed values. Pure.
 */
import { hash } from 'node:crypto'
import { isObject } from '../../platform/text/json.ts'

/** Content hash (SHA-256, lower-case hex) of a listed file; undefined if it does not exist. */
export type ContentHash = (file: string) => string | undefined

/** The member of `attributes` that holds the signature. */
export const signatureAttribute = 'lastModificationSignature'

const scopeBits: Readonly<Record<string, number>> = { G: 1, D: 2, C: 4, A: 7 }

/**
 * Whether `written` is the signature of the manifest in `text`; undefined if none can be computed. Resources that a gateway's own templates
 * lock are signed with a flag that the manifest does not show, so both values of the flag are accepted. `value` is the parsed text: nearly
 * every manifest is formatted as JSON.stringify does it, so the text need not be parsed again.
 */
export function isSigned(
  text: string,
  written: string,
  contentHash: ContentHash,
  value: Readonly<Record<string, unknown>>,
): boolean | undefined {
  const expected = written.toLowerCase()
  if (signatureOfParts(partsOfValue(value), contentHash, false) === expected) return true
  const parts = partsOfText(text)
  const computed = signatureOfParts(parts, contentHash, false)
  return computed === undefined ? undefined : computed === expected || signatureOfParts(parts, contentHash, true) === expected
}

/**
 * The signature of the manifest in `text`; undefined if none can be computed because a listed file is absent or a field is not of its type. `text` must be valid JSON.
 */
export function signatureOf(text: string, contentHash: ContentHash, locked = false): string | undefined {
  return signatureOfParts(partsOfText(text), contentHash, locked)
}

/** The members of a manifest, and its attributes by name, each as compact JSON. */
type Parts = { member(name: string): unknown; attributes: (readonly [string, string])[] }

function partsOfText(text: string): Parts {
  const fields = members(compactJson(text))
  const own = fields.get('attributes')
  return { member: (name) => valueOf(fields, name), attributes: own === undefined ? [] : [...members(own)] }
}

function partsOfValue(value: Readonly<Record<string, unknown>>): Parts {
  const { attributes } = value
  const own = isObject(attributes) ? Object.entries(attributes).map(([name, each]) => [name, JSON.stringify(each)] as const) : []
  return { member: (name) => value[name], attributes: own }
}

function signatureOfParts({ member, attributes }: Parts, contentHash: ContentHash, locked: boolean): string | undefined {
  const scope = scopeOf(member('scope'))
  const version = member('version')
  const files = member('files') ?? []
  if (scope === undefined || !isInt32(version) || !isTextArray(files)) return undefined
  const parts: (string | Uint8Array)[] = [int32(scope)]
  const description = member('description')
  if (typeof description === 'string') parts.push(description)
  const flags = [locked, member('restricted') === true, member('overridable') === true]
  parts.push(int32(version), Uint8Array.from(flags.map(Number)))
  for (const file of files.toSorted(byCodeUnit)) {
    const content = contentHash(file)
    if (content === undefined) return undefined
    parts.push(file, content)
  }
  const signed = attributes.filter(([name]) => name !== signatureAttribute).toSorted(([a], [b]) => byCodeUnit(a, b))
  for (const [name, value] of signed) parts.push(name, value)
  return hash('sha256', Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part))), 'hex')
}

/** JSON without the white space around its values; every character of a value stays. */
export function compactJson(text: string): string {
  return text.replace(/("[^"\\]*(?:\\.[^"\\]*)*")|[\s\uFEFF]+/g, (_whole, literal: string | undefined) => literal ?? '')
}

/** The members of an object in compact JSON, each value as text; of repeated names the last counts. Empty if it is not an object. */
export function members(compact: string): Map<string, string> {
  const found = new Map<string, string>()
  if (!compact.startsWith('{')) return found
  let depth = 0
  let start = 1
  let name: string | undefined
  const token = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]/g
  for (let match = token.exec(compact); match !== null; match = token.exec(compact)) {
    const [mark] = match
    if (mark === '{' || mark === '[') depth += 1
    else if (mark === ':' && depth === 1 && name === undefined) {
      name = JSON.parse(compact.slice(start, match.index)) as string
      start = match.index + 1
    } else if ((mark === ',' || mark === '}' || mark === ']') && depth === 1) {
      if (name !== undefined) found.set(name, compact.slice(start, match.index))
      name = undefined
      start = match.index + 1
    }
    if (mark === '}' || mark === ']') depth -= 1
  }
  return found
}

function valueOf(fields: ReadonlyMap<string, string>, name: string): unknown {
  const text = fields.get(name)
  return text === undefined ? undefined : (JSON.parse(text) as unknown)
}

function scopeOf(scope: unknown): number | undefined {
  if (typeof scope !== 'string' || scope === '') return undefined
  let bits = 0
  for (const letter of scope) {
    const bit = Object.hasOwn(scopeBits, letter) ? scopeBits[letter] : undefined
    if (bit === undefined) return undefined
    bits |= bit
  }
  return bits
}

function isInt32(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= -(2 ** 31) && value < 2 ** 31
}

function isTextArray(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

function int32(value: number): Uint8Array {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}

function byCodeUnit(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
