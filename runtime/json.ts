/**
 * JSON that may be none, or of any shape. Pure.
 */

/** The value of a text; undefined where it is not JSON. The size of the text is the caller's to bound. */
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
