/**
 * Rate-limits an app that authenticates by headers only, or not at all: all calls, calls per client, and failed calls per client.
 */
import type { Context, Env, MiddlewareHandler } from 'hono'
import { createLimits, type LimitSettings } from './limits.ts'
import { createPeers, type Peers, peerFrom } from './client-address.ts'
import { problem } from './problem.ts'

/**
 * Answers 429 over a limit; every answer from 400 to 499 counts as a failure of its client. Callers that `authenticated` identifies have
 * separate limits, so that others behind the same proxy cannot exhaust them. `peers` finds the client of a call.
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
    const verdict = await limits.call(peer)
    if (verdict.kind === 'over') {
      context.header('retry-after', String(verdict.retryAfterSeconds))
      // The unread body would be parsed as the next call of the connection.
      context.header('connection', 'close')
      return problem(context, 429, 'too many calls; try again later')
    }
    await next()
    if (context.res.status >= 400 && context.res.status < 500) await limits.failure(peer)
    return undefined
  }
}
