/**
 * Quotes a text for a POSIX shell. Pure.
 */

/** Quotes `text` so that a shell takes it literally, regardless of its content; not for text with NUL, which no argument can contain. */
export function shellWord(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
