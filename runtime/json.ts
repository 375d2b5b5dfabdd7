/**
 * JSON that may be none. Pure.
 */

/** The value of a text; undefined where it is not JSON. The size of the text is the caller's to bound. */
export function jsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
