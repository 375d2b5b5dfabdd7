/** Bounds a Set or Map: when it has more than `most` entries, the one added first is removed. To be called after each addition. */
export function forgetOldest<Key>(known: { size: number; keys(): Iterable<Key>; delete(key: Key): boolean }, most: number): void {
  if (known.size <= most) return
  const [oldest] = known.keys()
  if (oldest !== undefined) known.delete(oldest)
}
