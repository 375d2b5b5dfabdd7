/**
 * Remembers which blobs the answers to `changes` have listed for a commit, so that the request for their content needs no second listing of
 * the commit to be let in: after a small push that would take most of the time.
 */
import type { Change } from '../../delivery/protocol.ts'
import type { CommitHash, RelativePath } from '../../gatewaysync/values.ts'

export type ListedBlobs = {
  /** A listing of a commit below some folders: all that it holds there, or what differs from another commit. */
  add(commit: CommitHash, roots: readonly RelativePath[], changes: readonly Change[]): void
  /** Whether all of these blobs were listed; false also where that was forgotten, so that the commit has to be listed again. */
  includesAll(commit: CommitHash, roots: readonly RelativePath[], ids: readonly CommitHash[]): boolean
}

/** Over all mirrors; 50 bytes each. */
const maxBlobs = 50_000

/** One for all mirrors, so that one bound holds; the commit that was listed least recently is forgotten first. */
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

/** Half the size, and no piece of a longer text, which would stay in memory with it. */
function compact(id: CommitHash): string {
  return bytes.toString('latin1', 0, bytes.write(id, 'hex'))
}
