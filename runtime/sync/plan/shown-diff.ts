/**
 * Compares what changed, for display: two texts line by line, without context lines, or two JSON values key by key. Values that may be
 * secret are never returned. Pure.
 */
import { diff } from 'node:util'
import { carriesSecret, hiddenValue, isSecretKey } from '../../platform/log/redact.ts'
import { isObject } from '../../platform/text/json.ts'

/** How many lines are compared one by one: memory grows with the square, and is 4 MiB for this many. */
const maxComparedLines = 500

/** Returns removed (`-`) and added (`+`) lines, grouped by place; undefined if one side is binary. */
export function lineDiff(before: Uint8Array | undefined, after: Uint8Array): string | undefined {
  if (before?.includes(0) === true || after.includes(0)) return undefined
  const [old, made] = [lines(before), lines(after)]
  const start = commonLength(old, made, (index) => index)
  const end = commonLength(old.slice(start), made.slice(start), (index) => -1 - index)
  const hunks = hunksOf(old.slice(start, old.length - end), made.slice(start, made.length - end))
  return hunks.flatMap(({ removed, added }) => [...removed.map((line) => `-${line}`), ...added.map((line) => `+${line}`)]).join('\n')
}

type Hunk = { removed: string[]; added: string[] }

/** If too much differs, all of it is one hunk. */
function hunksOf(old: string[], made: string[]): Hunk[] {
  if (old.length === 0 || made.length === 0 || old.length + made.length > maxComparedLines) return [{ removed: old, added: made }]
  const hunks: Hunk[] = [{ removed: [], added: [] }]
  for (const [operation, line] of diff(made, old)) {
    if (operation === 0) hunks.push({ removed: [], added: [] })
    else hunks.at(-1)?.[operation === 1 ? 'added' : 'removed'].push(line)
  }
  return hunks
}

/** How many lines are the same on both sides, counted from one end. */
function commonLength(a: readonly string[], b: readonly string[], at: (index: number) => number): number {
  const most = Math.min(a.length, b.length)
  let count = 0
  while (count < most && a.at(at(count)) === b.at(at(count))) count += 1
  return count
}

/** A missing newline at the end is a separate line, as in git. */
function lines(content: Uint8Array | undefined): string[] {
  if (content === undefined || content.length === 0) return []
  const found = Buffer.from(content).toString('utf8').split('\n')
  const last = found.pop() ?? ''
  return last === '' ? found : [...found, last, '\\ No newline at end of file']
}

/** `a` and `b` are JSON texts; undefined: the key is absent on that side. */
export type JsonDifference = { at: string; a: string | undefined; b: string | undefined }

const maxText = 120
/** Of the names above a value, the last ones: all of them may be as long as the file, for each of its values. */
const maxPath = 400
/** Deeper values are compared as a whole. */
const maxDepth = 64

/** Returns the keys and values in which two JSON values differ, up to the first beyond `most`; secrets are hidden. */
export function differences(a: unknown, b: unknown, most = Infinity): JsonDifference[] {
  const found: JsonDifference[] = []
  compare(a, b, undefined, { found, most })
  return found
}

/** A name or index, and what is above it; `isSecret`: one of them is the key of a secret. */
type Place = { name: string | number; above: Place | undefined; depth: number; isSecret: boolean }

function compare(a: unknown, b: unknown, place: Place | undefined, to: { found: JsonDifference[]; most: number }): void {
  if (to.found.length > to.most) return
  const { depth, isSecret } = place ?? { depth: 0, isSecret: false }
  const below = (name: string | number): Place => ({
    name,
    above: place,
    depth: depth + 1,
    isSecret: isSecret || (typeof name === 'string' && isSecretKey(name)),
  })
  if (depth < maxDepth && isObject(a) && isObject(b)) {
    const keys = new Set([...Object.keys(a), ...Object.keys(b)])
    for (const key of [...keys].toSorted()) compare(own(a, key), own(b, key), below(key), to)
    return
  }
  if (depth < maxDepth && Array.isArray(a) && Array.isArray(b) && a.length === b.length) {
    for (const [index, item] of a.entries()) compare(item, b[index] as unknown, below(index), to)
    return
  }
  if (textOf(a) === textOf(b)) return
  const shown = (value: unknown): string | undefined => {
    if (value === undefined) return undefined
    return isSecret || holdsSecret(value, 0) ? hiddenValue : shorten(textOf(value) ?? '')
  }
  to.found.push({ at: pathOf(place) || '(all)', a: shown(a), b: shown(b) })
}

/** The names from the top, or the last ones after `…`. */
function pathOf(place: Place | undefined): string {
  let text = ''
  for (let each = place; each !== undefined && text.length <= maxPath; each = each.above)
    text = `${String(each.name).slice(-maxPath - 1)}${text === '' ? '' : `.${text}`}`
  return text.length > maxPath ? `…${text.slice(-maxPath)}` : text
}

function own(object: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined
}

function holdsSecret(value: unknown, depth: number): boolean {
  if (depth > maxDepth) return true
  if (typeof value === 'string') return carriesSecret(value)
  if (Array.isArray(value)) return value.some((item) => holdsSecret(item, depth + 1))
  return isObject(value) && Object.entries(value).some(([key, member]) => isSecretKey(key) || holdsSecret(member, depth + 1))
}

function textOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}

function shorten(text: string): string {
  return text.length > maxText ? `${text.slice(0, maxText)}…` : text
}
