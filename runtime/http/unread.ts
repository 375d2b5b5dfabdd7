/**
 * Bounds what a port holds for its readers: an answer stays in memory until its reader has taken it, and whoever reads nothing would keep one on
 * each connection.
 */
import type { Context } from 'hono'
import type { ServerResponse } from 'node:http'
import type { Clock } from '../clock.ts'
import { peerOf, remoteOf } from './peer.ts'
import { createShares } from './shares.ts'

/** `ofOneBytes`: of one caller. `waitMs`: how long an answer waits for room. `endAfterMs`: how long a reader may take for a whole answer. */
export type UnreadLimits = { totalBytes: number; ofOneBytes: number; waitMs: number; endAfterMs: number }

export type Unread = {
  /**
   * Takes room for an answer until it is read or its connection is gone, and cuts the connection off when that takes too long. `taker`: who
   * asks; undefined: the peer. False: there is no room.
   */
  hold(context: Context, bytes: number, taker: string | undefined): Promise<boolean>
}

/** Bounds what waits to be read, in all and for each taker, and ends answers that wait too long. */
export function createUnread({ totalBytes, ofOneBytes, waitMs, endAfterMs }: UnreadLimits, clock: Pick<Clock, 'wait'>): Unread {
  const { take } = createShares({ total: totalBytes, ofOne: ofOneBytes, waitMs })
  return {
    async hold(context, bytes, taker = peerOf(remoteOf(context))) {
      const giveBack = await take(bytes, taker)
      if (giveBack === undefined) return false
      const { outgoing } = (context.env ?? {}) as { outgoing?: ServerResponse }
      // The reader may have left while the answer was made; without a connection, as in a test that calls the app itself, nothing is held.
      if (outgoing === undefined || outgoing.closed) {
        giveBack()
        return true
      }
      const over = new AbortController()
      outgoing.once('close', () => {
        giveBack()
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
