/**
 * The text that Prometheus reads, for figures that are made at each scrape instead of being kept. Pure.
 */
import type { Metric } from './table.ts'

export type Labels = Readonly<Record<string, string>>
/** `suffix`: of a summary, `_sum` or `_count`. */
export type Sample = { labels?: Labels; value: number; suffix?: string }

/** The lines of one metric: what it means, its type, its samples. Text exposition format 0.0.4, which OpenMetrics reads too for a gauge. */
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
