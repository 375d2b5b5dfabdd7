/**
 * How a terminal shows a level: a symbol and a colour; plain words for a pipe. Pure.
 */
import type { Level } from './level.ts'

export type Style = {
  /** No line that can be folded is longer. */
  width: number
  colour: boolean
  /** Whether lines begin with a symbol of their level. */
  symbols: boolean
}

export const symbolOf: Readonly<Record<Level, string>> = { ok: '✓', working: '▸', warning: '‼', error: '×' }

/** SGR codes of ECMA-48: green, cyan, yellow, red. */
const colours: Readonly<Record<Level, number>> = { ok: 32, working: 36, warning: 33, error: 31 }
const bold = 1

/** The symbol of a level and a blank behind it; nothing where no symbols are wanted. */
export function markOf(level: Level, style: Style): string {
  return style.symbols ? `${painted(symbolOf[level], level, style)} ` : ''
}

/** A text in the colour of its level, or as it is where there are no colours. */
export function painted(text: string, level: Level, { colour }: Style): string {
  return colour ? `\u001b[${colours[level]}m${text}\u001b[0m` : text
}

/** A heading: bold where the terminal can. */
export function heading(text: string, { colour }: Style): string {
  return colour ? `\u001b[${bold}m${text}\u001b[0m` : text
}
