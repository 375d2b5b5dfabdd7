/**
 * The output of a program in pieces of some size. Git writes 4 KiB at a time, and whoever is as fast as git is told of each: on a road of
 * several steps, at whose end each becomes a record of TLS, that costs more than what git does.
 */
import type { Readable } from 'node:stream'

/** Holds one piece, and lets the program wait while nobody takes it. The last piece may be smaller. Destroys the stream where it is left early. */
export async function* inPieces(stream: Readable, size: number): AsyncGenerator<Buffer> {
  let held: Buffer[] = []
  let bytes = 0
  let ended = false
  let failure: unknown
  let wake = (): void => undefined
  stream.on('data', (chunk: Buffer) => {
    held.push(chunk)
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
      const piece = Buffer.concat(held, bytes)
      held = []
      bytes = 0
      yield piece
      stream.resume()
    }
    if (failure !== undefined) throw failure
  } finally {
    stream.destroy()
  }
}
