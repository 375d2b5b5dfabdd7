/**
 * Provides a clock for an lru-cache with expiring entries.
 */

/** Options for `LRUCache`, which treats a start of 0 as unset, so its time begins at 1. */
export function cacheTime(clock: { monotonicMs(): number }): { ttlResolution: number; perf: { now(): number } } {
  return { ttlResolution: 0, perf: { now: () => 1 + clock.monotonicMs() } }
}
