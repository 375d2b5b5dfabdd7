/**
 * The watch metrics of the replicas, read like Prometheus. A killed replica loses its counters, so they are read before.
 */
import { systemClock } from '../../../runtime/platform/clock.ts'
import type { Scrape } from '../../benchmark/scale/scrape.ts'

/**
 * By kind of object. `differences`: changes that a list found and the watch had missed; `lists`: the number of watches that began with a
 * list.
 */
export type WatchFigures = Record<string, { differences: number; lists: number; resumed: number }>

/** Without a connection to the API server a replica cannot authorize metrics readers. */
const readWithinMs = 90_000
const againMs = 250

/** Throws if the metrics cannot be read in time or are missing. */
export async function readWatchFigures(scrape: () => Promise<Scrape>): Promise<WatchFigures> {
  const endMs = systemClock.monotonicMs() + readWithinMs
  for (;;) {
    const last = await scrape().catch((error: unknown) => String(error))
    if (typeof last !== 'string' && last.status === 200) return parseWatchFigures(last.text)
    if (systemClock.monotonicMs() > endMs)
      throw new Error(`the metrics were not told: ${typeof last === 'string' ? last : `${last.status} ${last.text.slice(0, 200)}`}`)
    await systemClock.wait(againMs)
  }
}

/** Throws if there are no such metrics: a missing value must not count as zero. */
export function parseWatchFigures(text: string): WatchFigures {
  const figures: WatchFigures = {}
  const of = (kind: string) => (figures[kind] ??= { differences: 0, lists: 0, resumed: 0 })
  let told = 0
  for (const [, name = '', labels = '', value = ''] of text.matchAll(
    /^(clustersync_relist_differences_total|clustersync_watch_restarts_total)\{([^}]*)\} (\S+)/gm,
  )) {
    const { kind, from } = Object.fromEntries([...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, label = '', is = '']) => [label, is]))
    if (kind === undefined) continue
    if (name === 'clustersync_relist_differences_total') {
      of(kind).differences += Number(value)
      told += 1
    } else if (from === 'list') of(kind).lists += Number(value)
    else of(kind).resumed += Number(value)
  }
  if (told === 0) throw new Error('clustersync_relist_differences_total is not among the metrics')
  return figures
}
