/**
 * Encodes contents as `git cat-file --batch` frames, followed by an end frame that marks the answer as complete. Pure.
 */
import { Fault } from '../../platform/fault.ts'
import { isCommitHash } from '../../api/values.ts'
import type { BlobSink } from './protocol.ts'

/** Reads an answer in chunks and passes content to a sink. */
export type FramesReader = {
  /** Throws DeliveryFailed for damaged frames, CommitGone if git has no such object, and what the sink throws. */
  take(chunk: Buffer): void
  /** Returns the number of complete frames. */
  count(): number
  /** Whether the end frame has arrived: the answer is complete. */
  ended(): boolean
}

/** Frame callbacks. `begin` takes a header, `bytes` from `start` up to `end`, and returns how many bytes of content follow. */
type Frames = {
  maxHeaderBytes: number
  begin(bytes: Buffer, start: number, end: number): number
  data(chunk: Uint8Array): void
  end(): void
}

const newline = 10
const lastFrame = 'end'
/** `<id> blob <size>`. */
const maxHeaderBytes = 128
const missing = ' missing'

/**
 * Reads frames as git writes them, which are passed on unchanged: `<id> blob <size>`, a line feed, the content, a line feed. `type`: the
 * requested object type; only blobs are sent.
 */
export function framesReader(sink: BlobSink, type: 'blob' | 'tree' = 'blob'): FramesReader {
  const typed = `${type} `
  return readFrames({
    maxHeaderBytes,
    // Parsed by hand: twenty thousand of these arrive per second.
    begin(bytes, start, end) {
      const line = bytes.toString('latin1', start, end)
      const space = line.indexOf(' ')
      const id = line.slice(0, space)
      const size = line.startsWith(typed, space + 1) ? Number(line.slice(space + 1 + typed.length)) : Number.NaN
      if (!isCommitHash(id) || !Number.isSafeInteger(size) || size < 0) throw headerFault(line)
      sink.begin(id, size)
      return size
    },
    data: (chunk) => sink.data(chunk),
    end: () => sink.end(),
  })
}

/** Returns the end frame, without which the reader treats the answer as truncated. */
export function encodeLastFrame(): Uint8Array {
  return Buffer.from(`${lastFrame}\n`)
}

/** Reads frames with any header format. */
export function readFrames({ maxHeaderBytes: most, begin, data, end }: Frames): FramesReader {
  /** The beginning of a header that the last chunk split. */
  let cut: Buffer | undefined
  let left = -1
  let count = 0
  let complete = false
  const beginFrame = (bytes: Buffer, start: number, end: number): void => {
    if (end - start === lastFrame.length && bytes.toString('latin1', start, end) === lastFrame) complete = true
    else left = begin(bytes, start, end)
  }
  const takeHeader = (chunk: Buffer, at: number): number => {
    const found = chunk.indexOf(newline, at)
    const to = found < 0 ? chunk.length : found
    if ((cut?.length ?? 0) + to - at > most) throw new Fault('DeliveryFailed', 'a frame of the response is not terminated')
    if (found < 0) {
      // Copied: a chunk is valid only during its call.
      cut = Buffer.concat([cut ?? Buffer.alloc(0), chunk.subarray(at)])
      return chunk.length
    }
    if (cut === undefined) beginFrame(chunk, at, to)
    else {
      const bytes = Buffer.concat([cut, chunk.subarray(at, to)])
      cut = undefined
      beginFrame(bytes, 0, bytes.length)
    }
    return found + 1
  }
  return {
    take(chunk) {
      let at = 0
      while (at < chunk.length) {
        if (complete) throw new Fault('DeliveryFailed', 'the response continues after its end')
        if (left < 0) {
          at = takeHeader(chunk, at)
          continue
        }
        if (left > 0) {
          // Faster than a Buffer slice.
          const part = new Uint8Array(chunk.buffer, chunk.byteOffset + at, Math.min(left, chunk.length - at))
          data(part)
          left -= part.length
          at += part.length
          continue
        }
        if (chunk[at] !== newline) throw new Fault('DeliveryFailed', 'a blob is longer than announced')
        end()
        count += 1
        left = -1
        at += 1
      }
    },
    count: () => count,
    ended: () => complete,
  }
}

/** Returns the fault for a header without content: CommitGone if git reports the object as missing, otherwise DeliveryFailed. */
export function headerFault(line: string): Fault {
  if (line.endsWith(missing)) return new Fault('CommitGone', `the mirror has no object ${line.slice(0, line.indexOf(' '))}`)
  return new Fault('DeliveryFailed', `a frame of the response is damaged: ${JSON.stringify(line.slice(0, maxHeaderBytes))}`)
}
