/**
 * What the git host's answer changes in a GatewaySync: the wanted commit, the published one, findings, history, the answer to the request.
 * Pure, a part of `decide`.
 */
import { Fault, type Reason } from '../../fault.ts'
import { type EventToRecord, syncEvent } from './events.ts'
import { describeErrors } from './findings.ts'
import type { Observation, ResolvedSource, Signers, Verdict } from './observation.ts'
import { type Answer, isLook, recordAnswer, standingRef, type SyncRequest } from './request.ts'
import { rolledBack } from './rollout.ts'
import type { GatewaySyncSpec } from '../schema/spec.ts'
import type { GatewaySyncStatus } from '../schema/status.ts'
import type { CommitHash, RefName } from '../values.ts'

/** At most this many entries are kept in `status.history`. */
const keptHistory = 10
/** In characters: the history gives a refusal one line; while the commit is wanted, the findings hold the rest. */
const maxHistoryMessage = 256

/** What an observation of the source makes of the status, the events to record, and the fault that conditions show. */
export type SourceChange = {
  source: GatewaySyncStatus['source']
  published: GatewaySyncStatus['published']
  findings: GatewaySyncStatus['findings']
  requests: NonNullable<GatewaySyncStatus['requests']>
  history: NonNullable<GatewaySyncStatus['history']>
  fault: Fault | undefined
  events: EventToRecord[]
}

/** What the observation of the source changes: the wanted commit, the published one, the answer to the request. */
export function followSource(observed: Observation, at: string): SourceChange {
  const { status, source, wanted } = observed
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
  if (source.kind === 'unasked') return { ...change, fault: source.lastFault }
  if (source.kind === 'fault') return followFault(observed, change, source.fault, at)
  const verdict: Verdict = source.kind === 'resolved' ? source.verdict : { kind: 'notChecked' }
  const refusal = source.kind === 'resolved' ? (refusalOf(observed.spec, verdict) ?? rolledBack(observed, source.commit)) : source.fault
  const elsewhere = requestElsewhere(observed)
  if (refusal !== undefined && elsewhere !== undefined) return refuse(observed, change, elsewhere, refusal, at)

  const answer = refusal === undefined ? ({ outcome: 'Handled' } as const) : refusalAnswer(refusal)
  const requests = wanted.request === undefined ? change.requests : recordAnswer(change.requests, wanted.request, answer, at)
  const next: NonNullable<GatewaySyncStatus['source']> = {
    ref: wanted.ref,
    commit: source.commit,
    checkedAt: at,
    fetchedAt: source.fetchedAt,
  }
  if (source.committedAt !== undefined) next.committedAt = source.committedAt
  if (source.hasTagToo === true) next.hasTagToo = true
  // A refused request for the ref that is wanted anyway is not followed: what was wanted before it stays wanted.
  const isRefusedLook = refusal !== undefined && wanted.undecided
  const followed = isRefusedLook ? standingRef(observed.spec.git.ref as RefName, status).request : wanted.request
  if (followed !== undefined) next.requested = requestedOf(followed)
  if (source.kind === 'resolved' && source.verified !== undefined) next.verified = source.verified
  if (verdict.kind === 'checked' && verdict.unfinished !== undefined) next.unfinishedCheck = verdict.unfinished
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
    published: publishedNow(observed, source.commit, at),
    history: isNewCommit ? remember(change.history, observed, source, undefined, at) : change.history,
    events: isNewCommit ? publishedEvents(source.commit, verdict, wanted.ref) : [],
  }
}

/** The published commit with the ref and repository that it was published for, so that it is never taken for the answer to another spec. */
function publishedNow({ spec, status, wanted }: Observation, commit: CommitHash, at: string): NonNullable<GatewaySyncStatus['published']> {
  const { published: before } = status
  const same = before?.commit === commit && before.ref === wanted.ref
  return { commit, ref: wanted.ref, repo: spec.git.repo, at: same ? before.at : at }
}

/** The events of a new commit; errors get one of their own, also when the policy Warn publishes the commit. */
function publishedEvents(commit: CommitHash, verdict: Verdict, ref: string): EventToRecord[] {
  const published = syncEvent('Published', `published commit ${commit} of ${ref}`)
  if (verdict.kind === 'notChecked' || verdict.errors === 0) return [published]
  const reason = verdict.unfinished === undefined ? 'CollectionsInvalid' : 'CheckFailed'
  return [published, refusalEvent(reason, commit, 'is published all the same', describeErrors(verdict))]
}

function refusalEvent(reason: Reason, commit: CommitHash, fate: string, what: string): EventToRecord {
  return { type: 'Warning', reason, note: `commit ${commit} ${fate}: ${what}` }
}

/** The request without an outcome, if it asks for another ref than the one that is wanted already. */
function requestElsewhere({ wanted, spec, status }: Observation): SyncRequest | undefined {
  const { request, undecided } = wanted
  return request === undefined || !undecided || isLook(wanted, standingRef(spec.git.ref as RefName, status)) ? undefined : request
}

/**
 * A request for another ref that fails with a lasting fault is refused and changes nothing; every other fault becomes a condition.
 */
function followFault(observed: Observation, before: SourceChange, fault: Fault, at: string): SourceChange {
  const { request, undecided } = observed.wanted
  const lasting = fault.retry === 'on-change'
  const elsewhere = requestElsewhere(observed)
  if (elsewhere !== undefined && lasting) return refuse(observed, before, elsewhere, fault, at)
  const isAnswered = request !== undefined && undecided && lasting
  const change = isAnswered ? { ...before, requests: recordAnswer(before.requests, request, refusalAnswer(fault), at) } : before
  // While an open request waits for a passing fault to end, the source still shows what was wanted before.
  if ((undecided && !isAnswered) || change.source?.ref === observed.wanted.ref) return { ...change, fault }
  const source: NonNullable<GatewaySyncStatus['source']> = { ref: observed.wanted.ref }
  if (request !== undefined && !isAnswered) source.requested = requestedOf(request)
  return { ...change, fault, source }
}

function refuse(observed: Observation, change: SourceChange, request: SyncRequest, fault: Fault, at: string): SourceChange {
  return {
    ...change,
    requests: recordAnswer(change.requests, request, refusalAnswer(fault), at),
    events: [syncEvent('RequestRefused', `request for ${observed.wanted.ref} refused: ${fault.message}`)],
  }
}

function refusalAnswer({ reason, message }: Fault): Answer {
  return { outcome: 'Refused', reason, message }
}

/** The fault for which the verdict keeps a commit from being published; undefined when it may be. */
function refusalOf(spec: GatewaySyncSpec, verdict: Verdict): Fault | undefined {
  if (verdict.kind === 'notChecked' || verdict.errors === 0 || spec.validation.policy !== 'Enforce') return undefined
  return new Fault(verdict.unfinished === undefined ? 'CollectionsInvalid' : 'CheckFailed', describeErrors(verdict))
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
  const by = observed.wanted.request === undefined ? 'spec' : (observed.wanted.request.by ?? 'request').slice(0, 128)
  const entry: SourceChange['history'][number] = {
    commit: source.commit,
    ref: observed.wanted.ref,
    by,
    at,
    outcome: refusal === undefined ? 'Published' : 'Refused',
    durationMs: Math.round(source.durationMs),
  }
  if (refusal !== undefined) Object.assign(entry, { reason: refusal.reason, message: refusal.message.slice(0, maxHistoryMessage) })
  const keys = [...new Set([source.verified?.commit?.key, source.verified?.tag?.key].filter((key) => key !== undefined))]
  if (keys.length > 0) entry.signedBy = keys.join(', ')
  return [entry, ...history].slice(0, keptHistory)
}
