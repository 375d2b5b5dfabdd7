/**
 * Decides which mirrors are dropped when the volume is full, and how much a namespace leaves free for others. Pure.
 */

/** `isBusy`: a fetch into it is running. */
export type StoredMirror = { key: string; bytes: number; namespaces: readonly string[]; usedAtMs: number; isBusy: boolean }

/** Bytes that a running fetch of a namespace may still write. */
export type Reserved = { namespace: string; bytes: number }

type VolumeState = {
  mirrors: readonly StoredMirror[]
  reserved: Iterable<Reserved>
  /** Limit of all mirrors together. */
  maxBytes: number
  /** Bytes that a fetch of the mirror `key` may bring, for `namespace`. */
  needed: number
  key: string
  namespace: string
}

/**
 * The mirrors to drop: only as many as free enough space; if that cannot be reached, only unused ones. Unused mirrors go first. A used one
 * goes only when every namespace that uses it holds more than its share; running fetches and the requested space count towards the share of
 * their namespaces.
 */
export function planEviction(facts: VolumeState): { drop: string[] } {
  const { mirrors, reserved, maxBytes, needed, key } = facts
  const holdings = holdingsOf(facts)
  let free = maxBytes - sum(mirrors) - sum([...reserved])
  const drop: string[] = []
  const candidates = mirrors.filter((mirror) => mirror.key !== key && !mirror.isBusy && mirror.bytes > 0)
  const byAge = candidates.toSorted((a, b) => Number(a.namespaces.length > 0) - Number(b.namespaces.length > 0) || a.usedAtMs - b.usedAtMs)
  for (const mirror of byAge) {
    if (free >= needed) break
    if (!mirror.namespaces.every((namespace) => holdings.exceedsShare(namespace))) continue
    drop.push(mirror.key)
    free += mirror.bytes
    holdings.add(mirror, -1)
  }
  return {
    drop: free >= needed ? drop : drop.filter((name) => mirrors.some((mirror) => mirror.key === name && mirror.namespaces.length === 0)),
  }
}

/** The maximum that is left free: enough for most repositories. */
export const maxLeftBytes = 64 * 1024 * 1024

/** The bytes that a fetch leaves free for other namespaces: none within the share of its own. */
export function leftToOthers(facts: VolumeState): number {
  return holdingsOf(facts).exceedsShare(facts.namespace) ? Math.min(maxLeftBytes, facts.maxBytes / 16) : 0
}

/** What each namespace holds, including the requested space. There is always a share for one more namespace than one. */
function holdingsOf({ mirrors, reserved, maxBytes, needed, namespace: requester }: VolumeState) {
  const used = new Map([[requester, needed]])
  const add = ({ bytes, namespaces }: Pick<StoredMirror, 'bytes' | 'namespaces'>, sign: 1 | -1): void => {
    for (const namespace of namespaces) used.set(namespace, (used.get(namespace) ?? 0) + (sign * bytes) / namespaces.length)
  }
  for (const mirror of mirrors) add(mirror, 1)
  for (const { namespace, bytes } of reserved) add({ bytes, namespaces: [namespace] }, 1)
  const share = maxBytes / Math.max(2, used.size)
  return { add, exceedsShare: (namespace: string): boolean => (used.get(namespace) ?? 0) > share }
}

function sum(parts: readonly { bytes: number }[]): number {
  return parts.reduce((total, { bytes }) => total + bytes, 0)
}
