/**
 * Generates text exposition for metrics that are computed at each scrape instead of being kept. Pure.
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
