/**
 * Formats numbers with their noun, for messages. Pure.
 */

/** `1 file`, `2 files`, `0 files`: nouns with a plural in s. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
