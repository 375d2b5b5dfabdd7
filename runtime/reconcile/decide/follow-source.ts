/**
 * Applies the result of source resolution to a GatewaySync: desired commit, published commit, findings, history, answer to the request.
 * Pure; part of `decide`.
 */
import { timestamp } from '../../platform/clock.ts'
import { Fault, type Reason } from '../../platform/fault.ts'
import { digestIn } from '../../api/artifact-revision.ts'
import { type FollowedRef, followedRef, isIndirect } from '../../api/followed-ref.ts'
import { type EventToRecord, syncEvent } from './events.ts'
import type { Observation, ResolvedSource, Signers, Verdict } from './observation.ts'
import { isRecheck, standingRef } from './request.ts'
import { type SyncRequest } from './request-outcomes.ts'
import { type Answer, pendingSince, recordAnswer } from './request-outcomes.ts'
import { rollbackFault } from './rollout.ts'
import { durationText } from '../../api/schema/fields.ts'
import type { GatewaySyncSpec } from '../../api/schema/spec.ts'
import type { GatewaySyncStatus } from '../../api/schema/status.ts'
import { type CommitHash, shortRef } from '../../api/values.ts'
import { describeErrors } from './summary.ts'

/** Maximum number of entries in `status.history`. */
const keptHistory = 10
/** Characters: a refusal has one line in the history; while the commit is desired, the findings hold the rest. */
const maxHistoryMessage = 256

/** The next status, the events to record, and the fault that conditions show. */
export type SourceChange = {
  source: GatewaySyncStatus['source']
  published: GatewaySyncStatus['published']
  findings: GatewaySyncStatus['findings']
  requests: NonNullable<GatewaySyncStatus['requests']>
  history: NonNullable<GatewaySyncStatus['history']>
  fault: Fault | undefined
  events: EventToRecord[]
}

/** Applies the source observation: desired commit, published commit, answer to the request. */
export function followSource(observed: Observation, at: string): SourceChange {
  const { status, source, desired } = observed
  const change: SourceChange = {
    source: status.source,
    published: status.published,
    findings: status.findings,
    requests: status.requests ?? [],
    history: status.history ?? [],
    fault: undefined,
    events: [],
  }
  if (source.kind === 'pending') return change
  if (source.kind === 'unchanged') return { ...change, fault: source.lastFault }
  if (source.kind === 'fault') return followFault(observed, change, source.fault, at)
  const pending = pendingAnswer(observed, source.isBehind === true ? notVisible(desired.ref) : undefined)
  if (pending !== undefined && requestElsewhere(observed) !== undefined) return answered(observed, change, pending, at)
  const verdict: Verdict = source.kind === 'resolved' ? source.verdict : { kind: 'notChecked' }
  const refusal = source.kind === 'resolved' ? (refusalOf(observed.spec, verdict) ?? rollbackFault(observed, source.commit)) : source.fault
  const elsewhere = requestElsewhere(observed)
  if (refusal !== undefined && elsewhere !== undefined) return refuse(observed, change, elsewhere, refusal, at)

  const answer = pending ?? (refusal === undefined ? ({ outcome: 'Handled' } as const) : refusalAnswer(refusal))
  const { requests } = answered(observed, change, answer, at)
  const next: NonNullable<GatewaySyncStatus['source']> = {
    ref: desired.ref,
    commit: source.commit,
    checkedAt: at,
    fetchedAt: source.fetchedAt,
  }
  if (source.committedAt !== undefined) next.committedAt = source.committedAt
  if (source.resolvedRef !== undefined) next.resolvedRef = source.resolvedRef
  // A refused request for the desired ref changes nothing: the previous source stays.
  const isRefusedRecheck = refusal !== undefined && desired.undecided
  const followed = isRefusedRecheck ? standingRef(followedRef(observed.spec.git), status).request : desired.request
  if (followed !== undefined) next.requested = requestedOf(followed)
  if (source.kind === 'resolved' && source.verified !== undefined) next.verified = source.verified
  if (verdict.kind === 'checked' && verdict.unfinished !== undefined) next.unfinishedValidation = verdict.unfinished
  const findings = findingsOf(verdict)
  const isNewCommit = source.commit !== status.published?.commit
  if (refusal !== undefined) {
    next.held = refusal.reason
    const known = status.source?.commit === source.commit && status.source.held === refusal.reason
    return {
      ...change,
      source: next,
      findings,
      requests,
      history: known ? change.history : remember(change.history, observed, source, refusal, at),
      fault: source.kind === 'unverified' ? refusal : undefined,
      events: known ? [] : [refusalEvent(refusal.reason, source.commit, 'is not published', refusal.message)],
    }
  }
  return {
    ...change,
    source: next,
    findings,
    requests,
    published: publishedNow(observed, source, at),
    history: isNewCommit ? remember(change.history, observed, source, undefined, at) : change.history,
    events: isNewCommit ? publishedEvents(source.commit, verdict, shortRef(selected(desired.ref, source).ref)) : [],
  }
}

/** Returns the published commit with its ref and repository, so that it is never mistaken for the result of another spec. */
function publishedNow(
  { spec, status, desired }: Observation,
  source: ResolvedSource,
  at: string,
): NonNullable<GatewaySyncStatus['published']> {
  const { published: before } = status
  const { commit } = source
  const named = selected(desired.ref, source)
  const same = before?.commit === commit && before.ref === named.ref
  return { commit, ...named, repo: spec.git.repo, at: same ? before.at : at }
}

/**
 * Returns the ref that people and templates see: for a default branch or a selector, the branch or tag it resolved to; for an artifact its
 * revision.
 */
function selected(desired: FollowedRef, { resolvedRef }: Pick<ResolvedSource, 'resolvedRef'>): { ref: string; specRef?: string } {
  return resolvedRef !== undefined && (isIndirect(desired) || digestIn(resolvedRef) !== undefined) && resolvedRef !== desired
    ? { ref: resolvedRef, specRef: desired }
    : { ref: desired }
}

/** Returns the events of a new commit. Errors have their own event, also when policy Warn publishes the commit. */
function publishedEvents(commit: CommitHash, verdict: Verdict, ref: string): EventToRecord[] {
  const published = syncEvent('Published', `published commit ${commit} of ${ref}`)
  if (verdict.kind === 'notChecked' || verdict.errors === 0) return [published]
  const reason = verdict.unfinished === undefined ? 'CollectionsInvalid' : 'ValidationFailed'
  return [published, refusalEvent(reason, commit, 'is published anyway', describeErrors(verdict))]
}

function refusalEvent(reason: Reason, commit: CommitHash, fate: string, what: string): EventToRecord {
  return { type: 'Warning', reason, note: `commit ${commit} ${fate}: ${what}` }
}

/** Returns the open request if it names another ref than the desired one. */
function requestElsewhere({ desired, spec, status }: Observation): SyncRequest | undefined {
  const { request, undecided } = desired
  return request === undefined || !undecided || isRecheck(desired, standingRef(followedRef(spec.git), status), status) ? undefined : request
}

/** A request for another ref that fails with a permanent fault is refused and changes nothing; every other fault becomes a condition. */
function followFault(observed: Observation, before: SourceChange, fault: Fault, at: string): SourceChange {
  const { request, undecided } = observed.desired
  const lasting = fault.retry === 'on-change'
  const elsewhere = requestElsewhere(observed)
  const pending = pendingAnswer(observed, fault.reason === 'RefNotFound' ? fault : undefined)
  if (pending !== undefined) return { ...answered(observed, before, pending, at), fault: elsewhere === undefined ? fault : undefined }
  if (elsewhere !== undefined && lasting) return refuse(observed, before, elsewhere, fault, at)
  const isAnswered = request !== undefined && undecided && lasting
  const change = isAnswered ? { ...before, requests: recordAnswer(before.requests, request, refusalAnswer(fault), at) } : before
  // While an open request waits for a temporary fault to clear, the source still shows the previous ref.
  if ((undecided && !isAnswered) || change.source?.ref === observed.desired.ref) return { ...change, fault }
  const source: NonNullable<GatewaySyncStatus['source']> = { ref: observed.desired.ref }
  if (request !== undefined && !isAnswered) source.requested = requestedOf(request)
  return { ...change, fault, source }
}

/**
 * Returns the answer to a webhook request whose ref or commit the git host does not serve yet, or undefined if the request is not pending.
 */
function pendingAnswer({ desired: { request, undecided }, status, now }: Observation, why: Fault | undefined): Answer | undefined {
  if (why === undefined || request === undefined || !undecided) return undefined
  const since = pendingSince(request, status, now)
  if (since === undefined) return undefined
  const message = `${why.message}; retried for two minutes since ${timestamp(since)}`
  return { outcome: 'Pending', reason: why.reason, message }
}

function notVisible(ref: string): Fault {
  return new Fault('PushNotVisible', `the git host does not show the push to ${shortRef(ref)} yet`)
}

/** Records the answer to the request, if there is one. */
function answered(observed: Observation, change: SourceChange, answer: Answer, at: string): SourceChange {
  const { request } = observed.desired
  return request === undefined ? change : { ...change, requests: recordAnswer(change.requests, request, answer, at) }
}

function refuse(observed: Observation, change: SourceChange, request: SyncRequest, fault: Fault, at: string): SourceChange {
  return {
    ...change,
    requests: recordAnswer(change.requests, request, refusalAnswer(fault), at),
    events: [syncEvent('RequestRefused', `request for ${shortRef(observed.desired.ref)} refused: ${fault.message}`)],
  }
}

function refusalAnswer({ reason, message }: Fault): Answer {
  return { outcome: 'Refused', reason, message }
}

/** Returns the fault that keeps a commit from being published, or undefined. */
function refusalOf(spec: GatewaySyncSpec, verdict: Verdict): Fault | undefined {
  if (verdict.kind === 'notChecked' || verdict.errors === 0 || spec.validation.policy !== 'Enforce') return undefined
  return new Fault(verdict.unfinished === undefined ? 'CollectionsInvalid' : 'ValidationFailed', describeErrors(verdict))
}

function findingsOf(verdict: Verdict): GatewaySyncStatus['findings'] {
  if (verdict.kind === 'notChecked') return undefined
  return { errors: verdict.errors, warnings: verdict.warnings, items: verdict.items.slice(0, 50) }
}

function requestedOf(request: SyncRequest): NonNullable<NonNullable<GatewaySyncStatus['source']>['requested']> {
  const requested: NonNullable<NonNullable<GatewaySyncStatus['source']>['requested']> = {
    ref: request.ref,
    id: request.id,
    specRef: request.specRef,
  }
  if (request.by !== undefined) requested.by = request.by.slice(0, 128)
  if (request.at !== undefined) requested.at = request.at.slice(0, 64)
  return requested
}

function remember(
  history: SourceChange['history'],
  observed: Observation,
  source: ResolvedSource & { verified?: Signers | undefined },
  refusal: Fault | undefined,
  at: string,
): SourceChange['history'] {
  const by = observed.desired.request === undefined ? 'spec' : (observed.desired.request.by ?? 'request').slice(0, 128)
  const entry: SourceChange['history'][number] = {
    commit: source.commit,
    ...selected(observed.desired.ref, source),
    by,
    at,
    outcome: refusal === undefined ? 'Published' : 'Refused',
    duration: durationText(source.durationMs),
  }
  if (refusal !== undefined) Object.assign(entry, { reason: refusal.reason, message: refusal.message.slice(0, maxHistoryMessage) })
  const keys = [...new Set([source.verified?.commit?.key, source.verified?.tag?.key].filter((key) => key !== undefined))]
  if (keys.length > 0) entry.signedBy = keys.join(', ')
  return [entry, ...history].slice(0, keptHistory)
}
