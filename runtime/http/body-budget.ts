/**
 * How many bytes of large bodies are held at once, in all and of one peer. Who comes when all are taken waits in line.
 */
import { createShares } from './shares.ts'

/** Node reads as much of each connection before anyone asks for the body: to count less would bound nothing. */
export const smallBytes = 64 * 1024
/** What 100 bodies of a megabyte at once cost, parsed one after another, stays below 128 MiB for the whole controller. */
export const maxHeldBytes = 8 * 1024 * 1024
/** Shorter than a request may take in all, so that the answer still arrives. */
export const patienceMs = 5_000
/** Of all that is held: what one peer may hold, so that slow bodies of one leave room for everybody else's. */
export const peerShare = 0.75

export type BodyBudget = {
  /** Runs the work while `bytes` are taken; undefined: no room came free in time. Rejects with what the work rejects with. */
  hold<Result>(body: { bytes: number; peer: string }, work: () => Promise<Result>): Promise<Result | undefined>
}

/**
 * `collect` gives back what parsed bodies have left behind; V8 by itself lets a hundred megabytes gather, which is all that a small container
 * has. Undefined where the process was started without `--expose-gc`, as the image is.
 */
export function createBodyBudget(
  maxBytes = maxHeldBytes,
  waitMs = patienceMs,
  collect: (() => unknown) | undefined = globalThis.gc,
): BodyBudget {
  const { take } = createShares({ total: maxBytes, ofOne: maxBytes * peerShare, waitMs })
  let left = 0

  return {
    async hold({ bytes, peer }, work) {
      if (Math.min(bytes, maxBytes) <= smallBytes) return await work()
      const giveBack = await take(bytes, peer)
      if (giveBack === undefined) return undefined
      try {
        return await work()
      } finally {
        left += Math.min(bytes, maxBytes)
        if (left >= maxBytes / 2) {
          left = 0
          collect?.()
        }
        giveBack()
      }
    },
  }
}
