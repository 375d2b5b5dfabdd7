/**
 * What the receiver answers: JSON, and problems of RFC 9457 with a stable reason.
 */
import type { Context } from 'hono'
import { asFault, type Reason } from '../fault.ts'
import type { Log } from '../log.ts'
import type { Event } from './event.ts'
import type { Verdict } from './limits.ts'

/** What a call came to, as it is counted. */
export type ReceiverOutcome = 'accepted' | 'duplicate' | 'ignored' | 'refused' | 'limited' | 'malformed' | 'failed'

type Observer = { observe(outcome: ReceiverOutcome, source?: Event): void; log: Log }

export function ignored({ observe }: Observer, context: Context, status: 200 | 202, reason: string, source?: Event): Response {
  observe('ignored', source)
  return context.json({ accepted: false, reason }, status)
}

export function tooLarge(context: Context): Response {
  // What is not read would be taken for the next request of the connection.
  context.header('connection', 'close')
  return problem(context, 413, 'PayloadTooLarge', 'the body is larger than 1 MiB')
}

/** Mostly nobody is there to read it. */
export function cutOff({ observe }: Observer, context: Context): Response {
  observe('malformed')
  context.header('connection', 'close')
  return problem(context, 400, 'PayloadMalformed', 'the body ended early')
}

export function tooMany({ observe }: Observer, context: Context, { retryAfterSeconds }: Extract<Verdict, { kind: 'over' }>): Response {
  observe('limited')
  context.header('retry-after', String(retryAfterSeconds))
  // The body was not read.
  context.header('connection', 'close')
  return problem(context, 429, 'TooManyRequests', 'more calls than are answered; try again later')
}

export function failed({ observe, log }: Observer, context: Context, error: unknown, namespace: string, name: string): Response {
  const fault = asFault(error)
  if (fault.reason === 'NotFound') {
    observe('refused')
    return problem(context, 404, 'NotFound', fault.message)
  }
  observe('failed')
  const notReady = fault.reason === 'SecretNotFound' || fault.reason === 'AuthNotReady'
  log.warn(
    { namespace, name, reason: fault.reason, message: fault.message, ...(fault.reason === 'Unexpected' ? { err: error } : {}) },
    'push not accepted',
  )
  context.header('retry-after', '5')
  if (notReady) return problem(context, 503, 'AuthNotReady', 'the Secret that holds the key is missing, empty or unreadable')
  return problem(
    context,
    503,
    fault.reason === 'Unexpected' ? 'Unexpected' : 'ApiUnavailable',
    'the request could not be written; try again',
  )
}

export function problem(
  context: Context,
  status: 400 | 401 | 404 | 405 | 413 | 415 | 422 | 429 | 503,
  reason: Reason,
  detail: string,
): Response {
  return context.body(JSON.stringify({ status, reason, detail }), status, { 'content-type': 'application/problem+json' })
}
