/**
 * How contents travel: in the frames of `git cat-file --batch`, behind which a last frame says that nothing is missing. Pure.
 */
import { Fault } from '../fault.ts'
import { isCommitHash } from '../gatewaysync/values.ts'
import type { BlobSink } from './protocol.ts'

/** Reads an answer piece by piece and hands content to a sink. */
export type FramesReader = {
  /** Throws DeliveryFailed where the frames are damaged, CommitGone where git has no such object, and what the sink throws. */
  take(chunk: Buffer): void
  /** How many frames are complete. */
  count(): number
  /** Whether the end mark has come: nothing is missing. */
  ended(): boolean
}

/** What frames are read into. `begin` takes a header, `bytes` from `start` up to `end`, and returns how many bytes of content follow. */
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
 * Reads frames as git writes them, for they travel unchanged: `<id> blob <size>`, a line feed, the content, a line feed. `type`: what git
 * was asked for; only blobs travel.
 */
export function framesReader(sink: BlobSink, type: 'blob' | 'tree' = 'blob'): FramesReader {
  const typed = `${type} `
  return readFrames({
    maxHeaderBytes,
    // Cut by hand: twenty thousand of these come in a second.
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

/** The bytes after the last content, without which the reader takes the answer for cut off. */
export function encodeLastFrame(): Uint8Array {
  return Buffer.from(`${lastFrame}\n`)
}

/** Reads frames with headers of any form. */
export function readFrames({ maxHeaderBytes: most, begin, data, end }: Frames): FramesReader {
  /** The beginning of a header that the last chunk cut. */
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
    if ((cut?.length ?? 0) + to - at > most) throw new Fault('DeliveryFailed', 'a frame of the answer has no end')
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
        if (complete) throw new Fault('DeliveryFailed', 'the answer goes on behind its end')
        if (left < 0) {
          at = takeHeader(chunk, at)
          continue
        }
        if (left > 0) {
          // Quicker than a part of a Buffer, which is one too.
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

/** What a header means that names no content: CommitGone where git says that the object is missing, otherwise DeliveryFailed. */
export function headerFault(line: string): Fault {
  if (line.endsWith(missing)) return new Fault('CommitGone', `the mirror has no object ${line.slice(0, line.indexOf(' '))}`)
  return new Fault('DeliveryFailed', `a frame of the answer is damaged: ${JSON.stringify(line.slice(0, maxHeaderBytes))}`)
}
