/** What is remembered in a Set or Map, bounded: beyond `most` entries the one that has been in it longest goes. Pure. */
export function forgetOldest<Key>(known: { size: number; keys(): Iterable<Key>; delete(key: Key): boolean }, most: number): void {
  if (known.size <= most) return
  const [oldest] = known.keys()
  if (oldest !== undefined) known.delete(oldest)
}
