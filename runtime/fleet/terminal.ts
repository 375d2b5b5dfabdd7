/**
 * Formats text for a terminal: columns that fit a width, folded sentences, and levels as a symbol and a color. Plain for a pipe. Pure.
 */
import { visible } from '../api/values.ts'
import type { Level } from './view.ts'

export type Column = {
  title: string
  /** Maximum width; the last column takes the remaining width. */
  max: number
}

const gap = 2

/** Lines without color: a title line, then one for each row. Trailing spaces are removed; text that does not fit is cut with `…`. */
export function tableLines(columns: readonly Column[], rows: readonly (readonly string[])[], width: number): string[] {
  const all = [columns.map(({ title }) => title), ...rows.map((row) => row.map(harmless))]
  const natural = columns.map(({ max }, index) => Math.min(max, Math.max(...all.map((row) => lengthOf(row[index] ?? '')))))
  const widths = fitting(natural, columns, width)
  return all.map((row) =>
    row
      .map((cell, index) => padded(cut(cell, widths[index] ?? 0), widths[index] ?? 0))
      .join(' '.repeat(gap))
      .trimEnd(),
  )
}

/** Shrinks the widest column until all fit, but none below the width of its title. */
function fitting(natural: readonly number[], columns: readonly Column[], width: number): number[] {
  const widths = [...natural]
  const least = columns.map(({ title }) => Math.max(4, lengthOf(title)))
  const room = width - gap * (columns.length - 1)
  let over = widths.reduce((sum, one) => sum + one, 0) - room
  while (over > 0) {
    const spare = widths.map((one, index) => one - (least[index] ?? 0))
    const widest = spare.indexOf(Math.max(...spare))
    if ((spare[widest] ?? 0) <= 0) break
    widths[widest] = (widths[widest] ?? 0) - 1
    over -= 1
  }
  return widths
}

/** Cuts a text to `width` characters; the last one is `…` if text is missing. */
export function cut(text: string, width: number): string {
  const letters = Array.from(text)
  return letters.length <= width ? text : `${letters.slice(0, Math.max(0, width - 1)).join('')}…`
}

/** Wraps a text at its spaces; a word longer than a line is not split, because users copy it. */
export function folded(text: string, width: number, first: string, further = ' '.repeat(lengthOf(first))): string[] {
  const lines: string[] = []
  let line = first
  let isEmpty = true
  for (const word of text.split(/\s+/).filter(Boolean).map(harmless)) {
    if (!isEmpty && lengthOf(line) + 1 + lengthOf(word) > width) {
      lines.push(line)
      line = further
      isEmpty = true
    }
    line += isEmpty ? word : ` ${word}`
    isEmpty = false
  }
  return [...lines, line.trimEnd()]
}

/** Replaces control characters: untrusted text must not move the cursor or set colors. */
function harmless(text: string): string {
  return visible(text).replace(/[\t\n]/g, '\uFFFD')
}

function padded(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - lengthOf(text)))
}

function lengthOf(text: string): number {
  return Array.from(text).length
}

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
