/**
 * Streams an answer to its reader: it is produced only as fast as it is read, and the connection is closed when it is not read.
 */
import type { ServerResponse } from 'node:http'
import type { Clock } from '../../platform/clock.ts'
import { asFault, Fault, isAbort } from '../../platform/fault.ts'
import type { Log } from '../../platform/log/log.ts'
import type { Context } from 'hono'

/** A reader that needs longer than this for 64 KiB reads less than 6 KiB/s: no disk is that slow. */
const defaultSlowAfterMs = 10_000
/** Maximum to buffer for a slow reader before git has to wait. */
const highWaterBytes = 128 * 1024

/** The connection of one answer, and the limits for its reader. */
export type Streaming = {
  /** Aborted when the reader disconnects, or is disconnected for reading nothing. */
  left: AbortController
  /** Undefined without a connection, as in a test that calls the app directly. */
  outgoing: ServerResponse | undefined
  clock: Clock
  log: Log
  /** How long a reader may take for the pending bytes: one chunk of git and the connection's buffer. */
  slowAfterMs?: number
}

/**
 * Turns chunks into a body that is produced only as fast as it is read. Waits for the first chunk and throws what making it throws, so that
 * an error can still have its own status; later only the missing end frame indicates a failure. A reader that reads nothing for
 * `slowAfterMs` is disconnected.
 */
export async function streamed(
  chunks: AsyncGenerator<Uint8Array>,
  { left, outgoing, clock, log, slowAfterMs = defaultSlowAfterMs }: Streaming,
): Promise<ReadableStream<Uint8Array>> {
  let first: IteratorResult<Uint8Array> | undefined = await chunks.next()
  /** Runs while data waits for the reader. */
  let patience = new AbortController()
  const letGo = (): void => {
    const fault = new Fault('Timeout', `the client has read nothing for ${slowAfterMs / 1000} s`)
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
          // The connection stays open; because of the missing end frame the reader discards the answer.
          if (!isAbort(error, left.signal)) cutOff(log, error)
          if (!left.signal.aborted) controller.close()
        }
      },
      async cancel() {
        patience.abort()
        left.abort(new Error('the client has disconnected'))
        await chunks.return(undefined)
      },
    },
    { highWaterMark: highWaterBytes, size: (chunk) => chunk?.byteLength ?? 0 },
  )
}

function cutOff(log: Log, error: unknown): void {
  const { reason, message } = asFault(error)
  log.warn({ reason, message }, 'a response ended early')
}

/** Returns the response of Node; undefined without a socket, as in a test that calls the app directly. */
export function outgoingOf(context: Context): ServerResponse | undefined {
  return ((context.env ?? {}) as { outgoing?: ServerResponse }).outgoing
}

/** Calls `done` when the last byte of an answer is sent or its connection is closed. */
export function whenSent(context: Context, left: AbortController, done: () => void): void {
  const outgoing = outgoingOf(context)
  if (outgoing === undefined) return done()
  const end = (): void => {
    left.abort(new Error('the answer has ended'))
    done()
  }
  if (outgoing.closed) end()
  else outgoing.once('close', end)
}
