/**
 * One word in a line that a POSIX shell reads. Pure.
 */

/** Quoted so that a shell takes `text` as it is, whatever it holds; not for text with NUL, which no argument can have. */
export function shellWord(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
