/**
 * Text exposition for metrics that are computed at each scrape instead of being kept. Pure.
 */
import type { Metric } from './table.ts'

/** Values by name; values are escaped when they are written. */
export type Labels = Readonly<Record<string, string>>
/** `suffix`: `_sum` or `_count` of a summary. */
export type Sample = { labels?: Labels; value: number; suffix?: string }

/** The lines of one metric: help, type, samples. Text exposition format 0.0.4, which for gauges is valid OpenMetrics too. */
export function family(name: string, { help, type }: Metric, samples: readonly Sample[]): string[] {
  return [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} ${type}`,
    ...samples.map(({ labels = {}, value, suffix = '' }) => `${name}${suffix}${labelText(labels)} ${value}`),
  ]
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
