/**
 * What an agent hears of its GatewaySync: which changes of it cause a look, and for how long it answers whoever asks what was changed. Pure.
 */
import { changesRequest } from '../gatewaysync/decide/capture.ts'
import type { Annotations } from '../gatewaysync/decide/request.ts'
import { captureAnnotations, changesAnnotations, confirmDeletionsAnnotation, confirmOverwritesAnnotation } from '../gatewaysync/names.ts'
import { markOf } from '../gatewaysync/rollout/turn.ts'
import type { GatewaySyncStatus } from '../gatewaysync/schema/status.ts'
import type { FollowedSync } from './desired.ts'

const heardAtRest = [
  confirmDeletionsAnnotation,
  confirmOverwritesAnnotation,
  captureAnnotations.at,
  captureAnnotations.gateway,
  ...Object.values(changesAnnotations),
]

/**
 * The parts of a GatewaySync that an agent acts on; other changes of it, such as its own report coming back in the status, cause no look.
 * `rests`: the published commit is in place, so a new request concerns only the controller, whose fetch a look at thousands of files would
 * only slow down.
 */
export function decisiveText(followed: FollowedSync | undefined, { rests, pod }: { rests: boolean; pod: string | undefined }): string {
  if (followed === undefined) return ''
  const { annotations, spec, status } = followed
  const asked = rests ? heardAtRest.map((name) => annotations[name]) : annotations
  return JSON.stringify([asked, spec, status.published, status.delivery, turnText(status, pod)])
}

/** The part of a rollout that is about this gateway; the turns of others come and go a thousand times. */
function turnText({ rollout }: GatewaySyncStatus, pod: string | undefined): unknown {
  if (rollout === undefined) return undefined
  const { state, commit, configurations, before, allowed = [] } = rollout
  return [state, commit, configurations, before, pod === undefined ? allowed : allowed.includes(markOf(pod))]
}

/** A request to tell in the report what was changed, and until when it is answered, in monotonic ms. */
export type HeardRequest = { id: string; untilMs: number }

/** Whoever asks waits for two minutes unless they say otherwise, and may be gone without taking the request back. */
const answeredForMs = 600_000

/**
 * What is heard after another look at the annotations. A request that stands there when the agent starts counts from its own time (RFC 3339, before
 * the first slash of its id) where it has one; any other from when it is heard, whatever the clock of who asks.
 */
export function heardAfter(
  before: HeardRequest | undefined,
  annotations: Annotations,
  { isFirst, at, nowMs }: { isFirst: boolean; at: string; nowMs: number },
): HeardRequest | undefined {
  const request = changesRequest(annotations)
  if (request === undefined || request.id === before?.id) return request === undefined ? undefined : before
  const ageMs = isFirst ? Date.parse(at) - Date.parse(request.id.split('/')[0] ?? '') : 0
  return { id: request.id, untilMs: nowMs + answeredForMs - (ageMs > 0 ? ageMs : 0) }
}
