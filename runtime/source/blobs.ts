/**
 * Streams blobs out of a mirror by `git cat-file --batch`, in the order of the ids.
 */
import type { BlobSink } from '../delivery/protocol.ts'
import { Fault } from '../fault.ts'
import type { CommitHash } from '../gatewaysync/values.ts'
import { ending, type GitLimits, startGit } from './git.ts'

const timeoutMs = 600_000
const newline = 10
/** `<id> blob <size>`. */
const maxHeaderBytes = 128

/** Throws CommitGone for a blob that is not there, DeliveryFailed when git ends early, and what the sink throws. */
export async function readBlobs(
  { folder, limits }: { folder: string; limits: GitLimits },
  ids: readonly CommitHash[],
  sink: BlobSink,
  signal: AbortSignal,
): Promise<void> {
  const run = { folder, args: ['cat-file', '--batch', '--buffer'], timeoutMs }
  const child = startGit(run, limits)
  const own = new AbortController()
  const ended = ending(child, run, AbortSignal.any([signal, own.signal]))
  ended.catch(() => undefined)
  child.stdin.on('error', () => undefined)
  child.stdin.end(`${ids.join('\n')}\n`)
  const reader = batchReader(sink)
  let complete = false
  try {
    for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
      reader.take(chunk)
      await sink.drained?.()
    }
    await ended
    if (reader.count() !== ids.length) throw new Fault('DeliveryFailed', `git gave ${reader.count()} of ${ids.length} blobs`)
    complete = true
  } finally {
    if (!complete) own.abort(new Error('the reader has left'))
  }
}

/** Takes git's output apart: a header line, the content, a line end, again and again. */
export function batchReader(sink: BlobSink): { take(chunk: Buffer): void; count(): number } {
  let header = Buffer.alloc(0)
  let left = -1
  let blobs = 0
  const takeHeader = (chunk: Buffer, at: number): number => {
    const end = chunk.indexOf(newline, at)
    header = Buffer.concat([header, chunk.subarray(at, end < 0 ? chunk.length : end)])
    if (header.length > maxHeaderBytes) throw new Fault('DeliveryFailed', 'git wrote a header that is none')
    if (end < 0) return chunk.length
    const [id = '', type, size] = header.toString('latin1').split(' ')
    header = Buffer.alloc(0)
    if (type === 'missing') throw new Fault('CommitGone', `the mirror has no object ${id}`)
    if (type !== 'blob' || size === undefined) throw new Fault('DeliveryFailed', `object ${id} is a ${type ?? 'nothing'}, not a blob`)
    left = Number(size)
    sink.begin(id as CommitHash, left)
    return end + 1
  }
  return {
    take(chunk) {
      let at = 0
      while (at < chunk.length) {
        if (left < 0) {
          at = takeHeader(chunk, at)
          continue
        }
        if (left > 0) {
          const part = chunk.subarray(at, at + left)
          sink.data(part)
          left -= part.length
          at += part.length
          continue
        }
        // The line end behind the content.
        sink.end()
        blobs += 1
        left = -1
        at += 1
      }
    },
    count: () => blobs,
  }
}
