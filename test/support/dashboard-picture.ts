/**
 * Draws a dashboard from answers of Prometheus: the panels in their places, with plain lines. Not Grafana's rendering, but the same queries
 * and units. Pure.
 */
import type { dashboards } from '../../infra/constructs/dashboards.ts'

type Dashboard = ReturnType<typeof dashboards>[string]

/** One line of a panel: its legend, and points of seconds and value. */
export type Line = { legend: string; points: readonly (readonly [number, number])[] }

const [panelWidth, panelHeight, gap, columns] = [300, 190, 12, 3]
const colors = ['#1f77b4', '#ff7f0e', '#2ca02c', '#d62728', '#9467bd', '#8c564b']
/** Further lines of a panel are counted, not drawn. */
const maxLines = colors.length

export function pictureOf({ title, panels }: Dashboard, linesOf: (title: string) => readonly Line[]): string {
  const rows = Math.ceil(panels.length / columns)
  const [width, height] = [columns * (panelWidth + gap) + gap, rows * (panelHeight + gap) + gap + 30]
  const drawn = panels.map(({ title: name, type, fieldConfig }, index) => {
    const x = gap + (index % columns) * (panelWidth + gap)
    const y = gap + 30 + Math.floor(index / columns) * (panelHeight + gap)
    const lines = linesOf(name)
    const { unit } = fieldConfig.defaults
    const body = type === 'stat' ? stat(lines, unit) : graph(lines, unit)
    return [
      `<g transform="translate(${x},${y})">`,
      `<rect width="${panelWidth}" height="${panelHeight}" rx="3" fill="#fff" stroke="#d0d7de"/>`,
      text(10, 20, name, 'font-weight="bold"'),
      ...body,
      '</g>',
    ].join('\n')
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">`,
    `<rect width="${width}" height="${height}" fill="#f6f8fa"/>`,
    text(gap, 26, title, 'font-size="16" font-weight="bold"'),
    ...drawn,
    '</svg>',
    '',
  ].join('\n')
}

function stat(lines: readonly Line[], unit: string): string[] {
  const last = lines[0]?.points.at(-1)?.[1]
  return [text(panelWidth / 2, 115, last === undefined ? 'no data' : withUnit(last, unit), 'font-size="40" text-anchor="middle"')]
}

function graph(all: readonly Line[], unit: string): string[] {
  const busiest = all.toSorted((a, b) => peakOf(b) - peakOf(a))
  const lines = busiest.slice(0, maxLines)
  const times = lines.flatMap(({ points }) => points.map(([at]) => at))
  const top = Math.max(...lines.map(peakOf), 0) || 1
  const [from, to] = [Math.min(...times), Math.max(...times)]
  const [left, right, upper, lower] = [46, panelWidth - 10, 32, 122]
  const place = ([at, value]: readonly [number, number]): string => {
    const x = left + ((at - from) / (to - from || 1)) * (right - left)
    return `${x.toFixed(1)},${(lower - (value / top) * (lower - upper)).toFixed(1)}`
  }
  return [
    `<path d="M${left} ${upper}V${lower}H${right}" fill="none" stroke="#8c959f"/>`,
    text(left - 4, upper + 4, withUnit(top, unit), 'font-size="10" text-anchor="end"'),
    text(left - 4, lower, '0', 'font-size="10" text-anchor="end"'),
    ...lines.flatMap(({ legend, points }, index) => {
      const color = colors[index] ?? '#000'
      const [x, y] = [10 + (index % 2) * 145, 142 + Math.floor(index / 2) * 15]
      return [
        `<polyline points="${points.map(place).join(' ')}" fill="none" stroke="${color}" stroke-width="1.5"/>`,
        `<rect x="${x}" y="${y - 8}" width="9" height="9" fill="${color}"/>`,
        text(x + 13, y, legend === '' ? 'value' : legend, 'font-size="10"'),
      ]
    }),
    ...(all.length > maxLines ? [text(right, 26, `and ${all.length - maxLines} more`, 'font-size="10" text-anchor="end"')] : []),
  ]
}

function peakOf({ points }: Line): number {
  return Math.max(...points.map(([, value]) => value), 0)
}

function withUnit(value: number, unit: string): string {
  if (unit === 'bytes') return `${Math.round(value / 1024 / 1024)} MiB`
  if (unit === 'percentunit') return `${Number((value * 100).toPrecision(2))} %`
  if (unit === 's' && value >= 172_800) return `${Math.round(value / 86_400)} days`
  return `${Number(value.toPrecision(3))}${unit === 's' ? ' s' : ''}`
}

function text(x: number, y: number, words: string, attributes = ''): string {
  const escaped = words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  return `<text x="${x}" y="${y}" ${attributes}>${escaped}</text>`
}
