/**
 * Parses untrusted JSON. Pure.
 */

/** Returns the value of a text; undefined if it is not JSON. The caller bounds the size. */
export function jsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Whether a JSON value is an object: neither null nor a list. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Whether a record has the number of another format version, so that it is readable by another release and not damaged. */
export function isOfOtherVersion(value: unknown, version: number): boolean {
  return isObject(value) && typeof value['version'] === 'number' && value['version'] !== version
}
