/**
 * Combines the output of a program into larger chunks. Git writes 4 KiB at a time; passing each chunk through several steps and into its
 * own TLS record would cost more than git's own work.
 */
import type { Readable } from 'node:stream'

/** Holds at most about one piece, and pauses the program until it is taken. The last piece may be smaller. Destroys the stream at the end. */
export async function* rechunk(stream: Readable, size: number): AsyncGenerator<Buffer> {
  let buffered: Buffer[] = []
  let bytes = 0
  let ended = false
  let failure: unknown
  let wake = (): void => undefined
  stream.on('data', (chunk: Buffer) => {
    buffered.push(chunk)
    bytes += chunk.length
    if (bytes < size) return
    stream.pause()
    wake()
  })
  stream.once('error', (error) => {
    failure = error
  })
  stream.once('close', () => {
    ended = true
    wake()
  })
  try {
    while (bytes > 0 || !ended) {
      if (bytes < size && !ended) await new Promise<void>((resolve) => (wake = resolve))
      if (failure !== undefined) throw failure
      if (bytes === 0) continue
      const piece = Buffer.concat(buffered, bytes)
      buffered = []
      bytes = 0
      yield piece
      stream.resume()
    }
    if (failure !== undefined) throw failure
  } finally {
    stream.destroy()
  }
}
