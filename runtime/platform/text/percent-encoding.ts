/**
 * Decodes percent-encoded text. Pure.
 */

/** Returns a text that is not percent-encoded unchanged. */
export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
