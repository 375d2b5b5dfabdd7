/**
 * Decides which changes of a GatewaySync start a sync, and how long a request for local changes is answered. Pure.
 */
import { changesRequest } from '../reconcile/decide/capture.ts'
import type { Annotations } from '../reconcile/decide/request.ts'
import { captureAnnotations, changesAnnotations, confirmDeletionsAnnotation, confirmOverwritesAnnotation } from '../api/names.ts'
import { podHash } from '../reconcile/rollout/stage-admission.ts'
import type { GatewaySyncStatus } from '../api/schema/status.ts'
import type { FollowedSync } from './desired.ts'

const annotationsInPlace = [
  confirmDeletionsAnnotation,
  confirmOverwritesAnnotation,
  captureAnnotations.at,
  captureAnnotations.gateway,
  ...Object.values(changesAnnotations),
]

/**
 * Returns the parts of a GatewaySync that the agent acts on, as text; other changes, such as its own report in the status, start no sync.
 * `isInPlace`: the published commit is in place, so a new request concerns only the controller, and a scan of thousands of files would only
 * slow down its fetch.
 */
export function decisiveText(
  followed: FollowedSync | undefined,
  { isInPlace, pod }: { isInPlace: boolean; pod: string | undefined },
): string {
  if (followed === undefined) return ''
  const { annotations, spec, status } = followed
  const asked = isInPlace ? annotationsInPlace.map((name) => annotations[name]) : annotations
  return JSON.stringify([asked, spec, status.published, status.delivery, rolloutText(status, pod)])
}

/** The part of a rollout that concerns this gateway: admissions of other gateways must not start a sync. */
function rolloutText({ rollout }: GatewaySyncStatus, pod: string | undefined): unknown {
  if (rollout === undefined) return undefined
  const { state, commit, configurations, previous, allowed = [] } = rollout
  return [state, commit, configurations, previous, pod === undefined ? allowed : allowed.includes(podHash(pod))]
}

/** A request to list local changes in the report; `untilMs` is monotonic. */
export type PendingRequest = { id: string; untilMs: number }

/** The CLI waits two minutes by default and may exit without withdrawing the request. */
const answeredForMs = 600_000

/**
 * Returns the request to answer, given the current annotations. A request that exists when the agent starts counts from its own time (RFC
 * 3339, before the first slash of its id) if it has one; any other counts from when the agent first sees it, independent of the requester's
 * clock.
 */
export function pendingAfter(
  before: PendingRequest | undefined,
  annotations: Annotations,
  { isFirst, at, nowMs }: { isFirst: boolean; at: string; nowMs: number },
): PendingRequest | undefined {
  const request = changesRequest(annotations)
  if (request === undefined || request.id === before?.id) return request === undefined ? undefined : before
  const ageMs = isFirst ? Date.parse(at) - Date.parse(request.id.split('/')[0] ?? '') : 0
  return { id: request.id, untilMs: nowMs + answeredForMs - (ageMs > 0 ? ageMs : 0) }
}
