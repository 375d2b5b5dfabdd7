/**
 * Sync requests and their outcomes in the status, where each caller finds its own. Pure.
 */
import type { Reason } from '../../platform/fault.ts'
import { Temporal } from '../../platform/temporal.ts'
import type { FollowedRef } from '../../api/followed-ref.ts'
import { requestingEvents } from '../../api/names.ts'
import type { GatewaySyncStatus, RequestOutcome } from '../../api/schema/status.ts'

/** A request in the annotations of a GatewaySync. */
export type SyncRequest = {
  id: string
  ref: FollowedRef
  specRef: string
  by: string | undefined
  at: string | undefined
  /** The object names before and after the push; undefined if the request names none. */
  move?: Move
  /** Unanswered requests that this one superseded; their callers are waiting too. */
  superseded?: readonly SupersededRequest[]
}

/** What a push changed: a commit, or the object of an annotated tag. */
export type Move = { before: string; after: string }

/** A superseded request; it still gets an outcome. */
export type SupersededRequest = { id: string; ref: string }

/** Maximum number of outcomes in `status.requests`. */
export const keptRequests = 20

/** Maximum number of superseded requests that wait for the git host besides the newest; older ones are answered to free a slot. */
const maxWaiting = 8

/** How a request ended; `message` is cut to 1,024 characters. */
export type Answer = { outcome: RequestOutcome['outcome']; reason?: Reason; message?: string }

/** How long a request stays pending while the git host does not serve its ref or commit. */
const maxPendingMs = 120_000

/**
 * Returns since when a webhook request may be pending (at most two minutes), or undefined. Requests by annotation fail immediately; their
 * author can repeat them.
 */
export function pendingSince(
  { id, by }: SyncRequest,
  { requests = [] }: GatewaySyncStatus,
  now: Temporal.Instant,
): Temporal.Instant | undefined {
  if (by === undefined || !(requestingEvents as readonly string[]).includes(by)) return undefined
  const known = requests.find((request) => request.id === id && !isFinal(request))
  const since = known === undefined ? now : Temporal.Instant.from(known.at)
  return now.epochMilliseconds - since.epochMilliseconds < maxPendingMs ? since : undefined
}

/** Returns how long a request has been pending, or undefined. */
export function pendingForMs(
  request: SyncRequest | undefined,
  { requests = [] }: GatewaySyncStatus,
  now: Temporal.Instant,
): number | undefined {
  const pending = requests.find(({ id, outcome }) => id === request?.id && outcome === 'Pending')
  return pending === undefined ? undefined : now.epochMilliseconds - Temporal.Instant.from(pending.at).epochMilliseconds
}

/** Whether a request has its final answer; a pending one is resolved again. */
export function isFinal({ outcome }: Pick<RequestOutcome, 'outcome'>): boolean {
  return outcome !== 'Pending'
}

/** Adds an outcome to the last 20, newest last. A final outcome is kept; one that stays pending keeps its time. */
export function recordOutcome(
  requests: readonly RequestOutcome[],
  request: { id: string; ref: string },
  answer: Answer,
  at: string,
): RequestOutcome[] {
  const known = requests.find(({ id }) => id === request.id)
  if (known !== undefined && isFinal(known)) return [...requests]
  const since = known !== undefined && answer.outcome === 'Pending' ? known.at : at
  const outcome: RequestOutcome = { id: request.id, ref: request.ref, outcome: answer.outcome, at: since }
  if (answer.reason !== undefined) outcome.reason = answer.reason
  if (answer.message !== undefined) outcome.message = answer.message.slice(0, 1024)
  return [...requests.filter(({ id }) => id !== request.id), outcome].slice(-keptRequests)
}

/** Records the outcome of a request and of those it superseded: the same for the same ref, `Superseded` for any other. */
export function recordAnswer(requests: readonly RequestOutcome[], request: SyncRequest, answer: Answer, at: string): RequestOutcome[] {
  const superseded: Answer = { outcome: 'Superseded', message: 'a later request arrived before this one was handled' }
  const before = (request.superseded ?? []).reduce<readonly RequestOutcome[]>(
    (known, one) => recordOutcome(known, one, one.ref === request.ref ? answer : superseded, at),
    requests,
  )
  return recordOutcome(before, request, answer, at)
}

/**
 * Answers the oldest requests as superseded when too many wait for the git host: a slow host, or a stream of requests for new refs, must
 * not push any of them out of the annotation before it has an outcome.
 */
export function recordOverfull(requests: readonly RequestOutcome[], { superseded = [] }: SyncRequest, at: string): RequestOutcome[] {
  const open = superseded.filter(({ id }) => !requests.some((request) => request.id === id && isFinal(request)))
  const answer: Answer = { outcome: 'Superseded', message: 'later requests arrived before the git host answered' }
  return open.slice(0, -maxWaiting).reduce<RequestOutcome[]>((known, one) => recordOutcome(known, one, answer, at), [...requests])
}

/** Whether a request was refused. */
export function isRefused(status: GatewaySyncStatus, id: string): boolean {
  return outcomeOf(status, id) === 'Refused'
}

export function outcomeOf(status: GatewaySyncStatus, id: string): RequestOutcome['outcome'] | undefined {
  return status.requests?.find((request) => request.id === id && isFinal(request))?.outcome
}
