/**
 * Bounds how many bytes of large bodies are held at once, in all and for one peer. A body that finds no room waits in a queue.
 */
import { createShares } from './shares.ts'

/** Bodies up to this size are not counted: Node reads as much of each connection anyway before anybody asks for the body. */
export const smallBytes = 64 * 1024
/** With this bound, 100 bodies of a megabyte at once keep the whole controller below 128 MiB. */
export const maxHeldBytes = 8 * 1024 * 1024
/** How long a body waits for room: shorter than a request may take in all, so that the answer still arrives. */
export const patienceMs = 5_000
/** The share of the budget that one peer may hold, so that its slow bodies leave room for others. */
export const peerShare = 0.75

/** One for each port. */
export type BodyBudget = {
  /** Runs `work` while `bytes` are reserved; undefined: no room came free in time. Rejects with what `work` rejects with. */
  hold<Result>(body: { bytes: number; peer: string }, work: () => Promise<Result>): Promise<Result | undefined>
}

/**
 * `collect` runs the garbage collector each time that half of `maxBytes` has passed through: by itself V8 lets a hundred megabytes gather, which
 * is all that a small container has. Undefined unless the process was started with `--expose-gc`, as it is in the image.
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
