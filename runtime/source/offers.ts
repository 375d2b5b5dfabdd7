/**
 * Which blobs were told of with which commit. What a listing told of may be read without looking for it again; after a small push that
 * look would be most of the time.
 */
import type { Change } from '../delivery/protocol.ts'
import type { CommitHash, RelativePath } from '../gatewaysync/values.ts'

export type Offers = {
  /** What a commit holds below some folders, or what differs there. */
  add(commit: CommitHash, roots: readonly RelativePath[], changes: readonly Change[]): void
  /** Whether all of these were told of; false also when it was forgotten. */
  cover(commit: CommitHash, roots: readonly RelativePath[], ids: readonly CommitHash[]): boolean
}

/** Over all mirrors; 50 bytes each. */
const maxBlobs = 50_000

/** One for all mirrors, so that one bound holds; the least recently told of is forgotten first. */
export function rememberOffers(): Offers {
  const offers = new Map<string, Set<string>>()
  let blobs = 0
  const forgetOldest = (): void => {
    const [oldest] = offers
    if (oldest === undefined) return
    offers.delete(oldest[0])
    blobs -= oldest[1].size
  }
  return {
    add(commit, roots, changes) {
      const key = keyOf(commit, roots)
      const ids = offers.get(key) ?? new Set()
      const before = ids.size
      for (const change of changes) if (change.op === 'put' && change.mode !== '160000') ids.add(compact(change.id))
      blobs += ids.size - before
      offers.delete(key)
      offers.set(key, ids)
      while (blobs > maxBlobs) forgetOldest()
    },
    cover(commit, roots, ids) {
      const known = offers.get(keyOf(commit, roots))
      return known !== undefined && ids.every((id) => known.has(compact(id)))
    },
  }
}

function keyOf(commit: CommitHash, roots: readonly RelativePath[]): string {
  return [commit, ...roots].join('\0')
}

/** The bytes of one id: thousands are asked about in one request. */
const bytes = Buffer.alloc(32)

/** Half the size, and no piece of a longer text, which would stay in memory with it. */
function compact(id: CommitHash): string {
  return bytes.toString('latin1', 0, bytes.write(id, 'hex'))
}
