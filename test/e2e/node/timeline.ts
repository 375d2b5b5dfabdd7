/**
 * Draws the progress of a push as an SVG image. Pure.
 */

/** A bar of the drawing: a name, and its start and end in milliseconds since the push. */
export type Bar = { name: string; fromMs: number; toMs: number }

const rowHeight = 18
const nameWidth = 180
const chartWidth = 620

/** An SVG document with a row for each bar and a scale up to the last end. */
export function timelineOf(title: string, bars: readonly Bar[]): string {
  const endMs = Math.max(1, ...bars.map(({ toMs }) => toMs))
  const x = (ms: number): number => nameWidth + Math.round((ms / endMs) * (chartWidth - nameWidth - 60))
  const rows = bars.map(({ name, fromMs, toMs }, index) => {
    const y = 30 + index * rowHeight
    const width = Math.max(2, x(toMs) - x(fromMs))
    const text = `<text x="4" y="${y + 12}">${escaped(name)}</text>`
    const bar = `<rect x="${x(fromMs)}" y="${y + 3}" width="${width}" height="${rowHeight - 6}" fill="#4a7ebb"/>`
    return `${text}${bar}<text x="${x(toMs) + 4}" y="${y + 12}">${Math.round(toMs - fromMs)} ms</text>`
  })
  const height = 40 + bars.length * rowHeight
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${chartWidth}" height="${height}" font-family="sans-serif" font-size="11">`,
    `<text x="4" y="16" font-weight="bold">${escaped(title)}</text>`,
    ...rows,
    '</svg>',
    '',
  ].join('\n')
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
