/**
 * Caches the small contents that were read with the answer to `changes`: the agents that receive the answer request them next, without a new git
 * process. A blob is identified by its content, so entries never become stale; access is checked elsewhere.
 */
import type { CommitHash } from '../../api/values.ts'

export type RecentBlobs = {
  keep(id: CommitHash, content: Uint8Array): void
  /** The blobs as git frames them, in the order of the ids; undefined if one of them is not cached. */
  framed(ids: readonly CommitHash[]): Uint8Array[] | undefined
}

/** Over all mirrors, including the overhead of a blob. */
const defaultMaxBytes = 512 * 1024
const bytesBeside = 200

/** One for all mirrors, so that one limit applies; evicts the oldest entry first. */
export function rememberBlobs(maxBytes = defaultMaxBytes): RecentBlobs {
  const frames = new Map<CommitHash, Uint8Array>()
  let bytes = 0
  const forget = (id: CommitHash): void => {
    const frame = frames.get(id)
    if (frame === undefined) return
    frames.delete(id)
    bytes -= frame.byteLength + bytesBeside
  }
  const remember = (id: CommitHash, frame: Uint8Array): void => {
    forget(id)
    frames.set(id, frame)
    bytes += frame.byteLength + bytesBeside
    for (const oldest of frames.keys()) {
      if (bytes <= maxBytes) return
      forget(oldest)
    }
  }
  return {
    keep(id, content) {
      // A copy, because the id may be a piece of a longer text, which would stay in memory with it.
      const own = Buffer.from(id, 'latin1').toString('latin1') as CommitHash
      remember(own, Buffer.concat([Buffer.from(`${id} blob ${content.byteLength}\n`, 'latin1'), content, Buffer.from('\n')]))
    },
    framed(ids) {
      if (!ids.every((id) => frames.has(id))) return undefined
      const found = ids.map((id) => frames.get(id) ?? new Uint8Array())
      return found
    },
  }
}
