/**
 * Bounds the memory of unread answers on a port: an answer stays in memory until its reader has read it.
 */
import type { Context } from 'hono'
import type { ServerResponse } from 'node:http'
import type { Clock } from '../platform/clock.ts'
import { peerOf, remoteOf } from './client-address.ts'
import { FairLimiter } from '../platform/async/fair-limiter.ts'

/**
 * `perReaderBytes`: per reader. `waitMs`: how long an answer waits for the budget. `endAfterMs`: how long a reader may take for a whole answer.
 */
export type UnreadLimits = { totalBytes: number; perReaderBytes: number; waitMs: number; endAfterMs: number }

export type Unread = {
  /**
   * Reserves memory for an answer until it is read or its connection is closed, and closes the connection when that takes too long.
   * `reader` undefined: the client address. False: the budget is used up.
   */
  hold(context: Context, bytes: number, reader: string | undefined): Promise<boolean>
}

/** Bounds unread answers, in total and per reader, and ends answers that wait too long. */
export function createUnread(
  { totalBytes, perReaderBytes, waitMs, endAfterMs }: UnreadLimits,
  clock: Pick<Clock, 'monotonicMs' | 'wait'>,
): Unread {
  const limiter = new FairLimiter({ total: totalBytes, perKey: perReaderBytes, waitMs, clock })
  return {
    async hold(context, bytes, reader = peerOf(remoteOf(context))) {
      const reservation = await limiter.acquire({ tenant: reader, amount: Math.min(bytes, totalBytes) })
      if (reservation === undefined) return false
      const { outgoing } = (context.env ?? {}) as { outgoing?: ServerResponse }
      // The reader may have disconnected while the answer was made; without a connection, as in a test that calls the app itself, nothing
      // is held.
      if (outgoing === undefined || outgoing.closed) {
        reservation.release()
        return true
      }
      const over = new AbortController()
      outgoing.once('close', () => {
        reservation.release()
        over.abort()
      })
      clock.wait(endAfterMs, over.signal).then(
        () => outgoing.destroy(),
        () => undefined,
      )
      return true
    },
  }
}
