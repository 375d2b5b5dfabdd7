/**
 * Lists a commit of a mirror for validation: compared with the previous commit, with small contents read by the same git process.
 */
import type { Difference, VersionedListing } from '../../validation/model/listing.ts'
import { type CommitHash, parseCommitHash, type RelativePath } from '../../api/values.ts'
import { type ObjectReader, openObjectReader } from '../command/object-reader.ts'
import { compareTrees, type CachedTrees, noCachedTrees, type ReadTrees } from './compare-trees.ts'
import { entrySink, idOf, isOrdinary, mirrorListing, type Repository } from './mirror-listing.ts'

/** The state that listings share; only one listing uses it at a time. */
export type ListingReader = { objects: ObjectReader; known: CachedTrees }

/** With at least this many contents a separate process, which writes them in large pieces, costs less than one piece per object. */
const manyContents = 100

/** Starts no process until something is read. `objects.end()` ends it. */
export function openListingReader(clock: Parameters<typeof openObjectReader>[0]): ListingReader {
  return { objects: openObjectReader(clock), known: noCachedTrees() }
}

/**
 * The content of a commit below `roots`; only ordinary files, no links or submodules. One call at a time, over all listings with the same
 * reader. Reading throws the faults of git.
 */
export function validationListing(
  repository: Repository,
  commit: CommitHash,
  roots: readonly RelativePath[],
  { objects, known }: ListingReader,
): VersionedListing {
  const whole = mirrorListing(repository, commit, roots)
  return {
    list: whole.list,
    async *changesSince(from, signal) {
      const read: ReadTrees = async (question) => await objects.read(repository, question, signal)
      for await (const batch of compareTrees(read, parseCommitHash(from), commit, roots, known)) {
        yield batch.map(({ path, after }): Difference => {
          const isHere = after !== undefined && isOrdinary(after)
          return isHere ? { path, id: after.id, gone: false } : { path, gone: true }
        })
      }
    },
    async read(entries, sink, signal) {
      if (entries.length >= manyContents) await whole.read(entries, sink, signal)
      else await objects.read(repository, { type: 'blob', names: entries.map(idOf), sink: entrySink(entries, sink) }, signal)
    },
  }
}
