/**
 * A commit of a mirror as the collection checks read it: a list of its ordinary files, and their contents on demand.
 */
import type { Difference, Entry, VersionedListing } from '../collections/listing.ts'
import { Fault } from '../fault.ts'
import { type CommitHash, isCommitHash, parseCommitHash, type RelativePath } from '../gatewaysync/values.ts'
import { readBlobs } from './blobs.ts'
import type { GitLimits } from './git.ts'
import { compareCommits, listCommit } from './listing.ts'

const batchSize = 1_000

export function mirrorListing(
  repository: { folder: string; limits: GitLimits },
  commit: CommitHash,
  roots: readonly RelativePath[],
): VersionedListing {
  return {
    async *list(signal) {
      for await (const batch of listCommit(repository, commit, roots, signal, false)) {
        yield batch.filter(isOrdinary).map(({ path, id }): Entry => ({ path, id }))
      }
    },
    async *changesSince(from, signal) {
      let batch: Difference[] = []
      for await (const change of compareCommits(repository, parseCommitHash(from), commit, roots, signal)) {
        const { path, id, status } = change
        batch.push({ path, id, gone: status === 'D' || !isOrdinary(change) })
        if (batch.length < batchSize) continue
        yield batch
        batch = []
      }
      if (batch.length > 0) yield batch
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

/** Links and submodules are never delivered. */
function isOrdinary({ mode }: { mode: string }): boolean {
  return mode === '100644' || mode === '100755'
}

function idOf({ id, path }: Entry): CommitHash {
  if (id !== undefined && isCommitHash(id)) return id
  throw new Fault('Unexpected', `"${path}" is no entry of this listing`)
}
