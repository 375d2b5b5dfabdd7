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

/** What a call came to, as it is counted. */
export type ReceiverOutcome = 'accepted' | 'duplicate' | 'ignored' | 'refused' | 'limited' | 'malformed' | 'failed'

export type Observer = { observe(outcome: ReceiverOutcome, source?: Event): void; log: Log }

/** The answer to a call that asks for nothing: `reason` says why, and with which status. */
export function ignored({ observe }: Observer, context: Context, reason: IgnoredReason, source?: Event): Response {
  observe('ignored', source)
  return context.json({ accepted: false, reason }, ignoredReasons[reason].status)
}

/** Answered before the body has been read to its end. */
export function tooLarge(context: Context): Response {
  // What is not read would be taken for the next request of the connection.
  context.header('connection', 'close')
  return problem(context, 'PayloadTooLarge', 'the body is larger than 1 MiB')
}

/** Mostly nobody is there to read it. */
export function cutOff(context: Context): Response {
  context.header('connection', 'close')
  return problem(context, 'PayloadMalformed', 'the body ended early')
}

/** Says after which time the caller may come again. */
export function tooMany({ observe }: Observer, context: Context, { retryAfterSeconds }: Extract<Verdict, { kind: 'over' }>): Response {
  observe('limited')
  context.header('retry-after', String(retryAfterSeconds))
  // The body was not read.
  context.header('connection', 'close')
  return problem(context, 'TooManyRequests', 'more calls than are answered; try again later')
}

/** For a body with more members, entries or levels than are read. */
export function tooComplex(context: Context): Response {
  return problem(context, 'PayloadUnrecognised', 'the body is nested too deeply or has too many keys or entries')
}

/** The same words whatever was wrong, also where there is no GatewaySync of that name. */
export function notAuthenticated(context: Context): Response {
  return problem(context, 'NotAuthenticated', 'neither a signature nor a token of this call is valid for a GatewaySync of that name')
}

/** For every path and method but the one of pushes. */
export function noSuchRoute(context: Context): Response {
  return problem(context, 'NotFound', 'there is only POST /webhook/{namespace}/{name}')
}

/** For a call that could not be carried out and may be sent again, but for one to a GatewaySync that is gone. The fault is logged, not told. */
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
