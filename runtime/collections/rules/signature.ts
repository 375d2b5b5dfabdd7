/**
 * The signature that a gateway writes into each resource's manifest, and the parts of a manifest that it is made of.
 * Attributes are hashed as they are written, so they are taken from the text and not from parsed values. Pure.
 */
import { hash } from 'node:crypto'

/** Content hash (SHA-256, lower-case hex) of a listed file; undefined when there is no such file. */
export type ContentHash = (file: string) => string | undefined

export const signatureAttribute = 'lastModificationSignature'

const scopeBits: Readonly<Record<string, number>> = { G: 1, D: 2, C: 4, A: 7 }

/**
 * Whether `written` is the signature of the manifest in `text`; undefined where none can be computed. Resources that a gateway's own templates
 * lock are signed with a flag that no manifest shows, so either value of it is right.
 */
export function isSigned(text: string, written: string, contentHash: ContentHash): boolean | undefined {
  const wanted = written.toLowerCase()
  const computed = signatureOf(text, contentHash)
  return computed === undefined ? undefined : computed === wanted || signatureOf(text, contentHash, true) === wanted
}

/**
 * The signature of the manifest in `text`, or undefined where it has none to compute: a listed file is absent, or a field is not of its
 * type. `text` must be valid JSON.
 */
export function signatureOf(text: string, contentHash: ContentHash, locked = false): string | undefined {
  const fields = members(compactJson(text))
  const scope = scopeOf(valueOf(fields, 'scope'))
  const version = valueOf(fields, 'version')
  const files = valueOf(fields, 'files') ?? []
  if (scope === undefined || !isInt32(version) || !isTextArray(files)) return undefined
  const parts: (string | Uint8Array)[] = [int32(scope)]
  const description = valueOf(fields, 'description')
  if (typeof description === 'string') parts.push(description)
  const flags = [locked, valueOf(fields, 'restricted') === true, valueOf(fields, 'overridable') === true]
  parts.push(int32(version), Uint8Array.from(flags.map(Number)))
  for (const file of files.toSorted(byCodeUnit)) {
    const content = contentHash(file)
    if (content === undefined) return undefined
    parts.push(file, content)
  }
  for (const [name, value] of attributesOf(fields)) parts.push(name, value)
  return hash('sha256', Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part))), 'hex')
}

/** The attributes that are signed, by name in order: each with its value as compact JSON. */
function attributesOf(fields: ReadonlyMap<string, string>): [string, string][] {
  const text = fields.get('attributes')
  if (text === undefined || !text.startsWith('{')) return []
  return [...members(text)].filter(([name]) => name !== signatureAttribute).toSorted(([a], [b]) => byCodeUnit(a, b))
}

/** JSON without the white space around its values; every character of a value stays. */
export function compactJson(text: string): string {
  return text.replace(/("[^"\\]*(?:\\.[^"\\]*)*")|[\s\uFEFF]+/g, (_whole, literal: string | undefined) => literal ?? '')
}

/** The members of an object in compact JSON, each value as text; of repeated names the last counts. Empty for what is no object. */
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
