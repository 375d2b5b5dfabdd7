/**
 * Lists the regular files of a commit in a mirror for validation, and reads their contents on demand.
 */
import type { ContentSink, FileEntry, Listing } from '../../validation/model/listing.ts'
import type { BlobSink } from '../../content/protocol/protocol.ts'
import { Fault } from '../../platform/fault.ts'
import { type CommitHash, isCommitHash, type RelativePath } from '../../api/values.ts'
import { readBlobs } from './read-blobs.ts'
import type { GitLimits, StartGit } from '../command/git.ts'
import { listCommit } from './list-files.ts'
import { readAsItIs, type Reading } from './reading.ts'

/** A local mirror. `start`: how a thread that may be ended starts git. */
export type Repository = { folder: string; limits: GitLimits; start?: StartGit }

/** A repository and how its reads recover from damage; by default they do not. */
type Read = Repository & { reading?: Reading }

/**
 * The content of a commit below `roots` for the checks; only ordinary files, no links or submodules. Reading throws the faults of git.
 */
export function mirrorListing(repository: Read, commit: CommitHash, roots: readonly RelativePath[]): Listing {
  const { reading = readAsItIs } = repository
  return {
    async *list(signal) {
      for await (const batch of reading.batches(commit, () => listCommit(repository, commit, roots, signal, false), signal)) {
        yield batch.filter(isOrdinary).map(({ path, id }): FileEntry => ({ path, id }))
      }
    },
    async read(entries, sink, signal) {
      if (entries.length === 0) return
      const read = async (reader: BlobSink): Promise<void> => await readBlobs(repository, entries.map(idOf), reader, signal)
      await reading.blobs(commit, read, entrySink(entries, sink), signal)
    },
  }
}

/** Passes blobs on, each with its entry: they arrive in the order in which they were requested. */
export function entrySink(entries: readonly FileEntry[], sink: ContentSink): BlobSink {
  let index = 0
  return {
    begin(_id, size) {
      sink.begin(entries[index] ?? { path: '' }, size)
    },
    data: (chunk) => sink.data(chunk),
    end() {
      index += 1
      sink.end()
    },
  }
}

/** Links and submodules are never delivered. */
export function isOrdinary({ mode }: { mode: string }): boolean {
  return mode === '100644' || mode === '100755'
}

/** The blob of an entry. Throws Unexpected for an entry of another listing. */
export function idOf({ id, path }: FileEntry): CommitHash {
  if (id !== undefined && isCommitHash(id)) return id
  throw new Fault('Unexpected', `"${path}" is not an entry of this listing`)
}
