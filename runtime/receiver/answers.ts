/**
 * What the receiver answers: JSON, and problems of RFC 9457 with a stable reason.
 */
import type { Context } from 'hono'
import { asFault } from '../fault.ts'
import type { Verdict } from '../http/limits.ts'
import { problem as problemOf } from '../http/problem.ts'
import type { Log } from '../log.ts'
import { type IgnoredReason, ignoredReasons, type ProblemReason, problems } from './answer-table.ts'
import type { Event } from './payload/parts.ts'

/** How a call ended, as the metric counts it. */
export type ReceiverOutcome = 'accepted' | 'duplicate' | 'ignored' | 'refused' | 'limited' | 'malformed' | 'failed'

/** Where the answers are counted; `source` is the event, if it was understood. */
export type Observer = { observe(outcome: ReceiverOutcome, source?: Event): void; log: Log }

/** The answer to a call that asks for nothing: `reason` says why, and with which status. */
export function ignored({ observe }: Observer, context: Context, reason: IgnoredReason, source?: Event): Response {
  observe('ignored', source)
  return context.json({ accepted: false, reason }, ignoredReasons[reason].status)
}

/** 413, before the body has been read to its end. */
export function tooLarge(context: Context): Response {
  // The unread rest would be taken for the next request of the connection.
  context.header('connection', 'close')
  return problem(context, 'PayloadTooLarge', 'the body is larger than 1 MiB')
}

/** 400, which usually nobody is left to read. */
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
  return problem(context, 'TooManyRequests', 'more calls than are answered; try again later')
}

/** 422 for a body with more keys, entries or levels than are read. */
export function tooComplex(context: Context): Response {
  return problem(context, 'PayloadUnrecognised', 'the body is nested too deeply or has too many keys or entries')
}

/** 401 with the same words whatever was wrong, also when there is no GatewaySync of that name. */
export function notAuthenticated(context: Context): Response {
  return problem(
    context,
    'NotAuthenticated',
    'no signature and no token of this call is valid for a GatewaySync of that name, or there is none',
  )
}

/** 404 for every path except that of webhooks. */
export function noSuchRoute(context: Context): Response {
  return problem(context, 'NotFound', 'there is only POST /webhook/{namespace}/{name}')
}

/** 503 for a call that could not be carried out and may be repeated; 404 when the GatewaySync is gone. The fault is logged, not shown. */
export function failed({ observe, log }: Observer, context: Context, error: unknown, namespace: string, name: string): Response {
  const fault = asFault(error)
  if (fault.reason === 'NotFound') {
    observe('refused')
    return problem(context, 'NotFound', fault.message)
  }
  observe('failed')
  const notReady = fault.reason === 'SecretNotFound' || fault.reason === 'AuthNotReady'
  log.warn(
    { namespace, name, reason: fault.reason, message: fault.message, ...(fault.reason === 'Unexpected' ? { err: error } : {}) },
    'push not accepted',
  )
  context.header('retry-after', '5')
  if (notReady) return problem(context, 'AuthNotReady', 'the Secret that holds the key is missing, empty or unreadable')
  return problem(context, fault.reason === 'Unexpected' ? 'Unexpected' : 'ApiUnavailable', 'the request could not be written; try again')
}

/** An answer of `application/problem+json`; its status follows from the reason, by `answer-table.ts`. */
export function problem(context: Context, reason: ProblemReason, detail: string): Response {
  return problemOf(context, problems[reason].status, detail, reason)
}
