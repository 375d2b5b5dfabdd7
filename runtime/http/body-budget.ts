/**
 * Bounds how many bytes of large bodies are held at once, in total and per client. A body beyond the budget waits in a queue. A part of the
 * budget is never taken by slow bodies, however many clients send them.
 */
import { systemClock } from '../platform/clock.ts'
import { FairLimiter } from '../platform/async/fair-limiter.ts'

/** Bodies up to this size are not counted: Node reads as much of each connection before the app reads the body. */
export const smallBytes = 64 * 1024
/** With this bound, 100 concurrent bodies of a megabyte keep the whole controller below 128 MiB. */
export const maxBufferedBytes = 8 * 1024 * 1024
/** How long a body waits for the budget: shorter than the request deadline, so that the answer still arrives. */
export const patienceMs = 5_000
/** The maximum share of one client, so that its slow bodies leave memory for others. */
export const peerShare = 0.75
/** The share left to clients that hold nothing or were quick the last time. A body in it is cut off after `slowAfterMs`. */
const reserveShare = 0.25
/** Shorter than `patienceMs`, so that a body that waits gets the place of a slow one. */
export const slowAfterMs = 3_000

/** One per port. */
export type BodyBudget = {
  /**
   * Runs `work` while `bytes` are reserved; undefined: the budget was not available in time. `signal`: aborted when the body is too slow for
   * its part of the budget. Rejects with what `work` rejects with.
   */
  hold<Result>(body: { bytes: number; peer: string }, work: (signal?: AbortSignal) => Promise<Result>): Promise<Result | undefined>
}

/**
 * `collect` runs the garbage collector each time half of `maxBytes` has been read: otherwise V8 lets a hundred megabytes accumulate, which
 * is all that a small container has. Undefined unless the process was started with `--expose-gc`, as it is in the image.
 */
export function createBodyBudget(
  maxBytes = maxBufferedBytes,
  waitMs = patienceMs,
  collect: (() => unknown) | undefined = globalThis.gc,
): BodyBudget {
  const [reserve, perKey] = [maxBytes * reserveShare, maxBytes * peerShare]
  const limiter = new FairLimiter({ total: maxBytes, reserve, perKey, waitMs, slowAfterMs, clock: systemClock })
  let left = 0

  return {
    async hold({ bytes, peer }, work) {
      if (Math.min(bytes, maxBytes) <= smallBytes) return await work()
      const reservation = await limiter.acquire({ tenant: peer, amount: Math.min(bytes, maxBytes) })
      if (reservation === undefined) return undefined
      const [tooSlow, over] = [new AbortController(), new AbortController()]
      if (reservation.isReserve)
        systemClock.wait(slowAfterMs, over.signal).then(
          () => tooSlow.abort(new Error('too slow')),
          () => undefined,
        )
      try {
        return await work(reservation.isReserve ? tooSlow.signal : undefined)
      } finally {
        over.abort()
        left += Math.min(bytes, maxBytes)
        if (left >= maxBytes / 2) {
          left = 0
          collect?.()
        }
        reservation.release()
      }
    },
  }
}
