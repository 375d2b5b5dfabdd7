/**
 * Reads from a mirror that may be damaged: after a failure that its files could explain, a new mirror is fetched and the read continues,
 * because a commit has the same content in every mirror.
 */
import type { BlobSink } from '../../content/protocol/protocol.ts'
import type { CommitHash } from '../../api/values.ts'

/** One method for each kind of read. Each throws what `read` throws when the mirror is not the cause, or fails a second time. */
export type Reading = {
  /** `read` must return the same batches on each call. */
  batches<Batch>(commit: CommitHash, read: () => AsyncIterable<Batch>, signal: AbortSignal): AsyncGenerator<Batch>
  bytes(commit: CommitHash, read: () => AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array>
  blobs(commit: CommitHash, read: (sink: BlobSink) => Promise<void>, sink: BlobSink, signal: AbortSignal): Promise<void>
  /** For a read that returns its result only at the end, so that it can simply be repeated. */
  whole<Value>(commit: CommitHash, read: () => Promise<Value>, signal: AbortSignal): Promise<Value>
}

type Deps = {
  /** Whether a failure may be caused by the mirror's files. */
  suspect(error: unknown): boolean
  /** Ensures that a sound mirror holds the commit, by a fetch into a new one if necessary. */
  renew(commit: CommitHash, signal: AbortSignal): Promise<void>
}

/** Each read is repeated once, in a new mirror, when the mirror's files may have caused its failure; any other failure is thrown. */
export function createReading({ suspect, renew }: Deps): Reading {
  /** Throws the failure again when a new mirror would not help. */
  const renewAfter = async (error: unknown, commit: CommitHash, signal: AbortSignal): Promise<void> => {
    if (signal.aborted || !suspect(error)) throw error
    await renew(commit, signal)
  }
  /**
   * The second reading skips the items that were passed on, measured by `sizeOf`; `cut` returns the rest of an item that was passed on in
   * part.
   */
  const resumed = async function* <Item>(
    commit: CommitHash,
    read: () => AsyncIterable<Item>,
    { sizeOf, cut }: { sizeOf(item: Item): number; cut(item: Item, from: number): Item },
    signal: AbortSignal,
  ): AsyncGenerator<Item> {
    let passed = 0
    try {
      for await (const item of read()) {
        passed += sizeOf(item)
        yield item
      }
      return
    } catch (error) {
      await renewAfter(error, commit, signal)
    }
    for await (const item of read()) {
      const known = Math.min(passed, sizeOf(item))
      passed -= known
      if (known < sizeOf(item)) yield known === 0 ? item : cut(item, known)
    }
  }
  return {
    batches: (commit, read, signal) => resumed(commit, read, { sizeOf: () => 1, cut: (batch) => batch }, signal),
    bytes: (commit, read, signal) =>
      resumed(commit, read, { sizeOf: ({ byteLength }) => byteLength, cut: (chunk, from) => chunk.subarray(from) }, signal),
    async blobs(commit, read, sink, signal) {
      const resumable = resumableSink(sink)
      try {
        await read(resumable.first)
      } catch (error) {
        await renewAfter(error, commit, signal)
        await read(resumable.again())
      }
    },
    async whole(commit, read, signal) {
      try {
        return await read()
      } catch (error) {
        await renewAfter(error, commit, signal)
        return await read()
      }
    },
  }
}

/** Repeats nothing: for a repository that is not a mirror. */
export const readAsItIs: Reading = {
  batches: async function* (_commit, read) {
    yield* read()
  },
  bytes: async function* (_commit, read) {
    yield* read()
  },
  blobs: async (_commit, read, sink) => await read(sink),
  whole: async (_commit, read) => await read(),
}

/** Counts what has reached a sink, so that a second reading passes on only the rest. */
function resumableSink(sink: BlobSink): { first: BlobSink; again(): BlobSink } {
  let ended = 0
  let begun = false
  let bytes = 0
  const first: BlobSink = {
    begin(id, size) {
      begun = true
      bytes = 0
      sink.begin(id, size)
    },
    data(chunk) {
      bytes += chunk.byteLength
      sink.data(chunk)
    },
    end() {
      begun = false
      ended += 1
      sink.end()
    },
  }
  const again = (): BlobSink => {
    let [blobsLeft, isOpen, bytesLeft] = [ended, begun, begun ? bytes : 0]
    return {
      begin(id, size) {
        if (blobsLeft > 0 || isOpen) return
        sink.begin(id, size)
      },
      data(chunk) {
        if (blobsLeft > 0) return
        const known = Math.min(bytesLeft, chunk.byteLength)
        bytesLeft -= known
        if (known < chunk.byteLength) sink.data(chunk.subarray(known))
      },
      end() {
        if (blobsLeft > 0) {
          blobsLeft -= 1
          return
        }
        isOpen = false
        sink.end()
      },
    }
  }
  return { first, again }
}
