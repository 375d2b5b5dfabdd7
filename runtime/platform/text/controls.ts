/**
 * Escapes control characters in text of others, which could otherwise move the cursor of a terminal, set its title, or reverse what is read.
 */

/** Group 1: the colors and weights that the CLI sets (ECMA-48, SGR). */
// oxlint-disable-next-line no-control-regex -- control characters are what is escaped
const controls = /(\u001b\[(?:[012]|3[1236])m)|[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]|\r(?!\n)/g

/**
 * Escapes control characters as JSON does, except tabs, line ends, and the colors of the CLI if colors are on. Text of others may then at
 * most be colored, and JSON keeps its meaning.
 */
export function escapeControls(text: string, { color }: { color: boolean } = { color: false }): string {
  return text.replace(controls, (found, own: string | undefined) =>
    own !== undefined && color ? own : `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}${found.slice(1)}`,
  )
}
