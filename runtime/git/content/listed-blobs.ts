/**
 * Caches which blobs the answers to `changes` have listed for a commit, so that the request for their content needs no second listing to authorize
 * it: after a small push that would take most of the time.
 */
import type { Change } from '../../content/protocol/protocol.ts'
import type { CommitHash, RelativePath } from '../../api/values.ts'

/** Shared by all mirrors, because a commit has the same blobs in each of them. */
export type ListedBlobs = {
  /** Records an answer to `changes`: everything in some folders of a commit, or the differences from another commit there. */
  add(commit: CommitHash, roots: readonly RelativePath[], changes: readonly Change[]): void
  /** Whether all of these blobs were listed for this commit and these folders; false also if the entry was evicted. */
  includesAll(commit: CommitHash, roots: readonly RelativePath[], ids: readonly CommitHash[]): boolean
}

/** Over all mirrors; 50 bytes each. */
const maxBlobs = 50_000

/** Holds at most 50,000 ids; evicts the least recently listed commit. */
export function rememberListedBlobs(): ListedBlobs {
  const byQuestion = new Map<string, Set<string>>()
  let blobs = 0
  const evictOldest = (): void => {
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
      while (blobs > maxBlobs) evictOldest()
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

/** The bytes of one id: one request may contain thousands. */
const bytes = Buffer.alloc(32)

/** Half the size of the hex text, and no slice of a longer string, which V8 would keep in memory with it. */
function compact(id: CommitHash): string {
  return bytes.toString('latin1', 0, bytes.write(id, 'hex'))
}
