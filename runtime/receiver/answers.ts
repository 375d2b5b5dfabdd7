/**
 * Builds the receiver's answers: JSON, and RFC 9457 problems with a stable reason.
 */
import type { Context } from 'hono'
import { asFault, type Reason } from '../platform/fault.ts'
import type { LimitResult } from '../http/limits.ts'
import { problem as problemOf } from '../http/problem.ts'
import type { Log } from '../platform/log/log.ts'
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
export function tooMany({ observe }: Observer, context: Context, { retryAfterSeconds }: Extract<LimitResult, { kind: 'over' }>): Response {
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

/** 401 with constant text for every cause, also without a GatewaySync of that name. */
export function notAuthenticated(context: Context): Response {
  return problem(context, 'NotAuthenticated', 'invalid signature or token, or no such GatewaySync')
}

/** 404 for every path except those of webhooks. */
export function noSuchRoute(context: Context): Response {
  return problem(
    context,
    'NotFound',
    'this is the webhook receiver: send webhooks with POST to /webhook/{namespace}/{name}, or to /webhook/{namespace} for all GatewaySyncs of a repository',
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

/** An `application/problem+json` answer; the reason determines its status in the tables below. */
export function problem(context: Context, reason: ProblemReason, detail: string): Response {
  return problemOf(context, problems[reason].status, detail, reason)
}

/** Answers to a call that became, or already was, a request. */
export const accepted = [
  { body: '`accepted: true`, `ref`, `requestId`, `source`', when: 'the request is written; `status.requests` shows its outcome' },
  { body: '`accepted`, `results` with an entry for each GatewaySync: its `name` and the fields above', when: 'a delivery for a namespace' },
  { body: '`accepted: true`, `duplicate: true`, and the fields above', when: 'the host repeats a delivery that was accepted' },
] as const

type Ignored = { status: 200 | 202; when: string }

/** Authenticated calls that change nothing: `accepted: false` and a reason. All are 2xx, because hosts disable webhooks that fail. */
export const ignoredReasons = {
  Ping: { status: 200, when: 'a ping or test delivery' },
  Deletion: { status: 202, when: 'a branch or tag was deleted' },
  Draft: { status: 202, when: 'the release is not published yet' },
  OtherAction: { status: 202, when: 'an action other than the publication of a release' },
  OtherEvent: { status: 202, when: 'an event without a ref that can be requested' },
  OtherRepository: { status: 202, when: 'the body names a repository other than `spec.git.repo` or `spec.webhook.repo`' },
  OtherBranch: {
    status: 202,
    when: 'a push to a branch other than the followed one; if `HEAD` is followed, other than the default branch named in the body',
  },
  OtherTag: {
    status: 202,
    when: 'a pushed tag that is not the desired ref, without `spec.git.allowedRefs`; a pushed or released tag that does not match `semver` or `tagPattern`',
  },
  RefNotAllowed: { status: 202, when: '`spec.git.allowedRefs` does not permit the ref; also reported as an Event' },
  UnusableRef: { status: 202, when: 'the git host names a ref that git or the operator does not accept' },
} as const satisfies Record<string, Ignored>

export type IgnoredReason = keyof typeof ignoredReasons

type Problem = { status: 400 | 401 | 404 | 405 | 413 | 415 | 422 | 429 | 503; when: string }

/** Error answers, as `application/problem+json`. */
export const problems = {
  PayloadMalformed: { status: 400, when: 'the body is not JSON in UTF-8, or ended early' },
  InvalidRef: { status: 400, when: 'a body without the header of a git host names a ref that git does not accept' },
  NotAuthenticated: { status: 401, when: 'the delivery is not authenticated; also if the GatewaySync does not exist' },
  NotFound: { status: 404, when: 'authenticated, but the GatewaySync does not exist; or an unknown path' },
  MethodNotAllowed: { status: 405, when: 'a method other than POST' },
  PayloadTooLarge: { status: 413, when: 'above 25 MiB, or above 1 MiB without the lists of commits and files; the connection is closed' },
  UnsupportedMediaType: { status: 415, when: "neither JSON nor GitHub's form" },
  PayloadUnrecognized: {
    status: 422,
    when: 'no format matches, a delivery for a namespace names no repository, or a limit of the structure below is exceeded',
  },
  TooManyRequests: { status: 429, when: 'a limit was reached; see `Retry-After`' },
  AuthNotReady: {
    status: 503,
    when: 'a key of the installation is missing, empty or unreadable, and no other key matches (in a delivery for a namespace: for each GatewaySync); see `Retry-After`',
  },
  ApiUnavailable: { status: 503, when: 'the API server is unavailable or does not accept the request; see `Retry-After`' },
  Unexpected: { status: 503, when: 'a bug in the operator; the log has the stack; see `Retry-After`' },
} as const satisfies Partial<Record<Reason, Problem>>

type ProblemReason = keyof typeof problems
