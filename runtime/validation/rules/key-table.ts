/**
 * Finds equal names among tens of thousands without keeping the names: it keeps only numbers, and recomputes a name if two are probably
 * equal. Pure.
 */

export type KeyTable = {
  /** Returns the earlier number with the same key, or -1, and replaces it with `at`. */
  put(key: string, at: number): number
}

/** Slots tried for one key. Half of all slots are free, so this many in a row are taken only if the names were chosen for it. */
const maxProbes = 64

/** Created for `count` keys; `keyOf` returns the key of an added number. */
export function createKeyTable(count: number, keyOf: (at: number) => string): KeyTable {
  const size = 2 ** Math.ceil(Math.log2(2 * count + 1))
  const hashes = new Int32Array(size)
  /** One more than the number; 0: the slot is free. */
  const numbers = new Int32Array(size)
  /** Keys whose slots are all taken by others, so that a hostile repository costs memory and not time. */
  const crowdedOut = new Map<string, number>()
  return {
    put(key, at) {
      const hash = hashOf(key)
      for (let probe = 0; probe < maxProbes; probe += 1) {
        const slot = (hash + probe) & (size - 1)
        const found = (numbers[slot] ?? 0) - 1
        if (found >= 0 && (hashes[slot] !== hash || keyOf(found) !== key)) continue
        hashes[slot] = hash
        numbers[slot] = at + 1
        return found
      }
      const found = crowdedOut.get(key) ?? -1
      crowdedOut.set(key, at)
      return found
    },
  }
}

/** FNV-1a over UTF-16 units, mixed so that the lowest bits differ. */
function hashOf(key: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < key.length; index += 1) hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193)
  hash ^= hash >>> 15
  hash = Math.imul(hash, 0x2c1b3c6d)
  return hash ^ (hash >>> 13)
}
