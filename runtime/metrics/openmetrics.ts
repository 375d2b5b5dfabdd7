/**
 * The same figures as OpenMetrics, which Prometheus asks for first and which has room for exemplars: one example of what was counted.
 * Written here because prom-client renames its counters for good once it has written OpenMetrics. Pure.
 */

export const contentTypes = {
  text: 'text/plain; version=0.0.4; charset=utf-8',
  openMetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
} as const

export type Format = keyof typeof contentTypes

/** Which format an `accept` header asks for. Who names no preference gets the plain text. */
export function formatFor(accept: string | undefined): Format {
  return accept?.includes('application/openmetrics-text') === true ? 'openMetrics' : 'text'
}

/** One observation in a bucket of a histogram: what caused it, its value and when, in seconds. */
export type Exemplar = { requestId: string; value: number; atSeconds: number }

/** By the histogram and the upper bound of the bucket, as `<name> <le>`. */
export type Exemplars = ReadonlyMap<string, Exemplar>

/** Makes OpenMetrics of the text exposition format 0.0.4: of a counter only the samples are named `_total`, and no line is empty. */
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
