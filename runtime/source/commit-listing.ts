/**
 * A commit as a listing for the checks of collections: names by `ls-tree`, contents by one `cat-file` for all.
 */
import type { BlobSink } from '../delivery/protocol.ts'
import type { ContentSink, Entry, Listing } from '../collections/listing.ts'
import { Fault } from '../fault.ts'
import { type CommitHash, isWithin, type RelativePath } from '../gatewaysync/values.ts'
import { readBlobs } from './blobs.ts'
import type { GitLimits } from './git.ts'
import { listCommit } from './listing.ts'

/** Ordinary files of a commit below the roots; `''` is all of it. */
export function commitListing(repository: { folder: string; limits: GitLimits }, commit: CommitHash, roots: readonly string[]): Listing {
  return {
    async *list(signal) {
      for await (const batch of listCommit(repository, commit, roots as readonly RelativePath[], signal)) {
        yield batch
          .filter(({ mode, path }) => mode.startsWith('100') && roots.some((root) => isWithin(path, root)))
          .map(({ path, size, id }): Entry => ({ path, size, id }))
      }
    },
    async read(entries, sink, signal) {
      if (entries.length === 0) return
      const ids = entries.map(({ id, path }) => {
        if (id === undefined) throw new Fault('CommitGone', `${path} is not of this commit`)
        return id as CommitHash
      })
      await readBlobs(repository, ids, blobSink(entries, sink), signal)
    },
  }
}

/** Contents come in the order of the ids, so the n-th is that of the n-th entry. */
function blobSink(entries: readonly Entry[], sink: ContentSink): BlobSink {
  let index = 0
  return {
    begin() {
      const entry = entries[index]
      index += 1
      if (entry !== undefined) sink.begin(entry)
    },
    data: (chunk) => sink.data(chunk),
    end: () => sink.end(),
  }
}
