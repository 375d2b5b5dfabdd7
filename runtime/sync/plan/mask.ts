/**
 * Hides secrets in both sides of a changed file before they are compared and shown: in plans on a terminal and in reports that many people
 * may read. Follows the rule of `redact.ts`, as `mode diff` does; what cannot be classified is not shown. Pure.
 */
import { type Complexity, createScan, jsonOrUndefined } from '../../platform/text/json.ts'
import { carriesSecret, hiddenValue, isSecretKey, mayHoldSecret } from '../../platform/log/redact.ts'
import { endOfValue } from '../render/json-spans.ts'

type Side = Uint8Array | undefined

/** Values deeper than this are hidden as a whole. */
const maxDepth = 64
/** Of a JSON file that is shown: its value is in memory for a moment, up to 60 bytes for each of these. */
const maxComplexity: Complexity = { depth: 10_000, keys: 100_000, containers: 100_000, entries: 200_000 }
/** Marks a hidden value that differs from the other side. */
const changedValue = '(hidden, changed)'
/** Only up to the value: with the end of the line in the same expression, it would be searched for again after each space. */
const keyOfLine = /^\s*"?([\w.-]+)"?\s*[:=]\s*/
const privateKey = /-----BEGIN [A-Z0-9 ]*PRIVATE KEY( BLOCK)?-----/

/** Returns both sides with their secrets hidden; undefined if nothing of the file may be shown. */
export function maskSecrets(before: Side, after: Uint8Array): { before: Side; after: Uint8Array } | undefined {
  const places: Places = new Map()
  const [old, made] = [readSide(before, places), readSide(after, places)]
  if (old === undefined || made === undefined) return undefined
  const known = new Map(old.secrets.map(({ place, text }) => [place, text]))
  const isNew = ({ place, text }: Secret): boolean => known.has(place) && known.get(place) !== text
  return {
    before: before === undefined ? undefined : Buffer.from(masked(old, () => false)),
    after: Buffer.from(masked(made, isNew)),
  }
}

type Secret = { place: number; start: number; end: number; text: string }
type ReadSide = { text: string; isJson: boolean; secrets: Secret[] }

function readSide(content: Side, places: Places): ReadSide | undefined {
  const text = content === undefined ? '' : Buffer.from(content).toString('utf8')
  if (privateKey.test(text)) return undefined
  const isJsonLike = /^\s*[{[]/.test(text)
  if (isJsonLike && content !== undefined && createScan(maxComplexity)(content)) return undefined
  // Half of a JSON document may begin in the middle of a secret.
  if (jsonOrUndefined(text) === undefined) return isJsonLike && isSecretKey(text) ? undefined : { text, isJson: false, secrets: [] }
  const secrets = secretsIn(text, places)
  // An object repeats a name: a program may use any of its values.
  if (new Set(secrets.map(({ place }) => place)).size < secrets.length) return undefined
  return { text, isJson: true, secrets }
}

/** A number for each place of a secret, by the number of the place above and the last step: a whole path may be as long as the file. */
type Places = Map<string, number>
type Step = { above: Step | undefined; name: string | number; depth: number; place?: number }

function placeOf(step: Step | undefined, places: Places): number {
  if (step === undefined) return 0
  if (step.place !== undefined) return step.place
  const key = `${placeOf(step.above, places)}${typeof step.name === 'string' ? '.' : ':'}${step.name}`
  step.place = places.get(key) ?? places.size + 1
  places.set(key, step.place)
  return step.place
}

/** Returns every secret of a valid JSON text, in order. */
function secretsIn(text: string, places: Places): Secret[] {
  const found: Secret[] = []
  let at = 0
  const marks = /[\s,:]*/y
  const skipMarks = (): void => {
    marks.lastIndex = at
    marks.test(text)
    at = marks.lastIndex
  }
  const isSecret = ({ name, depth }: Step): boolean => (typeof name === 'string' && isSecretKey(name)) || depth > maxDepth
  const value = (step: Step | undefined): void => {
    const start = at
    const first = text[at]
    const isHidden = step !== undefined && isSecret(step)
    if (!isHidden && (first === '{' || first === '[')) return members(step, first === '{')
    at = endOfValue(text, start)
    const own = text.slice(start, at)
    if (isHidden || (first === '"' && carriesSecret(JSON.parse(own) as string)))
      found.push({ place: placeOf(step, places), start, end: at, text: own })
  }
  const members = (above: Step | undefined, isNamed: boolean): void => {
    const depth = (above?.depth ?? 0) + 1
    at += 1
    skipMarks()
    for (let index = 0; !/[\]}]/.test(text[at] ?? ']'); index += 1) {
      const start = at
      if (isNamed) at = endOfValue(text, at)
      const name = isNamed ? (JSON.parse(text.slice(start, at)) as string) : index
      skipMarks()
      value({ above, name, depth })
      skipMarks()
    }
    at += 1
  }
  skipMarks()
  value(undefined)
  return found
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
