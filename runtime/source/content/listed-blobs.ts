/**
 * Remembers which blobs the answers to `changes` have listed for a commit, so that the request for their content needs no second listing of
 * the commit to be let in: after a small push that would take most of the time.
 */
import type { Change } from '../../delivery/protocol.ts'
import type { CommitHash, RelativePath } from '../../gatewaysync/values.ts'

/** Shared by all mirrors, for a commit holds the same blobs in each of them. */
export type ListedBlobs = {
  /** Notes an answer to `changes`: everything that a commit holds below some folders, or what differs from another commit there. */
  add(commit: CommitHash, roots: readonly RelativePath[], changes: readonly Change[]): void
  /** Whether all of these blobs were listed for this commit and these folders; also false when that was forgotten. */
  includesAll(commit: CommitHash, roots: readonly RelativePath[], ids: readonly CommitHash[]): boolean
}

/** Over all mirrors; 50 bytes each. */
const maxBlobs = 50_000

/** Holds at most 50,000 ids; the commit that was listed least recently is forgotten first. */
export function rememberListedBlobs(): ListedBlobs {
  const byQuestion = new Map<string, Set<string>>()
  let blobs = 0
  const forgetOldest = (): void => {
    const [oldest] = byQuestion
    if (oldest === undefined) return
    byQuestion.delete(oldest[0])
    blobs -= oldest[1].size
  }
  return {
    add(commit, roots, changes) {
      const key = keyOf(commit, roots)
      const ids = byQuestion.get(key) ?? new Set()
      const before = ids.size
      for (const change of changes) if (change.op === 'put' && change.mode !== '160000') ids.add(compact(change.id))
      blobs += ids.size - before
      byQuestion.delete(key)
      byQuestion.set(key, ids)
      while (blobs > maxBlobs) forgetOldest()
    },
    includesAll(commit, roots, ids) {
      const known = byQuestion.get(keyOf(commit, roots))
      return known !== undefined && ids.every((id) => known.has(compact(id)))
    },
  }
}

function keyOf(commit: CommitHash, roots: readonly RelativePath[]): string {
  return [commit, ...roots].join('\0')
}

/** The bytes of one id: thousands are asked about in one request. */
const bytes = Buffer.alloc(32)

/** Half the size of the hex text, and no slice of a longer string, which V8 would keep in memory with it. */
function compact(id: CommitHash): string {
  return bytes.toString('latin1', 0, bytes.write(id, 'hex'))
}
