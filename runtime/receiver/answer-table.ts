/**
 * Lists every answer of the receiver: its status, its reason, and when it is given. docs/how-to/webhooks prints these tables. Pure.
 */
import type { Reason } from '../platform/fault.ts'

/** Answers to a call that became, or already was, a request. */
export const accepted = [
  { body: '`accepted: true`, `ref`, `requestId`, `source`', when: 'the request is written; `status.requests` shows its outcome' },
  { body: '`accepted`, `results` with an entry for each GatewaySync: its `name` and the same', when: 'a call for a namespace' },
  { body: '`accepted: true`, `duplicate: true`, and the same', when: 'the host repeats a delivery that was accepted' },
] as const

type Ignored = { status: 200 | 202; when: string }

/** Authenticated calls that change nothing: `accepted: false` and a reason. All are 2xx, because hosts disable webhooks that fail. */
export const ignoredReasons = {
  Ping: { status: 200, when: 'a ping or test call' },
  Deletion: { status: 202, when: 'a branch or tag is gone' },
  Draft: { status: 202, when: 'a release that is not published yet' },
  OtherAction: { status: 202, when: 'something else happened to a release than its publication' },
  OtherEvent: { status: 202, when: 'an event that names no ref to take' },
  OtherRepository: { status: 202, when: 'the body names another repository than `spec.git.repo` or `spec.webhook.repository`' },
  OtherBranch: {
    status: 202,
    when: 'a push to a branch that is not the followed one; where `HEAD` is followed, to one that is not the default branch that the body names',
  },
  OtherTag: {
    status: 202,
    when: 'a pushed tag that is not the desired ref, without `spec.git.allowedRefs`; a pushed or released tag that `semver` or `tagPattern` leaves out',
  },
  RefNotAllowed: { status: 202, when: '`spec.git.allowedRefs` does not permit the ref; also an Event of the GatewaySync' },
  UnusableRef: { status: 202, when: 'a host names a ref that git or we do not take' },
} as const satisfies Record<string, Ignored>

export type IgnoredReason = keyof typeof ignoredReasons

type Problem = { status: 400 | 401 | 404 | 405 | 413 | 415 | 422 | 429 | 503; when: string }

/** Error answers, as `application/problem+json`. */
export const problems = {
  PayloadMalformed: { status: 400, when: 'no JSON in UTF-8, or the body ended early' },
  InvalidRef: { status: 400, when: 'a body of no host names a ref that git does not accept' },
  NotAuthenticated: { status: 401, when: 'neither method validates, or nothing is proved and there is no such GatewaySync' },
  NotFound: { status: 404, when: 'proved, and there is no such GatewaySync; or another path' },
  MethodNotAllowed: { status: 405, when: 'another method than POST' },
  PayloadTooLarge: { status: 413, when: 'above 25 MiB, or above 1 MiB without the lists of commits and files; the connection is closed' },
  UnsupportedMediaType: { status: 415, when: "neither JSON nor GitHub's form" },
  PayloadUnrecognized: {
    status: 422,
    when: 'no format fits, a call for a namespace names no repository, or more levels, keys or entries than the limits below',
  },
  TooManyRequests: { status: 429, when: 'a limit; see `Retry-After`' },
  AuthNotReady: {
    status: 503,
    when: 'a key of the installation is missing, empty or unreadable, and no other validates (a call for a namespace: for each GatewaySync); see `Retry-After`',
  },
  ApiUnavailable: { status: 503, when: 'the API server cannot be reached or does not take the request; see `Retry-After`' },
  Unexpected: { status: 503, when: 'a bug of ours: the log holds the stack; see `Retry-After`' },
} as const satisfies Partial<Record<Reason, Problem>>

export type ProblemReason = keyof typeof problems
