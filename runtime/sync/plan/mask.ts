/**
 * Hides secrets in both sides of a changed file before they are compared and shown: in plans on a terminal and in reports that many people
 * may read. Follows the rule of `redact.ts`, as `mode diff` does; what cannot be classified is not shown. Pure.
 */
import { isObject, jsonOrUndefined } from '../../platform/text/json.ts'
import { carriesSecret, hiddenValue, isSecretKey, mayHoldSecret } from '../../platform/log/redact.ts'
import { findSpans } from '../render/json-spans.ts'

type Side = Uint8Array | undefined

/** Values deeper than this are hidden as a whole. */
const maxDepth = 64
/** Marks a hidden value that differs from the other side. */
const changedValue = '(hidden, changed)'
/** Only up to the value: with the end of the line in the same expression, it would be searched for again after each space. */
const keyOfLine = /^\s*"?([\w.-]+)"?\s*[:=]\s*/
const privateKey = /-----BEGIN [A-Z0-9 ]*PRIVATE KEY( BLOCK)?-----/

/** Returns both sides with their secrets hidden; undefined if nothing of the file may be shown. */
export function maskSecrets(before: Side, after: Uint8Array): { before: Side; after: Uint8Array } | undefined {
  const [old, made] = [readSide(before), readSide(after)]
  if (old === undefined || made === undefined) return undefined
  if (isAmbiguous(old) || isAmbiguous(made)) return undefined
  const known = new Map(old.secrets.map(({ at, text }) => [at, text]))
  const isNew = ({ at, text }: Secret): boolean => known.has(at) && known.get(at) !== text
  return {
    before: before === undefined ? undefined : Buffer.from(masked(old, () => false)),
    after: Buffer.from(masked(made, isNew)),
  }
}

type Secret = { at: string; start: number; end: number; text: string }
type ReadSide = { text: string; isJson: boolean; secrets: Secret[] }

function readSide(content: Side): ReadSide | undefined {
  const text = content === undefined ? '' : Buffer.from(content).toString('utf8')
  if (privateKey.test(text)) return undefined
  const value = jsonOrUndefined(text)
  // Half of a JSON document may begin in the middle of a secret.
  if (value === undefined) return /^\s*[{[]/.test(text) && isSecretKey(text) ? undefined : { text, isJson: false, secrets: [] }
  const locations: (string | number)[][] = []
  locate(value, [], locations)
  const secrets = findSpans(text, locations).map(({ location, start, end }) => {
    return { at: JSON.stringify(location), start, end, text: text.slice(start, end) }
  })
  return { text, isJson: true, secrets: secrets.toSorted((a, b) => a.start - b.start) }
}

/** Whether an object repeats a name: only the last of its values is found. */
function isAmbiguous(side: ReadSide): boolean {
  if (side.secrets.length === 0) return false
  const named = side.secrets.filter(({ at }) => isSecretKey(String((JSON.parse(at) as unknown[]).at(-1)))).length
  // Texts that are no keys are matched too: the search would begin again within each of them.
  const texts = masked(side, () => false).matchAll(/"((?:[^"\\]|\\.)*)"(\s*:)?/g)
  return [...texts].filter(([, key = '', colon]) => colon !== undefined && isSecretKey(key)).length > named
}

function locate(value: unknown, location: (string | number)[], found: (string | number)[][]): void {
  const last = location.at(-1)
  if ((typeof last === 'string' && isSecretKey(last)) || location.length > maxDepth) found.push(location)
  else if (typeof value === 'string' && carriesSecret(value)) found.push(location)
  else if (Array.isArray(value)) for (const [index, item] of value.entries()) locate(item, [...location, index], found)
  else if (isObject(value)) for (const [key, member] of Object.entries(value)) locate(member, [...location, key], found)
}

function masked({ text, isJson, secrets }: ReadSide, isChanged: (secret: Secret) => boolean): string {
  const parts: string[] = []
  let from = 0
  for (const secret of secrets) {
    parts.push(text.slice(from, secret.start), `"${isChanged(secret) ? changedValue : hiddenValue}"`)
    from = secret.end
  }
  return [...parts, text.slice(from)]
    .join('')
    .split('\n')
    .map(isJson ? maskedJsonLine : lineMask())
    .join('\n')
}

/** Hides values that the masking above misses: those of duplicate names in one object. */
function maskedJsonLine(line: string): string {
  return maskedMember(line) ?? (carriesSecret(line) ? hiddenValue : line)
}

/** Masks the lines of a text in their order. */
function lineMask(): (line: string) => string {
  // A YAML value may follow in lines that are indented below its name.
  let secretIndent = Infinity
  return (line) => {
    const indent = line.search(/\S/)
    if (indent > secretIndent) return hiddenValue
    if (indent >= 0) secretIndent = isSecretKey(keyOfLine.exec(line)?.[1] ?? '') ? indent : Infinity
    return maskedMember(line) ?? (mayHoldSecret(line) ? hiddenValue : line)
  }
}

/** Masks the value of a line; undefined if it is not a member with a secret value. */
function maskedMember(line: string): string | undefined {
  const [head = '', key = ''] = keyOfLine.exec(line) ?? []
  if (!isSecretKey(key)) return undefined
  const text = line.trimEnd()
  const value = (text.endsWith(',') ? text.slice(0, -1) : text).slice(head.length)
  const isShown = value === '' || value.startsWith('"(hidden') || /^[{[]$/.test(value)
  return isShown ? undefined : `${head}${hiddenValue}${line.slice(head.length + value.length)}`
}
