/**
 * Decides the next status and events of one GatewaySync from everything observed. The controller and the standalone runner share it. Pure:
 * takes data and `now`, returns data.
 */
import { timestamp } from '../../clock.ts'
import { Fault, type Reason } from '../../fault.ts'
import { captureAfter } from './capture.ts'
import { meaningOf, needsSomebody } from './conditions.ts'
import { type EventToRecord, syncEvent } from './events.ts'
import { describeErrors } from './findings.ts'
import { summarise } from './summary.ts'
import { countGateways, type GatewayPod, type GatewayReport, isOutdated, isUnreported } from './gateways.ts'
import {
  type Annotations,
  type Answer,
  digestAfter,
  isLook,
  parseRequest,
  recordAnswer,
  recordOverfull,
  recordOutcome,
  standingRef,
  type SyncRequest,
  type WantedRef,
  wantedRef,
} from './request.ts'
import { followRollout, rolledBack } from './rollout.ts'
import type { CaptureEntry } from '../schema/capture-spec.ts'
import type { GatewaySyncSpec } from '../schema/spec.ts'
import { type StatusFinding, type GatewaySyncStatus, maxUnreported } from '../schema/status.ts'
import type { CommitHash, RefName } from '../values.ts'

/** What the git host and the checks said about the wanted ref in this pass. */
export type SourceObservation =
  /** The git host was not asked in this pass: the status still holds, and so does the fault of the last lookup. */
  | { kind: 'unasked'; lastFault: Fault | undefined }
  /** The git host has not been asked about the present spec yet: the status is about an earlier one. */
  | { kind: 'pending' }
  | (ResolvedSource & { kind: 'resolved'; verified: Signers | undefined; verdict: Verdict })
  /** The commit was fetched, but is not signed as `spec.git.verify` requires. */
  | (ResolvedSource & { kind: 'unverified'; fault: Fault })
  | { kind: 'fault'; fault: Fault }

type ResolvedSource = {
  commit: CommitHash
  committedAt: string | undefined
  fetchedAt: string
  hasTagToo?: boolean
  durationMs: number
}

/** Who signed the commit, and who the tag that names it. */
export type Signers = NonNullable<NonNullable<GatewaySyncStatus['source']>['verified']>

/** What the collection checks found; `notChecked` when no profile has collections or the policy is Off. */
export type Verdict =
  | { kind: 'notChecked' }
  /** `unfinished`: the checks did not finish; names the version, commit and content that are not checked again. */
  | { kind: 'checked'; errors: number; warnings: number; items: readonly StatusFinding[]; unfinished?: string }

/** Everything that a decision depends on. */
export type Observation = {
  generation: number
  spec: GatewaySyncSpec
  annotations: Annotations
  /** The status as it stands. */
  status: GatewaySyncStatus
  /** The ref that was wanted when the git host was asked; the annotations may have changed since. */
  wanted: WantedRef
  source: SourceObservation
  /** The pods that follow this GatewaySync, and the reports by pod name. */
  pods: readonly GatewayPod[]
  reports: ReadonlyMap<string, GatewayReport>
  delivery: GatewaySyncStatus['delivery']
  /** What became of changes of gateways since the status was written. */
  captured?: readonly CaptureEntry[]
  now: Temporal.Instant
}

/** `status` replaces the old one as a whole; `events` are to be recorded in order. */
export type Decision = {
  status: GatewaySyncStatus
  events: EventToRecord[]
  /** When something follows without any change; undefined: nothing does. */
  wakeAt: Temporal.Instant | undefined
}

/** At most this many entries are kept in `status.history`. */
const keptHistory = 10
/** In characters: the history gives a refusal one line; while the commit is wanted, the findings hold the rest. */
const maxHistoryMessage = 256

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
  const capture = captureAfter(observed.status.capture, observed.captured ?? [], observed.spec.capture, observed.annotations, at)
  if (capture.status !== undefined) status.capture = capture.status
  status.conditions = summarise(
    { ...observed, gateways, fault: change.fault, pending: observed.source.kind === 'pending', status, at },
    observed.status.conditions ?? [],
  )
  const told = new Set(change.events.map(({ reason }) => reason))
  const changes = conditionEvents(observed.status, status).filter(({ reason }) => !told.has(reason))
  return { status, events: [...change.events, ...capture.events, ...changes], wakeAt: change.wakeAt }
}

type SourceChange = {
  source: GatewaySyncStatus['source']
  published: GatewaySyncStatus['published']
  findings: GatewaySyncStatus['findings']
  requests: NonNullable<GatewaySyncStatus['requests']>
  history: NonNullable<GatewaySyncStatus['history']>
  fault: Fault | undefined
  events: EventToRecord[]
}

/** What the observation of the source changes: the wanted commit, the published one, the answer to the request. */
function followSource(observed: Observation, at: string): SourceChange {
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

/** An event each time that Ready changes, so that `kubectl describe` shows the history; the condition says which gateway and why. */
function conditionEvents(before: GatewaySyncStatus, after: GatewaySyncStatus): EventToRecord[] {
  const [was, is] = [before, after].map((status) => status.conditions?.find(({ type }) => type === 'Ready'))
  if (is === undefined || (was?.status === is.status && was.reason === is.reason)) return []
  return [{ type: needsSomebody(is) ? 'Warning' : 'Normal', reason: is.reason, note: meaningOf(is.reason) ?? is.message }]
}
