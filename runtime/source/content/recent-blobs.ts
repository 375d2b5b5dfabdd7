/**
 * Remembers the small contents that came with the answer to `changes`: the agents that were told of them ask for them next, and git need not
 * be started again. A blob is named by its content, so what is remembered is never out of date; who may read it is asked elsewhere.
 */
import type { CommitHash } from '../../gatewaysync/values.ts'

export type RecentBlobs = {
  keep(id: CommitHash, content: Uint8Array): void
  /** The blobs as git frames them, in the order of the ids; undefined where one of them is not remembered. */
  framed(ids: readonly CommitHash[]): Uint8Array[] | undefined
}

/** Over all mirrors, with what a blob costs beside its content. */
const mostBytes = 512 * 1024
const bytesBeside = 200

/** One for all mirrors, so that one bound holds; what came first is forgotten first. */
export function rememberBlobs(most = mostBytes): RecentBlobs {
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
      if (bytes <= most) return
      forget(oldest)
    }
  }
  return {
    keep(id, content) {
      // A copy, for the id may be a piece of a longer text, which would stay in memory with it.
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
