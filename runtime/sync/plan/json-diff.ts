/**
 * Compares two JSON values key by key. Values that may be secret are never returned. Pure.
 */
import { carriesSecret, hiddenValue, isSecretKey } from '../../platform/log/redact.ts'
import { isObject } from '../../platform/text/json.ts'

/** `a` and `b` are JSON texts; undefined: the key is absent on that side. */
export type JsonDifference = { at: string; a: string | undefined; b: string | undefined }

const maxText = 120
/** Deeper values are compared as a whole. */
const maxDepth = 64

/** Returns the keys and values in which two JSON values differ; secrets are hidden. */
export function differences(a: unknown, b: unknown): JsonDifference[] {
  const found: JsonDifference[] = []
  compare(a, b, [], found)
  return found
}

function compare(a: unknown, b: unknown, path: readonly (string | number)[], found: JsonDifference[]): void {
  if (path.length < maxDepth && isObject(a) && isObject(b)) {
    const keys = new Set([...Object.keys(a), ...Object.keys(b)])
    for (const key of [...keys].toSorted()) compare(own(a, key), own(b, key), [...path, key], found)
    return
  }
  if (path.length < maxDepth && Array.isArray(a) && Array.isArray(b) && a.length === b.length) {
    for (const [index, item] of a.entries()) compare(item, b[index] as unknown, [...path, index], found)
    return
  }
  if (textOf(a) === textOf(b)) return
  const shown = (value: unknown): string | undefined => {
    if (value === undefined) return undefined
    return path.some((key) => isSecretKey(String(key))) || holdsSecret(value, 0) ? hiddenValue : shorten(textOf(value) ?? '')
  }
  found.push({ at: path.join('.') || '(all)', a: shown(a), b: shown(b) })
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
