/**
 * Decides the next status and events of one GatewaySync from everything observed. The controller and the standalone runner share it. Pure:
 * takes data and `now`, returns data.
 */
import { timestamp } from '../../clock.ts'
import type { CheckQuestion } from '../rollout/check-question.ts'
import { captureAfter, ofRepository } from './capture.ts'
import { meaningOf, needsSomebody } from './conditions.ts'
import type { EventToRecord } from './events.ts'
import { followSource, type SourceChange } from './follow-source.ts'
import { summarise } from './summary.ts'
import { countGateways, isOutdated, isUnreported } from './gateways.ts'
import type { Observation } from './observation.ts'
import { digestAfter, parseRequest, recordAnswer, recordOutcome, recordOverfull, wantedRef } from './request.ts'
import { followRollout } from './rollout.ts'
import { type GatewaySyncStatus, maxUnreported } from '../schema/status.ts'
import type { RefName } from '../values.ts'

/** `status` replaces the old one as a whole; `events` are to be recorded in order. */
export type Decision = {
  status: GatewaySyncStatus
  events: EventToRecord[]
  /** When something follows without any change; undefined: nothing does. */
  wakeAt: Temporal.Instant | undefined
  /** What Prometheus is to be asked about gateways until the next decision; empty: nothing. */
  questions: readonly CheckQuestion[]
}

/** The complete next status, and the Events to write. Never throws. */
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
  const handled = requests.at(-1)?.id
  if (handled !== undefined) status.lastHandledRequest = handled
  const digest = digestAfter(observed.annotations, observed.status, requests)
  if (digest !== undefined) status.requestDigest = digest
  if (change.source !== undefined) status.source = change.source
  if (change.published !== undefined) status.published = change.published
  if (change.findings !== undefined) status.findings = change.findings
  if (change.rollout !== undefined) status.rollout = change.rollout
  if (observed.delivery !== undefined) status.delivery = observed.delivery
  const { repo } = observed.spec.git
  const captured = ofRepository(observed.status.capture, repo)
  const capture = captureAfter(captured, observed.captured ?? [], observed.spec.capture, observed.annotations, at)
  if (capture.status !== undefined) status.capture = { repo, ...capture.status }
  status.conditions = summarise(
    { ...observed, gateways, fault: change.fault, pending: observed.source.kind === 'pending', status, at },
    observed.status.conditions ?? [],
  )
  const told = new Set(change.events.map(({ reason }) => reason))
  const changes = conditionEvents(observed.status, status).filter(({ reason }) => !told.has(reason))
  return { status, events: [...change.events, ...capture.events, ...changes], wakeAt: change.wakeAt, questions: change.questions }
}

/** Answers requests that a change of the spec has ended, or that cannot be read, so that their callers do not wait for ever. */
function supersede(requests: SourceChange['requests'], observed: Observation, at: string): SourceChange['requests'] {
  const parsed = parseRequest(observed.annotations, observed.status)
  if (parsed.kind === 'none') {
    const answer = { outcome: 'Superseded', message: 'the annotation was removed before the request was looked at' } as const
    return parsed.withdrawn.reduce((known, request) => recordOutcome(known, request, answer, at), requests)
  }
  if (parsed.isDecided) return requests
  if (parsed.kind === 'malformed') {
    return recordOutcome(requests, { id: parsed.id, ref: '' }, { outcome: 'Refused', reason: 'InvalidRef', message: parsed.message }, at)
  }
  const isOpen = wantedRef(observed.spec.git.ref as RefName, observed.annotations, observed.status).undecided
  if (requests.some(({ id }) => id === parsed.request.id)) return requests
  if (isOpen) return recordOverfull(requests, parsed.request, at)
  const answer = { outcome: 'Superseded', message: 'spec.git.ref has changed since the request' } as const
  return recordAnswer(requests, parsed.request, answer, at)
}

/** An event each time that Ready changes, so that `kubectl describe` shows the history; the condition says which gateway and why. */
function conditionEvents(before: GatewaySyncStatus, after: GatewaySyncStatus): EventToRecord[] {
  const [was, is] = [before, after].map((status) => status.conditions?.find(({ type }) => type === 'Ready'))
  if (is === undefined || (was?.status === is.status && was.reason === is.reason)) return []
  return [{ type: needsSomebody(is) ? 'Warning' : 'Normal', reason: is.reason, note: meaningOf(is.reason) ?? is.message }]
}
