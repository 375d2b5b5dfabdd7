/**
 * Limits in front of an app that authenticates by headers only, or not at all: calls in all, of one peer, and failed calls of one peer.
 */
import type { MiddlewareHandler } from 'hono'
import { createLimits, type LimitSettings } from './limits.ts'
import { peerOf, remoteOf } from './peer.ts'
import { problem } from './problem.ts'

/** Answers 429 over a limit; every answer from 400 to 499 counts as a failure of its peer. */
export function guard(settings: LimitSettings): MiddlewareHandler {
  const limits = createLimits(settings)
  return async (context, next) => {
    const peer = peerOf(remoteOf(context))
    const verdict = await limits.call(peer)
    if (verdict.kind === 'over') {
      context.header('retry-after', String(verdict.retryAfterSeconds))
      // The unread body would be taken for the next call of the connection.
      context.header('connection', 'close')
      return problem(context, 429, 'more calls than are answered; try again later')
    }
    await next()
    if (context.res.status >= 400 && context.res.status < 500) await limits.failure(peer)
    return undefined
  }
}
