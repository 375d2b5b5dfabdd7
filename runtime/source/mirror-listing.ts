/**
 * A commit of a mirror as the collection checks read it: a list of its ordinary files, and their contents on demand.
 */
import type { Entry, Listing } from '../collections/listing.ts'
import { Fault } from '../fault.ts'
import { type CommitHash, isCommitHash, type RelativePath } from '../gatewaysync/values.ts'
import { readBlobs } from './blobs.ts'
import type { GitLimits } from './git.ts'
import { listCommit } from './listing.ts'

export function mirrorListing(
  repository: { folder: string; limits: GitLimits },
  commit: CommitHash,
  roots: readonly RelativePath[],
): Listing {
  return {
    async *list(signal) {
      for await (const batch of listCommit(repository, commit, roots, signal, false)) {
        yield batch.filter(({ mode }) => mode === '100644' || mode === '100755').map(({ path, id }): Entry => ({ path, id }))
      }
    },
    async read(entries, sink, signal) {
      if (entries.length === 0) return
      let index = 0
      const next = {
        begin: (_id: string, size: number) => sink.begin(entries[index] ?? { path: '' }, size),
        data: (chunk: Uint8Array) => sink.data(chunk),
        end() {
          index += 1
          sink.end()
        },
      }
      await readBlobs(repository, entries.map(idOf), next, signal)
    },
  }
}

function idOf({ id, path }: Entry): CommitHash {
  if (id !== undefined && isCommitHash(id)) return id
  throw new Fault('Unexpected', `"${path}" is no entry of this listing`)
}
