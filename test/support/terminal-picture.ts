/**
 * A picture of a terminal: lines appear in sequence at their original times, in light and dark mode, with selectable text. It plays once
 * and stops; with reduced motion only the end is shown. Pure.
 */
import type { Look, Piece, ScreenLine } from './terminal-screen.ts'

/** In pixels; the line height and character width of a 13 px font. */
const [lineHeight, characterWidth, margin, bar, fontSize] = [18, 7.8, 14, 30, 13]
/** The longest pause between two lines, because waiting for a poll is not interesting. */
const longestPauseMs = 1_400

/** The class names of the colors 1 to 6, in light and in dark mode. */
const colors: Readonly<Record<number, readonly [light: string, dark: string]>> = {
  1: ['#cf222e', '#ff7b72'],
  2: ['#116329', '#56d364'],
  3: ['#7d4e00', '#e3b341'],
  4: ['#0550ae', '#79c0ff'],
  5: ['#8250df', '#d2a8ff'],
  6: ['#0b6a75', '#76e3ea'],
}

/** `columns`: the width of the terminal. `title` is in its title bar and is the accessible name of the picture. */
export function terminalPicture(screen: readonly ScreenLine[], { title, columns }: { title: string; columns: number }): string {
  const lines = screen.flatMap((line) => wrapped(line, columns))
  const [width, height] = [Math.round(columns * characterWidth) + 2 * margin, bar + margin + lines.length * lineHeight + margin]
  let seconds = 0.3
  const drawn = lines.map(({ atMs, pieces }, index) => {
    const before = lines[index - 1]?.atMs ?? atMs
    seconds += Math.min(longestPauseMs, Math.max(0, atMs - before)) / 1000
    return drawnLine(pieces, bar + margin + (index + 0.75) * lineHeight, seconds)
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<style>${style()}</style>`,
    `<rect class="w" x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="8"/>`,
    `<text class="d n" x="${width / 2}" y="20" text-anchor="middle">${escaped(title)}</text>`,
    ...drawn.filter((line) => line !== ''),
    '</svg>',
    '',
  ].join('\n')
}

/** The text in a picture's terminal, line by line. */
export function wordsOfPicture(svg: string): string {
  const lines = [...svg.matchAll(/<text class="l"[^>]*>(.*)<\/text>$/gm)].map(([, inner = '']) => inner.replaceAll(/<[^>]*>/g, ''))
  return lines.map((line) => `${line.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')}\n`).join('')
}

/** Wraps long lines like a terminal. */
function wrapped({ atMs, pieces }: ScreenLine, columns: number): ScreenLine[] {
  const cells = pieces.flatMap(({ text, look }) => Array.from(text, (character) => ({ text: character, look })))
  const rows = Array.from({ length: Math.max(1, Math.ceil(cells.length / columns)) }, (_, row) =>
    cells.slice(row * columns, (row + 1) * columns),
  )
  return rows.map((row) => ({
    atMs,
    pieces: row.reduce<Piece[]>((before, cell) => {
      const last = before.at(-1)
      if (last?.look !== cell.look) return [...before, { ...cell }]
      return [...before.slice(0, -1), { look: cell.look, text: last.text + cell.text }]
    }, []),
  }))
}

/** The length is fixed, so that columns align in any font. */
function drawnLine(pieces: readonly Piece[], y: number, seconds: number): string {
  const length = pieces.reduce((sum, { text }) => sum + Array.from(text).length, 0)
  if (length === 0) return ''
  const inner = pieces.map(({ text, look }) => {
    const names = classesOf(look)
    return names === '' ? escaped(text) : `<tspan class="${names}">${escaped(text)}</tspan>`
  })
  const place = `x="${margin}" y="${y.toFixed(1)}" textLength="${(length * characterWidth).toFixed(1)}"`
  return `<text class="l" ${place} style="animation-delay:${seconds.toFixed(2)}s">${inner.join('')}</text>`
}

function classesOf({ bold, dim, color }: Look): string {
  return [...(bold ? ['b'] : []), ...(dim ? ['d'] : []), ...(color === undefined || !(color in colors) ? [] : [`c${color}`])].join(' ')
}

function style(): string {
  const each = (index: 0 | 1): string =>
    Object.entries(colors)
      .map(([name, pair]) => `.c${name}{fill:${pair[index]}}`)
      .join('')
  return [
    `text{font:${fontSize}px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre;fill:#1f2328}`,
    '.w{fill:#f6f8fa;stroke:#d0d7de}.d{fill:#59636e}.b{font-weight:bold}',
    each(0),
    '.l{animation:a .01s both}@keyframes a{from{opacity:0}}',
    '@media(prefers-reduced-motion:reduce){.l{animation:none}}',
    `@media(prefers-color-scheme:dark){text{fill:#e6edf3}.w{fill:#0d1117;stroke:#30363d}.d{fill:#9198a1}${each(1)}}`,
    '@media print{.l{animation:none}}',
  ].join('')
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
