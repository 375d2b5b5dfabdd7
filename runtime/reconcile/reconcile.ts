/**
 * Reconciles one GatewaySync: observe, decide, apply, and start a source resolution when one is due. A reconcile never waits for a git host,
 * so a push is published in two of them:
 *
 *     change, timer -> reconcile 1: observe -> decide -> apply (the request waits) -> resolution due: start it -+
 *                                                                                                              | concurrently:
 *                                                                                                              | resolve, adopt, verify, check
 *     its result   <-------------------------------------------------------------------------------------------+
 *                   -> reconcile 2: observe -> decide -> apply (published, request answered) -> not due: return when
 *
 * Both are the same function: `observe` takes the result if there is one, else the stored status of the source.
 */
import * as v from 'valibot'
import { type Clock, timestamp } from '../platform/clock.ts'
import { Fault } from '../platform/fault.ts'
import { isRefAllowed } from './decide/allowed-refs.ts'
import { digestIn } from '../api/artifact-revision.ts'
import { followedRef, isTagSelector } from '../api/followed-ref.ts'
import { gatewaySyncColumns, isWorthWriting } from './decide/columns.ts'
import { decide, type Decision } from './decide/decide.ts'
import type { Observation, Signers, Verdict } from './decide/observation.ts'
import type { EventToRecord } from './decide/events.ts'
import { dueForResolution, type ResolvedCommit, storedSource } from './decide/source-resolution.ts'
import { isBehind, isSpecRef, type DesiredRef, desiredRef } from './decide/request.ts'
import { pendingForMs } from './decide/request-outcomes.ts'
import type { CaptureEntry } from '../api/schema/capture-spec.ts'
import { listed, schemaProblem } from '../api/schema/problems.ts'
import type { GatewaySyncSpec } from '../api/schema/spec.ts'
import type { GatewaySyncStatus } from '../api/schema/status.ts'
import { summarizeInvalid } from './decide/summary.ts'
import { type CommitHash, isFullRef } from '../api/values.ts'
import { mergePatchBetween } from '../kube/merge-patch.ts'
import type { Log } from '../platform/log/log.ts'
import type { Temporal } from '../platform/temporal.ts'
import type { GatewayQueries } from './gateway-queries.ts'
import { sharingKeyOf, specKeyOf } from './source/resolution-keys.ts'
import type { Resolution, ResolutionResult, Resolutions } from './source/resolutions.ts'
import type { ReconcileResult } from '../platform/async/queue.ts'
import type { Store } from './store/store.ts'
import { type GatewaySyncRecord, parseSyncKey, syncKey, type SyncKey } from './store/records.ts'
import { parseSpec } from '../api/schema/spec-of.ts'
import { readRepository } from '../git/remote/remote.ts'

/** Whether a commit is signed as its spec requires; `why` names commit or tag. */
export type SignatureVerdict = { kind: 'notRequired' } | ({ kind: 'verified' } & Signers) | { kind: 'refused'; why: string }

/** Collaborators of a reconcile: the leader's in a cluster, the runner's in standalone mode. */
export type ReconcileDeps = {
  store: Store
  resolutions: Resolutions
  clock: Clock
  log: Log
  /** Accepts a path or a `file:` URL as the repository: standalone mode only. */
  allowLocal: boolean
  /**
   * Resolves the desired ref on the git host and ensures that the mirror holds its commit; with `fresh`, an answer to a fetch that began
   * earlier does not count. The commit is shared with other GatewaySyncs, so checks for one of them belong in `validate`.
   */
  resolve(
    record: GatewaySyncRecord,
    spec: GatewaySyncSpec,
    desired: DesiredRef,
    fresh: boolean,
    signal: AbortSignal,
  ): Promise<ResolvedCommit>
  /** Ensures that the mirror of this GatewaySync holds a commit that was resolved for another one of the same repository. */
  adopt(record: GatewaySyncRecord, spec: GatewaySyncSpec, commit: CommitHash, signal: AbortSignal): Promise<void>
  /** Verifies the signatures that `spec.git.verify` requires. */
  verify(record: GatewaySyncRecord, spec: GatewaySyncSpec, resolved: ResolvedCommit, signal: AbortSignal): Promise<SignatureVerdict>
  /** How often the Secrets of its source have changed: a resolution result is valid for one version of them. */
  secretChanges(key: SyncKey): number
  /** Validates a commit of the mirror. */
  validate(record: GatewaySyncRecord, spec: GatewaySyncSpec, commit: CommitHash, signal: AbortSignal): Promise<Verdict>
  /** Called when a new commit will probably be validated, so that preparations can run during the fetch. */
  prepareValidation(spec: GatewaySyncSpec): void
  /** Capture results of its gateways; absent in standalone mode. */
  captured?(key: SyncKey): readonly CaptureEntry[]
  /** Queries Prometheus about gateways; absent: health checks have no results. */
  queries?: Pick<GatewayQueries, 'answers' | 'setQueries'>
  /** Returns why its work waits for other work of its namespace; absent: namespaces share nothing. */
  throttled?(key: SyncKey): string | undefined
  delivery(): GatewaySyncStatus['delivery']
  /** Writes the new status and returns the object; `patch` is the merge patch that leads to it. */
  writeStatus(
    record: GatewaySyncRecord,
    status: GatewaySyncStatus,
    patch: Record<string, unknown>,
    signal: AbortSignal,
  ): Promise<GatewaySyncRecord>
  recordEvents(record: GatewaySyncRecord, events: readonly EventToRecord[]): void
  /** Updates the metrics; an undefined status removes the series of a deleted object. */
  observed(key: SyncKey, status: GatewaySyncStatus | undefined): void
  deleted(record: { namespace: string; name: string }): void
}

/** Longest wait for a rollout step; a later one is scheduled again. */
const maxWaitMs = 3_600_000

/**
 * Returns when the next reconcile is due. Rejects with the faults of `writeStatus`; faults of the git host and of validation become
 * conditions and outcomes of requests.
 */
export async function reconcile(deps: ReconcileDeps, key: SyncKey, signal: AbortSignal): Promise<ReconcileResult> {
  const { store, resolutions } = deps
  const { namespace, name } = parseSyncKey(key)
  const record = store.sync(namespace, name)
  if (record === undefined) return forget(deps, { namespace, name })
  const parsed = parseSpec(record, deps)
  if ('issues' in parsed) {
    deps.queries?.setQueries(key, [])
    return await reportInvalidSpec(deps, record, invalidSpecFault(record, parsed.issues), signal)
  }
  const { spec } = parsed
  const result = resolutions.result(key)
  const decision = decide(observe(deps, record, spec, result))
  deps.queries?.setQueries(key, decision.questions)
  // Starts before the status is written: a push must not wait for the API server, and a running resolution is not started twice.
  const next = resolveIfDue(deps, { ...record, status: decision.status }, spec)
  await apply(deps, record, decision, signal)
  // Only now: if the API server rejects the status, the result is used again.
  if (result !== undefined) resolutions.done(key, result)
  return soonest(next, decision.wakeAt, deps.clock.now())
}

/** Returns the earlier of the next resolution and the next rollout step. */
function soonest({ wakeAfterMs }: ReconcileResult, wakeAt: Temporal.Instant | undefined, now: Temporal.Instant): ReconcileResult {
  if (wakeAt === undefined) return { wakeAfterMs }
  const inMs = Math.min(maxWaitMs, Math.max(10, wakeAt.epochMilliseconds - now.epochMilliseconds))
  return { wakeAfterMs: Math.min(wakeAfterMs ?? inMs, inMs) }
}

function forget(deps: ReconcileDeps, gone: { namespace: string; name: string }): ReconcileResult {
  const key = syncKey(gone.namespace, gone.name)
  deps.resolutions.forget(key)
  deps.queries?.setQueries(key, [])
  deps.observed(key, undefined)
  deps.deleted(gone)
  return { wakeAfterMs: undefined }
}

/** Collects everything that a decision depends on. A resolution result for a ref that is no longer desired is dropped. */
function observe(deps: ReconcileDeps, record: GatewaySyncRecord, spec: GatewaySyncSpec, result: ResolutionResult | undefined): Observation {
  const { store, resolutions, clock } = deps
  const { namespace, name, generation, annotations, status } = record
  const desired = desiredRef(followedRef(spec.git), annotations, status)
  const key = syncKey(namespace, name)
  const specKey = specKeyOf(spec, record.uid, deps.secretChanges(key))
  const last = resolutions.last(key)
  const { desired: answered, source } =
    result !== undefined && isStillDesired(result, specKey, desired)
      ? result
      : { desired, source: storedSource({ generation, status, desired, specKey, last }) }
  return {
    generation,
    spec,
    annotations,
    status,
    desired: answered,
    source,
    pods: store.podsOf(namespace, name),
    reports: store.reportsIn(namespace),
    delivery: deps.delivery(),
    captured: deps.captured?.(key) ?? [],
    answers: deps.queries?.answers(key) ?? new Map(),
    throttled: deps.throttled?.(key),
    now: clock.now(),
  }
}

/** Whether a result still fits the spec. A new request does not invalidate it: a stream of requests would waste every result. */
function isStillDesired(result: ResolutionResult, specKey: string, desired: DesiredRef): boolean {
  return result.specKey === specKey && (desired.undecided || result.desired.ref === desired.ref)
}

/** Starts a resolution if one is due and no running one will answer it; otherwise returns when the next one is due. */
function resolveIfDue(deps: ReconcileDeps, record: GatewaySyncRecord, spec: GatewaySyncSpec): ReconcileResult {
  const { resolutions, clock } = deps
  const key = syncKey(record.namespace, record.name)
  const desired = desiredRef(followedRef(spec.git), record.annotations, record.status)
  const specKey = specKeyOf(spec, record.uid, deps.secretChanges(key))
  const resolutionKey = `${desired.ref} ${specKey}`
  const sharingKey = sharingKeyOf(record.namespace, spec, desired.ref)
  const [last, shared] = [resolutions.last(key), resolutions.shared(key, sharingKey)]
  const pendingMs = pendingForMs(desired.request, record.status, clock.now())
  const due = dueForResolution({
    spec,
    desired,
    pendingMs,
    resolutionKey,
    last,
    shared,
    nowMs: clock.monotonicMs(),
    jitter: clock.random(),
  })
  if (due.kind === 'later') return { wakeAfterMs: due.inMs === undefined ? undefined : Math.max(due.inMs, 10) }
  if (!resolutions.isRunning(key, { resolutionKey, desired })) {
    const { host = '', text: repository = '' } = readRepository(spec.git.repo, { allowLocal: true }) ?? {}
    const fresh = due.why === 'first' || due.why === 'changed' || due.why === 'request'
    const run = resolutionRun(deps, record, spec, desired, fresh)
    resolutions.start(key, { specKey, resolutionKey, sharingKey, host, repository, desired, why: due.why, run })
  }
  return { wakeAfterMs: undefined }
}

/** One source resolution: resolve the ref on the git host, adopt the commit, verify its signatures, validate it. */
function resolutionRun(
  deps: ReconcileDeps,
  record: GatewaySyncRecord,
  spec: GatewaySyncSpec,
  desired: DesiredRef,
  fresh: boolean,
): Resolution['run'] {
  return async (share, signal) => {
    const startedMs = deps.clock.monotonicMs()
    requireAllowed(desired.ref, desired, spec, record.status)
    if (fresh) deps.prepareValidation(spec)
    const resolved = await share((own) => deps.resolve(record, spec, desired, fresh, own))
    const { commit, fetchedAt, name } = resolved
    const behind = isBehind(desired, resolved, record.status)
    // Only the resolved name shows whether it is a branch or a tag.
    requireAllowed(name, desired, spec, record.status)
    await deps.adopt(record, spec, commit, signal)
    // The commit time is loaded concurrently with validation.
    const found = async () => {
      const committedAt = await resolved.committedAt
      return {
        commit,
        ...(isFullRef(name) || digestIn(name) !== undefined ? { resolvedRef: name } : {}),
        committedAt,
        fetchedAt,
        isBehind: behind,
        durationMs: deps.clock.monotonicMs() - startedMs,
      }
    }
    const { kind, ...signatures } = await deps.verify(record, spec, resolved, signal)
    if ('why' in signatures) return { kind: 'unverified', ...(await found()), fault: new Fault('NotVerified', signatures.why) }
    const verdict = await deps.validate(record, spec, commit, signal)
    return { kind: 'resolved', ...(await found()), verified: kind === 'verified' ? signatures : undefined, verdict }
  }
}

/**
 * A request may name the spec's ref, or a ref that `allowedRefs` permits; `name` is the ref or its full name. Throws RefNotAllowed.
 */
function requireAllowed(name: string, { ref, request }: DesiredRef, { git }: GatewaySyncSpec, status: GatewaySyncStatus): void {
  if (request === undefined || isSpecRef(ref, followedRef(git), status)) return
  if (!isTagSelector(ref) && isRefAllowed(name, git.allowedRefs)) return
  throw new Fault('RefNotAllowed', `spec.git.allowedRefs does not permit "${name}"`)
}

/** Writes the status if it changed, records events, updates the metrics. */
async function apply(
  deps: ReconcileDeps,
  record: GatewaySyncRecord,
  { status: decided, events }: Pick<Decision, 'status' | 'events'>,
  signal: AbortSignal,
): Promise<void> {
  const status = { ...decided, columns: gatewaySyncColumns(decided) }
  const patch = mergePatchBetween(record.status, status)
  try {
    if (patch === undefined || !isWorthWriting(patch, record.status, deps.clock.now())) return
    deps.store.updateSync(await deps.writeStatus(record, status, patch, signal))
    deps.recordEvents(record, events)
  } finally {
    // Metrics show the decided status even if the API server rejects it. Unchanged members are shared.
    deps.observed(
      syncKey(record.namespace, record.name),
      patch === undefined ? record.status : sharingMembers(status, record.status, patch),
    )
  }
}

/** Returns `status` with unchanged members shared with the status before. */
function sharingMembers(status: GatewaySyncStatus, before: GatewaySyncStatus, patch: Readonly<Record<string, unknown>>): GatewaySyncStatus {
  const kept = Object.entries(before).filter(([member]) => Object.hasOwn(status, member) && !Object.hasOwn(patch, member))
  return { ...status, ...Object.fromEntries(kept) }
}

function invalidSpecFault({ tooLarge }: GatewaySyncRecord, issues: readonly v.BaseIssue<unknown>[]): Fault {
  if (tooLarge !== undefined) return new Fault('TooLarge', tooLarge)
  const problems = issues.map((issue) => `${['spec', ...(v.getDotPath(issue)?.split('.') ?? [])].join('.')}: ${schemaProblem(issue)}`)
  return new Fault('InvalidSpec', listed(problems))
}

/** Reports an invalid spec in the conditions; the last valid spec stays in force. */
async function reportInvalidSpec(
  deps: ReconcileDeps,
  record: GatewaySyncRecord,
  fault: Fault,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const { generation } = record
  const conditions = summarizeInvalid(fault, record.status.conditions ?? [], generation, timestamp(deps.clock.now()))
  const status = { ...record.status, observedGeneration: generation, conditions }
  await apply(deps, record, { status, events: [{ type: 'Warning', reason: fault.reason, note: fault.message }] }, signal)
  return { wakeAfterMs: undefined }
}
