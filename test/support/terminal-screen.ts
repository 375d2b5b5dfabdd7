/**
 * The final lines of a terminal from the data it received: text with colors, without overwritten text. Pure.
 */
import type { Received } from './terminal.ts'

/** The style of a piece of a line: the SGR codes of ECMA-48 that this product and git use. */
export type Look = { bold: boolean; dim: boolean; color: number | undefined }
export type Piece = { text: string; look: Look }
/** `atMs`: arrival time of its last part. */
export type ScreenLine = { atMs: number; pieces: readonly Piece[] }

const plain: Look = { bold: false, dim: false, color: undefined }

type Cell = { character: string; look: Look }

/** Complete lines; the last one may still be overwritten and is left out. */
export function linesOfScreen(received: readonly Received[]): ScreenLine[] {
  const lines: ScreenLine[] = []
  let cells: Cell[] = []
  let column = 0
  let look = plain
  // A sequence may arrive in two parts; the received length locates the part of each time.
  const ends: number[] = []
  let text = ''
  for (const part of received) {
    text += part.text
    ends.push(text.length)
  }
  const timeAt = (index: number): number => received[ends.findIndex((end) => index < end)]?.atMs ?? 0
  // oxlint-disable-next-line no-control-regex -- what a terminal obeys begins with one
  const parts = /\u001b\]([^\u0007]*)\u0007|\u001b\[([0-9;?]*)([a-zA-Z])|\u001b.|[\u0000-\u001f]|[^\u0000-\u001f]/gu
  for (const match of text.matchAll(parts)) {
    const [whole, title, codes = '', command] = match
    if (title !== undefined) continue
    if (command === 'm') look = changed(look, codes)
    else if (command === 'K' && codes === '2') cells = []
    else if (command === 'K' && (codes === '' || codes === '0')) cells = cells.slice(0, column)
    else if (whole === '\r') column = 0
    else if (whole === '\n') {
      lines.push({ atMs: timeAt(match.index), pieces: piecesOf(cells) })
      cells = []
    } else if (/^[^\p{Cc}]$/u.test(whole)) {
      cells[column] = { character: whole, look }
      column += 1
    }
  }
  return lines
}

export function textOfLines(lines: readonly ScreenLine[]): string {
  return lines.map(({ pieces }) => `${pieces.map(({ text }) => text).join('')}\n`).join('')
}

function changed(look: Look, codes: string): Look {
  return codes.split(';').reduce((before, code) => {
    const number = Number(code)
    if (number === 0) return plain
    if (number === 1) return { ...before, bold: true }
    if (number === 2) return { ...before, dim: true }
    if (number >= 30 && number <= 37) return { ...before, color: number - 30 }
    return before
  }, look)
}

/** Merges adjacent cells of the same style; skipped cells are blanks. */
function piecesOf(cells: readonly (Cell | undefined)[]): Piece[] {
  const pieces: Piece[] = []
  for (const cell of Array.from(cells, (each) => each ?? { character: ' ', look: plain })) {
    const last = pieces.at(-1)
    if (last !== undefined && JSON.stringify(last.look) === JSON.stringify(cell.look)) last.text += cell.character
    else pieces.push({ text: cell.character, look: cell.look })
  }
  return pieces
}
