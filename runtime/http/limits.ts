/**
 * Limits how many calls are answered: in all, of one peer, and failed ones of one peer; the app decides which calls failed.
 */
import RateLimiterMemory from 'rate-limiter-flexible/lib/RateLimiterMemory.js'
import RateLimiterRes from 'rate-limiter-flexible/lib/RateLimiterRes.js'

/** Limits of one port. */
export type LimitSettings = {
  /** All calls in a second. */
  perSecond: number
  /** Calls of one peer in a second; without it one peer may make all of them. */
  callsPerPeer?: number
  /** Failed, unauthenticated calls of one peer in ten seconds. */
  failuresPerPeer: number
}

/** Failed calls of one peer are counted over so long. */
export const failureWindowSeconds = 10
/** The share of `perSecond` for all peers over their limit of failures together; not 0, for a valid call may be among theirs. */
export const suspectShare = 0.2

/** `over`: a limit is exceeded; the caller may return after so many whole seconds. */
export type Verdict = { kind: 'within' } | { kind: 'over'; retryAfterSeconds: number }

/** The counters of one port, in memory. */
export type Limits = {
  /** Counts a call. Peers that have failed too often share a small part of the limit, so that they take nothing from others. */
  call(peer: string): Promise<Verdict>
  /** Counts a failed, unauthenticated call. */
  failure(peer: string): Promise<Verdict>
}

/** Memory is bounded by `perSecond`, because each call adds at most one entry for some seconds. */
export function createLimits({ perSecond, callsPerPeer = perSecond, failuresPerPeer }: LimitSettings): Limits {
  const calls = new RateLimiterMemory({ keyPrefix: '', points: perSecond, duration: 1 })
  // A window cannot have more new peers than calls, so the limit on all calls bounds this too.
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
