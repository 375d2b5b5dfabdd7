/**
 * Caches the small contents that were read with the answer to `changes`: the agents that receive the answer request them next, without a new git
 * process. A blob is identified by its content, so entries never become stale; access is checked elsewhere.
 */
import type { CommitHash } from '../../api/values.ts'
import { FairCache } from '../../platform/async/fair-cache.ts'

export type RecentBlobs = {
  /** `namespace`: for which it was read. */
  keep(namespace: string, id: CommitHash, content: Uint8Array): void
  /** The blobs as git frames them, in the order of the ids; undefined if one of them is not cached. */
  framed(ids: readonly CommitHash[]): Uint8Array[] | undefined
}

/** Over all mirrors, including the overhead of a blob. */
const defaultMaxBytes = 512 * 1024
const bytesBeside = 200

/** One for all mirrors, so that one limit applies. */
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
