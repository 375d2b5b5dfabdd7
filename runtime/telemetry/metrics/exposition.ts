/**
 * The text format of metrics: for those that are computed at each scrape instead of being kept, and the conversion to OpenMetrics, which
 * Prometheus prefers and which can carry exemplars (one observation per bucket). Pure.
 */
import type { Metric } from './table.ts'

/** Values by name; values are escaped when they are written. */
export type Labels = Readonly<Record<string, string>>
/** `suffix`: `_sum` or `_count` of a summary. */
export type Sample = { labels?: Labels; value: number; suffix?: string }

/** Help and type, the first two lines of a metric, each with its end. */
export function heading(name: string, { help, type }: Metric): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`
}

/** One metric: help, type, samples, each line with its end. Text exposition format 0.0.4, which for gauges is valid OpenMetrics too. */
export function family(name: string, metric: Metric, samples: readonly Sample[]): string {
  const lines = samples.map(({ labels, value, suffix = '' }) => {
    const written = labels === undefined ? '' : `{${labelPairs(labels)}}`
    return `${name}${suffix}${written} ${value}\n`
  })
  return heading(name, metric) + lines.join('')
}

/** Labels as written between the braces. */
export function labelPairs(labels: Labels): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${escaped(value)}"`)
    .join(',')
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}

/** The content type of each format. */
export const contentTypes = {
  text: 'text/plain; version=0.0.4; charset=utf-8',
  openMetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
} as const

export type Format = keyof typeof contentTypes

/** Returns the format that an `accept` header requests; plain text by default. */
export function formatFor(accept: string | undefined): Format {
  return accept?.includes('application/openmetrics-text') === true ? 'openMetrics' : 'text'
}

/** One observation in a bucket of a histogram: what caused it, its value and when, in seconds. */
export type Exemplar = { requestId: string; value: number; atSeconds: number }

/** Keyed by the histogram's name and the bucket's upper bound, as `<name> <le>`. */
type Exemplars = ReadonlyMap<string, Exemplar>

/**
 * Implemented here because prom-client renames its counters permanently once it has written OpenMetrics. Converts text exposition format
 * 0.0.4: HELP and TYPE of a counter lose `_total`, empty lines go, exemplars and `# EOF` are added.
 */
export function toOpenMetrics(text: string, exemplars: Exemplars): string {
  const lines = text.split('\n').filter((line) => line !== '')
  const counters = new Set(lines.flatMap((line) => /^# TYPE (\S+)_total counter$/.exec(line)?.[1] ?? []))
  const written = lines.map((line) => (line.startsWith('#') ? describing(line, counters) : withExemplar(line, exemplars)))
  return `${written.join('\n')}\n# EOF\n`
}

function describing(line: string, counters: ReadonlySet<string>): string {
  const [, word, name = '', rest = ''] = /^# (HELP|TYPE) (\S+)_total (.*)$/.exec(line) ?? []
  return word !== undefined && counters.has(name) ? `# ${word} ${name} ${rest}` : line
}

function withExemplar(line: string, exemplars: Exemplars): string {
  if (exemplars.size === 0) return line
  const [, name = '', bound = ''] = /^(\w+)_bucket\{le="([^"]+)"\} /.exec(line) ?? []
  const found = name === '' ? undefined : exemplars.get(`${name} ${bound}`)
  if (found === undefined) return line
  return `${line} # {request_id="${found.requestId}"} ${found.value} ${found.atSeconds}`
}
