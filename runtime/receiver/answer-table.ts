/**
 * Lists every answer of the receiver: its status, its reason, and when it is given. docs/how-to/webhooks prints these tables. Pure.
 */
import type { Reason } from '../platform/fault.ts'

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
  OtherAction: { status: 202, when: 'another action than the publication of a release' },
  OtherEvent: { status: 202, when: 'an event without a ref that can be requested' },
  OtherRepository: { status: 202, when: 'the body names a repository other than `spec.git.repo` or `spec.webhook.repository`' },
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

export type ProblemReason = keyof typeof problems
