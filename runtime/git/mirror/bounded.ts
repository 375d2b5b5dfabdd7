/**
 * Bounds a Set or Map: when it has more than `max` entries, the oldest one is removed. Call it after each addition.
 */
export function evictOldest<Key>(known: { size: number; keys(): Iterable<Key>; delete(key: Key): boolean }, max: number): void {
  if (known.size <= max) return
  const [oldest] = known.keys()
  if (oldest !== undefined) known.delete(oldest)
}
