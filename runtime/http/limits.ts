/**
 * Rate-limits calls: all calls, calls per client, and failed calls per client; the app decides which calls failed.
 */
import RateLimiterMemory from 'rate-limiter-flexible/lib/RateLimiterMemory.js'
import RateLimiterRes from 'rate-limiter-flexible/lib/RateLimiterRes.js'
import type { Context, Env, MiddlewareHandler } from 'hono'
import { createPeers, type Peers, peerFrom } from './client-address.ts'
import { problem } from './problem.ts'

/** Limits of one port. */
export type LimitSettings = {
  /** All calls per second. */
  perSecond: number
  /** Calls of one client per second; absent: as `perSecond`. */
  callsPerPeer?: number
  /** Calls of one client per second that no other client can have refused. Only for clients whose number is limited, such as pods. Default: none. */
  exemptCallsPerPeer?: number
  /** Failed, unauthenticated calls of one client in ten seconds. */
  failuresPerPeer: number
}

/** The window for failed calls of one client. */
export const failureWindowSeconds = 10
/** The share of `perSecond` for all clients over their failure limit together; not 0, because valid calls may be among theirs. */
export const suspectShare = 0.2

/**
 * The share of `perSecond` reserved for clients with few calls, such as an API server, when others flood the port, up to this many calls of
 * one client per second.
 */
const reserve = { share: 0.25, callsPerPeer: 10 } as const

/** `over`: a limit is exceeded; the caller may retry after this many whole seconds. */
export type LimitResult = { kind: 'within' } | { kind: 'over'; retryAfterSeconds: number }

/** The counters of one port, in memory. */
export type Limits = {
  /** Counts a call. Clients with too many failures share a small part of the limit, so that they take nothing from others. */
  call(peer: string): Promise<LimitResult>
  /** Counts a failed, unauthenticated call. */
  failure(peer: string): Promise<LimitResult>
}

/** Memory is bounded by `perSecond`, because each call adds at most one entry for some seconds. */
export function createLimits({ perSecond, callsPerPeer = perSecond, exemptCallsPerPeer = 0, failuresPerPeer }: LimitSettings): Limits {
  const reservedCalls = Math.floor(perSecond * reserve.share)
  const calls = new RateLimiterMemory({ keyPrefix: '', points: perSecond - reservedCalls, duration: 1 })
  const reserved = new RateLimiterMemory({ keyPrefix: '', points: reservedCalls, duration: 1 })
  // A window cannot have more new clients than calls, so the limit on all calls bounds this too.
  const failures = new RateLimiterMemory({ keyPrefix: '', points: failuresPerPeer, duration: failureWindowSeconds })
  const ofPeers = new RateLimiterMemory({ keyPrefix: '', points: callsPerPeer, duration: 1 })
  const suspects = new RateLimiterMemory({ keyPrefix: '', points: Math.max(1, Math.floor(perSecond * suspectShare)), duration: 1 })
  return {
    async call(peer) {
      const failed = await failures.get(peer)
      const isSuspect = failed !== null && failed.consumedPoints > failuresPerPeer
      const own = await consume(ofPeers, peer)
      if (own.kind === 'over') return own
      const made = (await ofPeers.get(peer))?.consumedPoints ?? 0
      if (!isSuspect && made <= exemptCallsPerPeer) return within
      const result = await consume(isSuspect ? suspects : calls, 'all')
      return result.kind === 'over' && !isSuspect && made <= reserve.callsPerPeer ? await consume(reserved, 'all') : result
    },
    failure: (peer) => consume(failures, peer),
  }
}

const within: LimitResult = { kind: 'within' }

async function consume(limiter: RateLimiterMemory, key: string): Promise<LimitResult> {
  try {
    await limiter.consume(key)
    return within
  } catch (passed) {
    if (!(passed instanceof RateLimiterRes)) throw passed
    return { kind: 'over', retryAfterSeconds: Math.max(1, Math.ceil(passed.msBeforeNext / 1000)) }
  }
}

/**
 * Rate-limits an app that authenticates by headers only, or not at all. Answers 429 over a limit; every answer from 400 to 499 counts as a
 * failure of its client. Callers that `authenticated` identifies have separate limits, so that others behind the same proxy cannot exhaust
 * them. `peers` finds the client of a call.
 */
export function guard<Of extends Env>(
  settings: LimitSettings,
  authenticated?: { settings: LimitSettings; nameOf(context: Context<Of>): Promise<string | undefined> },
  peers: Peers = createPeers([]),
): MiddlewareHandler<Of> {
  const ofAnyone = createLimits(settings)
  const ofAuthenticated = createLimits(authenticated?.settings ?? settings)
  return async (context, next) => {
    const name = await authenticated?.nameOf(context)
    const limits = name === undefined ? ofAnyone : ofAuthenticated
    const peer = name ?? peerFrom(context, peers)
    const result = await limits.call(peer)
    if (result.kind === 'over') {
      context.header('retry-after', String(result.retryAfterSeconds))
      // The unread body would be parsed as the next call of the connection.
      context.header('connection', 'close')
      return problem(context, 429, 'too many calls; try again later')
    }
    await next()
    if (context.res.status >= 400 && context.res.status < 500) await limits.failure(peer)
    return undefined
  }
}
