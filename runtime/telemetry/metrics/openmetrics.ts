/**
 * Converts metrics to OpenMetrics, which Prometheus prefers and which can carry exemplars (one observation per bucket). Implemented here
 * because prom-client renames its counters permanently once it has written OpenMetrics. Pure.
 */

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
export type Exemplars = ReadonlyMap<string, Exemplar>

/** Converts text exposition format 0.0.4: HELP and TYPE of a counter lose `_total`, empty lines go, exemplars and `# EOF` are added. */
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
