/**
 * The JSON merge patch (RFC 7396) that turns one value into another: only what differs is sent, so that a write which changes
 * nothing is not made at all. Pure.
 */
import { isObject } from '../json.ts'
type Members = Record<string, unknown>

/** The patch from `before` to `after`; undefined when they are equal. Lists are replaced whole. */
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

/** Equality of JSON values: the order of members does not count, a member of undefined is none. */
function isEqual(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, index) => isEqual(item, b[index]))
  // Most of what is compared is equal, and nothing is made then.
  if (isObject(a) && isObject(b)) {
    return (
      Object.keys(a).every((key) => isEqual(a[key], b[key])) && Object.keys(b).every((key) => b[key] === undefined || Object.hasOwn(a, key))
    )
  }
  return a === b
}
