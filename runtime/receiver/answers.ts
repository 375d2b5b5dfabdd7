/**
 * Builds the receiver's answers: JSON, and RFC 9457 problems with a stable reason.
 */
import type { Context } from 'hono'
import { asFault } from '../platform/fault.ts'
import type { Verdict } from '../http/limits.ts'
import { problem as problemOf } from '../http/problem.ts'
import type { Log } from '../platform/log/log.ts'
import { type IgnoredReason, ignoredReasons, type ProblemReason, problems } from './answer-table.ts'
import type { Event } from './payload/parts.ts'

/** The result of a call, as counted by the metric. */
export type ReceiverOutcome = 'accepted' | 'duplicate' | 'ignored' | 'refused' | 'limited' | 'malformed' | 'failed'

/** Counts answers; `source` is the event if recognized, `reason` why a call was ignored. */
export type Observer = { observe(outcome: ReceiverOutcome, source?: Event, reason?: IgnoredReason): void; log: Log }

/** The answer to a call that requests nothing; `reason` determines the status. */
export function ignored({ observe }: Observer, context: Context, reason: IgnoredReason, source?: Event): Response {
  observe('ignored', source, reason)
  return context.json({ accepted: false, reason }, ignoredReasons[reason].status)
}

/** 413, before the body has been read to its end. */
export function tooLarge(context: Context): Response {
  // The unread rest would be parsed as the next request of the connection.
  context.header('connection', 'close')
  return problem(context, 'PayloadTooLarge', 'the body is larger than 25 MiB, or than 1 MiB without its lists of commits and files')
}

/** 400; usually the caller has already disconnected. */
export function cutOff(context: Context): Response {
  context.header('connection', 'close')
  return problem(context, 'PayloadMalformed', 'the body ended early')
}

/** 429 with a Retry-After. */
export function tooMany({ observe }: Observer, context: Context, { retryAfterSeconds }: Extract<Verdict, { kind: 'over' }>): Response {
  observe('limited')
  context.header('retry-after', String(retryAfterSeconds))
  // The body was not read.
  context.header('connection', 'close')
  return problem(context, 'TooManyRequests', 'too many calls; try again later')
}

/** 422 for a body with more keys, entries or levels than are read. */
export function tooComplex(context: Context): Response {
  return problem(context, 'PayloadUnrecognized', 'the body is nested too deeply or has too many keys or entries')
}

/** 401 with constant text whatever was wrong, also without a GatewaySync of that name. */
export function notAuthenticated(context: Context): Response {
  return problem(context, 'NotAuthenticated', 'invalid signature or token, or no such GatewaySync')
}

/** 404 for every path except those of webhooks. */
export function noSuchRoute(context: Context): Response {
  return problem(
    context,
    'NotFound',
    'this is the webhook receiver: send webhooks by POST to /webhook/{namespace}/{name}, or to /webhook/{namespace} for all GatewaySyncs of a repository',
  )
}

/** 503 for a call that failed and may be repeated; 404 when the GatewaySync was deleted. The fault is logged, not shown. */
export function failed(observer: Observer, context: Context, error: unknown, resource: { namespace?: string; name?: string }): Response {
  const reason = logFailure(observer, error, resource)
  if (reason === 'NotFound') return problem(context, 'NotFound', asFault(error).message)
  context.header('retry-after', '5')
  if (reason === 'AuthNotReady') return problem(context, reason, 'the Secret that holds the key is missing, empty or unreadable')
  return problem(context, reason === 'Unexpected' ? reason : 'ApiUnavailable', 'the request could not be written; try again')
}

/** Counts and logs why a request was not written, and returns the reason that callers may see. */
export function logFailure(
  { observe, log }: Observer,
  error: unknown,
  resource: { namespace?: string; name?: string },
): 'NotFound' | 'AuthNotReady' | 'Forbidden' | 'Rejected' | 'Unexpected' | 'ApiUnavailable' {
  const { reason, message } = asFault(error)
  observe(reason === 'NotFound' ? 'refused' : 'failed')
  if (reason === 'NotFound') return reason
  log.warn({ ...resource, reason, message, ...(reason === 'Unexpected' ? { err: error } : {}) }, 'push not accepted')
  if (reason === 'SecretNotFound' || reason === 'AuthNotReady') return 'AuthNotReady'
  return reason === 'Forbidden' || reason === 'Rejected' || reason === 'Unexpected' ? reason : 'ApiUnavailable'
}

/** An `application/problem+json` answer; the reason determines its status in `answer-table.ts`. */
export function problem(context: Context, reason: ProblemReason, detail: string): Response {
  return problemOf(context, problems[reason].status, detail, reason)
}
