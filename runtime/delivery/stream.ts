/**
 * Sends an answer of delivery to its reader: it is made only as fast as it is read, and the connection is closed when it is not read.
 */
import type { ServerResponse } from 'node:http'
import type { Clock } from '../clock.ts'
import { asFault, Fault, isAbort } from '../fault.ts'
import type { Log } from '../log.ts'

/** A reader that needs longer than this for 64 KiB takes less than 6 KiB a second: no disk is so slow. */
const usualSlowAfterMs = 10_000
/** How much may be buffered for a slow reader before git has to wait too. */
const highWaterBytes = 128 * 1024

/** One answer's connection, and how patient the server is with its reader. */
export type Streaming = {
  /** Aborted when the reader has gone, or when it is disconnected for reading nothing. */
  left: AbortController
  /** Undefined when there is no connection, as in a test that calls the app itself. */
  outgoing: ServerResponse | undefined
  clock: Clock
  log: Log
  /** How long a reader may take for the bytes that wait for it: one chunk of git and what the connection buffers. */
  slowAfterMs?: number
}

/**
 * Turns chunks into a body that is made only as fast as it is read. Waits for the first chunk and throws what making it throws, so that a
 * refusal can still have its own status; later only the missing last frame says that something went wrong. A reader that takes nothing for
 * `slowAfterMs` is disconnected.
 */
export async function streamed(
  chunks: AsyncGenerator<Uint8Array>,
  { left, outgoing, clock, log, slowAfterMs = usualSlowAfterMs }: Streaming,
): Promise<ReadableStream<Uint8Array>> {
  let first: IteratorResult<Uint8Array> | undefined = await chunks.next()
  /** Runs while something waits for the reader. */
  let patience = new AbortController()
  const letGo = (): void => {
    const fault = new Fault('Timeout', `the reader took nothing for ${slowAfterMs / 1000} s`)
    cutOff(log, fault)
    left.abort(fault)
    outgoing?.destroy(fault)
    // The generator may be waiting for its next chunk; it ends after that.
    void chunks.return(undefined).catch(() => undefined)
  }
  const waitForReader = (): void => {
    patience = new AbortController()
    clock.wait(slowAfterMs, AbortSignal.any([patience.signal, left.signal])).then(letGo, () => undefined)
  }
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        patience.abort()
        try {
          const next = first ?? (await chunks.next())
          first = undefined
          if (next.done === true) controller.close()
          else controller.enqueue(next.value)
          // The chunks that are still queued at the end must be read too.
          if (next.done === true || (controller.desiredSize ?? 0) <= 0) waitForReader()
        } catch (error) {
          // The connection stays open; the missing last frame tells the reader that nothing of the answer counts.
          if (!isAbort(error, left.signal)) cutOff(log, error)
          if (!left.signal.aborted) controller.close()
        }
      },
      async cancel() {
        patience.abort()
        left.abort(new Error('the reader has left'))
        await chunks.return(undefined)
      },
    },
    { highWaterMark: highWaterBytes, size: ({ byteLength }) => byteLength },
  )
}

function cutOff(log: Log, error: unknown): void {
  const { reason, message } = asFault(error)
  log.warn({ reason, message }, 'a delivery ended early')
}
