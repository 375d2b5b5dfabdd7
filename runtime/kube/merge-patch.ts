/**
 * Computes the JSON merge patch (RFC 7396) between two values: only differences are sent, and a write that changes nothing is skipped.
 * Pure.
 */
import { isObject } from '../platform/text/json.ts'
type Members = Record<string, unknown>

/** Returns the patch from `before` to `after`; undefined when they are equal. Lists are replaced whole. */
export function mergePatchBetween(before: Members, after: Members): Members | undefined {
  const patch: Members = {}
  for (const key of Object.keys(before)) if (after[key] === undefined && before[key] !== undefined) patch[key] = null
  for (const [key, value] of Object.entries(after)) {
    const old = before[key]
    if (value === undefined || isEqual(old, value)) continue
    patch[key] = isObject(old) && isObject(value) ? mergePatchBetween(old, value) : value
  }
  return Object.keys(patch).length === 0 ? undefined : patch
}

/** Compares JSON values: the order of members does not matter, an undefined member is absent. */
function isEqual(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, index) => isEqual(item, b[index]))
  // Most compared values are equal, and then nothing is allocated.
  if (isObject(a) && isObject(b)) {
    return (
      Object.keys(a).every((key) => isEqual(a[key], b[key])) && Object.keys(b).every((key) => b[key] === undefined || Object.hasOwn(a, key))
    )
  }
  return a === b
}
