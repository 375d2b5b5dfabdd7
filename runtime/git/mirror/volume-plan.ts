/**
 * Decides which mirrors are dropped when the volume is full. Pure.
 */

/** `isBusy`: a fetch into it is running. */
export type StoredMirror = { key: string; bytes: number; namespaces: readonly string[]; usedAtMs: number; isBusy: boolean }

type Facts = {
  mirrors: readonly StoredMirror[]
  /** Limit of all mirrors together. */
  maxBytes: number
  /** Bytes that a fetch of the mirror `key` may bring. */
  needed: number
  key: string
}

/**
 * The mirrors to drop: only as many as free enough space; if that cannot be reached, only unused ones. Unused mirrors go first. A used one
 * goes only when every namespace that uses it holds more than its share; the requested space counts towards the share of the requesting
 * namespaces.
 */
export function planRoom({ mirrors, maxBytes, needed, key }: Facts): { drop: string[] } {
  const asking = mirrors.find((mirror) => mirror.key === key)
  const held = new Map<string, number>()
  const add = ({ bytes, namespaces }: Pick<StoredMirror, 'bytes' | 'namespaces'>, sign: 1 | -1): void => {
    for (const namespace of namespaces) held.set(namespace, (held.get(namespace) ?? 0) + (sign * bytes) / namespaces.length)
  }
  for (const mirror of mirrors) add(mirror, 1)
  if (asking !== undefined) add({ bytes: needed, namespaces: asking.namespaces }, 1)
  const share = maxBytes / Math.max(1, held.size)
  let free = maxBytes - mirrors.reduce((sum, { bytes }) => sum + bytes, 0)
  const drop: string[] = []
  const candidates = mirrors.filter((mirror) => mirror.key !== key && !mirror.isBusy && mirror.bytes > 0)
  const byAge = candidates.toSorted((a, b) => Number(a.namespaces.length > 0) - Number(b.namespaces.length > 0) || a.usedAtMs - b.usedAtMs)
  for (const mirror of byAge) {
    if (free >= needed) break
    if (!mirror.namespaces.every((namespace) => (held.get(namespace) ?? 0) > share)) continue
    drop.push(mirror.key)
    free += mirror.bytes
    add(mirror, -1)
  }
  return {
    drop: free >= needed ? drop : drop.filter((name) => mirrors.some((mirror) => mirror.key === name && mirror.namespaces.length === 0)),
  }
}
