/**
 * Reads CPU and memory of this process at each scrape, under the names that other Node programs use too.
 */
import { nodeMetrics } from './table.ts'
import { family } from './exposition.ts'

/** Text exposition format 0.0.4. */
export function exposeProcess(): string {
  const { rss, heapTotal, heapUsed, external } = process.memoryUsage()
  const { user, system } = process.cpuUsage()
  const values: Record<keyof typeof nodeMetrics, number> = {
    process_start_time_seconds: Math.round(performance.timeOrigin) / 1000,
    process_cpu_seconds_total: (user + system) / 1_000_000,
    process_resident_memory_bytes: rss,
    nodejs_heap_size_total_bytes: heapTotal,
    nodejs_heap_size_used_bytes: heapUsed,
    nodejs_external_memory_bytes: external,
  }
  const families = Object.entries(nodeMetrics).map(([name, metric]) =>
    family(name, metric, [{ value: values[name as keyof typeof nodeMetrics] }]),
  )
  return families.join('')
}
