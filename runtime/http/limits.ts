/**
 * How many calls are answered: all together, and those that prove nothing by whom they come from. A call that proves itself is bounded by
 * the first only.
 */
import RateLimiterMemory from 'rate-limiter-flexible/lib/RateLimiterMemory.js'
import RateLimiterRes from 'rate-limiter-flexible/lib/RateLimiterRes.js'

export type LimitSettings = {
  /** All calls, a second. */
  perSecond: number
  /** Calls of one peer, a second; where it is left out, one may make all of them. */
  callsPerPeer?: number
  /** Calls of one peer that prove nothing and fail, in ten seconds. */
  failuresPerPeer: number
}

export const failureWindowSeconds = 10
/** Of the limit on all calls: what all peers that are over their own limit get together; a right call may be among theirs. */
export const suspectShare = 0.2

/** `over`: the limit is passed, and for how many whole seconds it is. */
export type Verdict = { kind: 'within' } | { kind: 'over'; retryAfterSeconds: number }

export type Limits = {
  /** Counts a call: of a peer that has failed too often to a share of its own, so that it takes nobody else's. */
  call(peer: string): Promise<Verdict>
  /** Counts a call that failed and proved nothing. */
  failure(peer: string): Promise<Verdict>
}

/** What is counted is held in memory and bounded by the limit on all calls. */
export function createLimits({ perSecond, callsPerPeer = perSecond, failuresPerPeer }: LimitSettings): Limits {
  const calls = new RateLimiterMemory({ keyPrefix: '', points: perSecond, duration: 1 })
  // No more peers than calls can be new in a window: memory is bounded by the limit on all.
  const failures = new RateLimiterMemory({ keyPrefix: '', points: failuresPerPeer, duration: failureWindowSeconds })
  const ofPeers = new RateLimiterMemory({ keyPrefix: '', points: callsPerPeer, duration: 1 })
  const suspects = new RateLimiterMemory({ keyPrefix: '', points: Math.max(1, Math.floor(perSecond * suspectShare)), duration: 1 })
  return {
    async call(peer) {
      const failed = await failures.get(peer)
      const isSuspect = failed !== null && failed.consumedPoints > failuresPerPeer
      const own = callsPerPeer < perSecond ? await consume(ofPeers, peer) : within
      return own.kind === 'over' ? own : await consume(isSuspect ? suspects : calls, 'all')
    },
    failure: (peer) => consume(failures, peer),
  }
}

const within: Verdict = { kind: 'within' }

async function consume(limiter: RateLimiterMemory, key: string): Promise<Verdict> {
  try {
    await limiter.consume(key)
    return within
  } catch (passed) {
    if (!(passed instanceof RateLimiterRes)) throw passed
    return { kind: 'over', retryAfterSeconds: Math.max(1, Math.ceil(passed.msBeforeNext / 1000)) }
  }
}
