/**
 * Decides the next status and events of one GatewaySync from everything observed. The controller and the standalone runner share it. Pure:
 * takes data and `now`, returns data.
 */
import { timestamp } from '../../platform/clock.ts'
import type { Temporal } from '../../platform/temporal.ts'
import type { CheckQuestion } from '../rollout/check-question.ts'
import { followedRef } from '../../api/followed-ref.ts'
import { captureAfter, forRepository } from './capture.ts'
import { meaningOf, needsAttention } from '../../api/schema/conditions.ts'
import type { EventToRecord } from './events.ts'
import { followSource, type SourceChange } from './follow-source.ts'
import { summarize } from './summary.ts'
import { countGateways, isOutdated, isUnreported } from './gateways.ts'
import type { Observation } from './observation.ts'
import { digestAfter, parseRequest, desiredRef } from './request.ts'
import { isFinal, recordAnswer, recordOutcome, recordOverfull } from './request-outcomes.ts'
import { followRollout } from './rollout.ts'
import { type GatewaySyncStatus, maxUnreported } from '../../api/schema/status.ts'

/** `status` replaces the old one as a whole; `events` are to be recorded in order. */
export type Decision = {
  status: GatewaySyncStatus
  events: EventToRecord[]
  /** When to decide again without any change; undefined: never. */
  wakeAt: Temporal.Instant | undefined
  /** The Prometheus queries about gateways to run until the next decision. */
  questions: readonly CheckQuestion[]
}

/** Returns the complete next status and the Events to write. Never throws. */
export function decide(observed: Observation): Decision {
  const at = timestamp(observed.now)
  const followed = followSource(observed, at)
  const change = { ...followed, ...followRollout(observed, followed) }
  const requests = supersede(change.requests, observed, at)
  const { gateways } = change
  const status: GatewaySyncStatus = {
    observedGeneration: observed.generation,
    requests,
    gateways: countGateways(gateways),
    history: change.history,
    conditions: [],
  }
  const unreported = gateways.filter(isUnreported).map(({ pod }) => pod)
  if (unreported.length > 0) status.unreported = unreported.slice(0, maxUnreported)
  const outdatedAgents = gateways.filter(isOutdated).length
  if (outdatedAgents > 0) status.outdatedAgents = outdatedAgents
  const handled = requests.findLast(isFinal)?.id
  if (handled !== undefined) status.lastHandledRequest = handled
  const digest = digestAfter(observed.annotations, observed.status, requests)
  if (digest !== undefined) status.requestDigest = digest
  if (change.source !== undefined) status.source = change.source
  if (change.published !== undefined) status.published = change.published
  if (change.findings !== undefined) status.findings = change.findings
  if (change.rollout !== undefined) status.rollout = change.rollout
  if (observed.delivery !== undefined) status.delivery = observed.delivery
  const { repo } = observed.spec.git
  const captured = forRepository(observed.status.capture, repo)
  const capture = captureAfter(captured, observed.captured ?? [], observed.spec.capture, observed.annotations, at)
  if (capture.status !== undefined) status.capture = { repo, ...capture.status }
  status.conditions = summarize(
    { ...observed, gateways, fault: change.fault, pending: observed.source.kind === 'pending', status, at },
    observed.status.conditions ?? [],
  )
  const writtenReasons = new Set(change.events.map(({ reason }) => reason))
  const changes = conditionEvents(observed.status, status).filter(({ reason }) => !writtenReasons.has(reason))
  return { status, events: [...change.events, ...capture.events, ...changes], wakeAt: change.wakeAt, questions: change.questions }
}

/** Answers requests that a spec change ended or that cannot be read, so that their callers do not wait forever. */
function supersede(requests: SourceChange['requests'], observed: Observation, at: string): SourceChange['requests'] {
  const parsed = parseRequest(observed.annotations, observed.status)
  if (parsed.kind === 'none') {
    const answer = { outcome: 'Superseded', message: 'the annotation was removed before the request was handled' } as const
    return parsed.withdrawn.reduce((known, request) => recordOutcome(known, request, answer, at), requests)
  }
  if (parsed.isDecided) return requests
  if (parsed.kind === 'malformed') {
    return recordOutcome(requests, { id: parsed.id, ref: '' }, { outcome: 'Refused', reason: 'InvalidRef', message: parsed.message }, at)
  }
  const isOpen = desiredRef(followedRef(observed.spec.git), observed.annotations, observed.status).undecided
  if (isOpen) return recordOverfull(requests, parsed.request, at)
  const answer = { outcome: 'Superseded', message: 'spec.git follows another ref since the request' } as const
  return recordAnswer(requests, parsed.request, answer, at)
}

/**
 * Records an event each time Ready changes, so that `kubectl describe` shows the history; the condition names the gateway and the reason.
 */
function conditionEvents(before: GatewaySyncStatus, after: GatewaySyncStatus): EventToRecord[] {
  const [was, is] = [before, after].map((status) => status.conditions?.find(({ type }) => type === 'Ready'))
  if (is === undefined || (was?.status === is.status && was.reason === is.reason)) return []
  return [{ type: needsAttention(is) ? 'Warning' : 'Normal', reason: is.reason, note: meaningOf(is.reason) ?? is.message }]
}
