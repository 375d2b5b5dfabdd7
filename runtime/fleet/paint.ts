/**
 * Renders a level for a terminal as a symbol and a color, or as plain text for a pipe. Pure.
 */
import type { Level } from './view.ts'

export type Style = {
  /** Maximum line width; longer lines are folded where possible. */
  width: number
  color: boolean
  /** Whether lines begin with the symbol of their level. */
  symbols: boolean
}

export const symbolOf: Readonly<Record<Level, string>> = { ok: '✓', working: '▸', warning: '‼', error: '×' }

/** SGR codes (ECMA-48): green, cyan, yellow, red. */
const colors: Readonly<Record<Level, number>> = { ok: 32, working: 36, warning: 33, error: 31 }
const bold = 1

/** The symbol of a level and a space; empty if symbols are off. */
export function markOf(level: Level, style: Style): string {
  return style.symbols ? `${painted(symbolOf[level], level, style)} ` : ''
}

/** Colors a text by its level, if colors are on. */
export function painted(text: string, level: Level, { color }: Style): string {
  return color ? `\u001b[${colors[level]}m${text}\u001b[0m` : text
}

/** A heading: bold if colors are on. */
export function heading(text: string, { color }: Style): string {
  return color ? `\u001b[${bold}m${text}\u001b[0m` : text
}
