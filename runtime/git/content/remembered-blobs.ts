/**
 * Caches what the answers to `changes` have listed and read, for the requests of agents that follow: which blobs belong to a commit, and
 * small contents.
 */
import type { Change } from '../../content/protocol/protocol.ts'
import type { CommitHash, RelativePath } from '../../api/values.ts'
import { FairCache } from '../../platform/async/fair-cache.ts'

/** Shared by all mirrors, because a commit has the same blobs in each of them. */
export type ListedBlobs = {
  /** Records an answer to `changes` for a namespace: everything in some folders of a commit, or the differences from another commit there. */
  add(namespace: string, commit: CommitHash, roots: readonly RelativePath[], changes: readonly Change[]): void
  /** Whether all of these blobs were listed for this commit and these folders; false also if the entry was evicted. */
  includesAll(commit: CommitHash, roots: readonly RelativePath[], ids: readonly CommitHash[]): boolean
}

/** Over all mirrors; 50 bytes each. */
const maxBlobs = 50_000

/**
 * Caches which blobs the answers to `changes` have listed for a commit, so that the request for their content needs no second listing to
 * authorize it: after a small push that would take most of the time. Holds at most 50,000 ids; the namespace with the most loses its least
 * recently listed commit.
 */
export function rememberListedBlobs(): ListedBlobs {
  const byQuestion = new FairCache<Set<string>>({ max: maxBlobs })
  return {
    add(namespace, commit, roots, changes) {
      const key = keyOf(commit, roots)
      const ids = byQuestion.get(key) ?? new Set()
      for (const change of changes) if (change.op === 'put' && change.mode !== '160000') ids.add(compact(change.id))
      byQuestion.set(namespace, key, ids, { size: Math.max(1, ids.size) })
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

export type RecentBlobs = {
  /** `namespace`: for which it was read. */
  keep(namespace: string, id: CommitHash, content: Uint8Array): void
  /** The blobs as git frames them, in the order of the ids; undefined if one of them is not cached. */
  framed(ids: readonly CommitHash[]): Uint8Array[] | undefined
}

/** Over all mirrors, including the overhead of a blob. */
const defaultMaxBytes = 512 * 1024
const bytesBeside = 200

/**
 * Caches the small contents that were read with the answer to `changes`: the agents that receive the answer request them next, without a
 * new git process. A blob is identified by its content, so entries never become stale; access is checked elsewhere. One for all mirrors,
 * so that one limit applies.
 */
export function rememberBlobs(maxBytes = defaultMaxBytes): RecentBlobs {
  const frames = new FairCache<Uint8Array>({ max: maxBytes })
  return {
    keep(namespace, id, content) {
      // A copy, because the id may be a piece of a longer text, which would stay in memory with it.
      const own = Buffer.from(id, 'latin1').toString('latin1')
      const frame = Buffer.concat([Buffer.from(`${id} blob ${content.byteLength}\n`, 'latin1'), content, Buffer.from('\n')])
      frames.set(namespace, own, frame, { size: frame.byteLength + bytesBeside })
    },
    framed(ids) {
      const found = ids.flatMap((id) => frames.get(id) ?? [])
      return found.length === ids.length ? found : undefined
    },
  }
}
