/**
 * An answer of delivery on its way to its reader: made only as fast as it is read, and dropped when it is not.
 */
import type { ServerResponse } from 'node:http'
import type { Clock } from '../clock.ts'
import { asFault, Fault, isAbort } from '../fault.ts'
import type { Log } from '../log.ts'

/** 64 KiB in that time is 6 KiB a second: no disk is so slow. */
const usualSlowAfterMs = 10_000
/** What may wait for a slow reader before git is made to wait too. */
const highWaterBytes = 128 * 1024

export type Streaming = {
  /** Fires when nobody reads any more, and when the reader is let go. */
  left: AbortController
  /** Undefined where there is no connection. */
  outgoing: ServerResponse | undefined
  clock: Clock
  log: Log
  /** How long a reader may take for what is waiting for it: a chunk of git's and what the connection holds. */
  slowAfterMs?: number
}

/**
 * Chunks as a body that is made only as fast as it is read. The first chunk is waited for: until then a refusal still has a status of its
 * own, and from then on only the missing end says that something went wrong. A reader that takes nothing for too long is let go.
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
          // What is queued behind the end must be taken too.
          if (next.done === true || (controller.desiredSize ?? 0) <= 0) waitForReader()
        } catch (error) {
          // The connection lives on; the missing end alone says that nothing of the answer counts.
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
