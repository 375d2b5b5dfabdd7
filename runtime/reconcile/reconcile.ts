/**
 * One pass over one GatewaySync: observe, decide, apply, and look up when that is due. A pass never waits for a git host, so a push is
 * published in two of them:
 *
 *     change, timer -> pass 1: observe -> decide -> apply (the request waits) -> lookup due: start it -+
 *                                                                                                      | beside the passes:
 *                                                                                                      | resolve, adopt, verify, check
 *     its result   <-----------------------------------------------------------------------------------+
 *                   -> pass 2: observe -> decide -> apply (published, request answered) -> not due: say when
 *
 * Both are the same function: `observe` takes the result where there is one, else what is remembered of the source.
 */
import * as v from 'valibot'
import { type Clock, timestamp } from '../clock.ts'
import { Fault } from '../fault.ts'
import { isRefAllowed } from '../gatewaysync/decide/allowed-refs.ts'
import { gatewaySyncColumns } from '../gatewaysync/decide/columns.ts'
import { decide, type Decision } from '../gatewaysync/decide/decide.ts'
import type { Observation, Signers, Verdict } from '../gatewaysync/decide/observation.ts'
import type { EventToRecord } from '../gatewaysync/decide/events.ts'
import { dueForLookup, rememberedSource } from '../gatewaysync/decide/lookup.ts'
import { isWorthWriting } from '../gatewaysync/decide/worth-writing.ts'
import { type WantedRef, wantedRef } from '../gatewaysync/decide/request.ts'
import type { CaptureEntry } from '../gatewaysync/schema/capture-spec.ts'
import type { GatewaySyncSpec } from '../gatewaysync/schema/spec.ts'
import type { GatewaySyncStatus } from '../gatewaysync/schema/status.ts'
import { summariseInvalid } from '../gatewaysync/decide/summary.ts'
import { type CommitHash, parseRefName } from '../gatewaysync/values.ts'
import { mergePatchBetween } from '../kube/merge-patch.ts'
import type { Log } from '../log.ts'
import type { GatewayQueries } from './gateway-queries.ts'
import { sharingKeyOf, specKeyOf } from './lookup-keys.ts'
import type { Lookup, LookupResult, Lookups } from './lookups.ts'
import type { PassResult } from './queue.ts'
import type { ResolvedCommit } from './resolved-commit.ts'
import type { Store } from './store.ts'
import { type GatewaySyncRecord, syncKey, type SyncKey } from './records.ts'
import { parseSpec } from './spec-of.ts'
import { readRepository } from '../source/remote/remote.ts'

/** Whether a commit is signed as its spec requires; `why` names commit or tag. */
export type SignatureVerdict = { kind: 'notAsked' } | ({ kind: 'verified' } & Signers) | { kind: 'refused'; why: string }

/** What a pass works with: the leader's in a cluster, the runner's on one machine. */
export type ReconcileDeps = {
  store: Store
  lookups: Lookups
  clock: Clock
  log: Log
  /** Accept a path or a `file:` URL as the repository: only on one machine. */
  allowLocal: boolean
  /**
   * Resolves the wanted ref at the git host and makes sure that the mirror holds its commit; with `fresh`, the answer to a fetch that began
   * earlier does not count. The commit is shared with other GatewaySyncs, so checks for one of them belong in `check`.
   */
  resolve(record: GatewaySyncRecord, spec: GatewaySyncSpec, wanted: WantedRef, fresh: boolean, signal: AbortSignal): Promise<ResolvedCommit>
  /** Makes sure that the mirror of this GatewaySync holds a commit that was resolved for another one of the same repository. */
  adopt(record: GatewaySyncRecord, spec: GatewaySyncSpec, commit: CommitHash, signal: AbortSignal): Promise<void>
  /** Checks the signatures that `spec.git.verify` asks for. */
  verify(record: GatewaySyncRecord, spec: GatewaySyncSpec, resolved: ResolvedCommit, signal: AbortSignal): Promise<SignatureVerdict>
  /** How often the Secrets of its source have changed: a lookup result is valid for one version of them. */
  secretChanges(key: SyncKey): number
  /** Runs the collection checks on a commit of the mirror. */
  check(record: GatewaySyncRecord, spec: GatewaySyncSpec, commit: CommitHash, signal: AbortSignal): Promise<Verdict>
  /** Called when a new commit will probably have to be checked, so that preparations can run while it is fetched. */
  prepareCheck(spec: GatewaySyncSpec): void
  /** What became of changes of its gateways; absent on one machine. */
  captured?(key: SyncKey): readonly CaptureEntry[]
  /** Asks Prometheus about gateways; without it nobody does, and nothing is known of their checks. */
  queries?: Pick<GatewayQueries, 'answers' | 'ask'>
  delivery(): GatewaySyncStatus['delivery']
  /** Writes the new status; `patch` is the merge patch that leads to it. Returns the object as it is then. */
  writeStatus(
    record: GatewaySyncRecord,
    status: GatewaySyncStatus,
    patch: Record<string, unknown>,
    signal: AbortSignal,
  ): Promise<GatewaySyncRecord>
  recordEvents(record: GatewaySyncRecord, events: readonly EventToRecord[]): void
  /** Updates the metrics; undefined status: the object is gone, and its series are removed. */
  observed(key: SyncKey, status: GatewaySyncStatus | undefined): void
  gone(record: { namespace: string; name: string }): void
}

/** The longest wait for a step of a rollout; a later one is waited for anew. */
const mostWaitMs = 3_600_000

/**
 * Returns when the next pass is due by itself. Rejects with the faults of `writeStatus`; faults of the git host and of the checks become
 * conditions and outcomes of requests.
 */
export async function reconcile(deps: ReconcileDeps, key: SyncKey, signal: AbortSignal): Promise<PassResult> {
  const { store, lookups } = deps
  const [namespace = '', name = ''] = key.split('/')
  const record = store.sync(namespace, name)
  if (record === undefined) return forget(deps, { namespace, name })
  const parsed = parseSpec(record, deps)
  if ('issues' in parsed) {
    deps.queries?.ask(key, [])
    return await reportInvalidSpec(deps, record, parsed.issues, signal)
  }
  const { spec } = parsed
  const result = lookups.result(key)
  const decision = decide(observe(deps, record, spec, result))
  deps.queries?.ask(key, decision.questions)
  // Begins before the status is written: a push waits for no answer of the API server, and a lookup that is under way is not begun twice.
  const next = lookUpIfDue(deps, { ...record, status: decision.status }, spec)
  await apply(deps, record, decision, signal)
  // Only now: if the API server refuses the status, the result is decided on again.
  if (result !== undefined) lookups.done(key, result)
  return soonest(next, decision.wakeAt, deps.clock.now())
}

/** The lookup or the rollout, whichever is due first. */
function soonest({ wakeAfterMs }: PassResult, wakeAt: Temporal.Instant | undefined, now: Temporal.Instant): PassResult {
  if (wakeAt === undefined) return { wakeAfterMs }
  const inMs = Math.min(mostWaitMs, Math.max(10, wakeAt.epochMilliseconds - now.epochMilliseconds))
  return { wakeAfterMs: Math.min(wakeAfterMs ?? inMs, inMs) }
}

function forget(deps: ReconcileDeps, gone: { namespace: string; name: string }): PassResult {
  const key = syncKey(gone.namespace, gone.name)
  deps.lookups.forget(key)
  deps.queries?.ask(key, [])
  deps.observed(key, undefined)
  deps.gone(gone)
  return { wakeAfterMs: undefined }
}

/** Everything that a decision depends on. A lookup result for something that is no longer wanted is left out. */
function observe(deps: ReconcileDeps, record: GatewaySyncRecord, spec: GatewaySyncSpec, result: LookupResult | undefined): Observation {
  const { store, lookups, clock } = deps
  const { namespace, name, generation, annotations, status } = record
  const wanted = wantedRef(parseRefName(spec.git.ref), annotations, status)
  const key = syncKey(namespace, name)
  const specKey = specKeyOf(spec, record.uid, deps.secretChanges(key))
  const last = lookups.last(key)
  const { wanted: answered, source } =
    result !== undefined && isStillWanted(result, specKey, wanted)
      ? result
      : { wanted, source: rememberedSource({ generation, status, wanted, specKey, last }) }
  return {
    generation,
    spec,
    annotations,
    status,
    wanted: answered,
    source,
    pods: store.podsOf(namespace, name),
    reports: store.reportsIn(namespace),
    delivery: deps.delivery(),
    captured: deps.captured?.(key) ?? [],
    answers: deps.queries?.answers(key) ?? new Map(),
    now: clock.now(),
  }
}

/** Whether a result still fits the spec. A request that came meanwhile does not invalidate it: a stream of them would waste every result. */
function isStillWanted(result: LookupResult, specKey: string, wanted: WantedRef): boolean {
  return result.specKey === specKey && (wanted.undecided || result.wanted.ref === wanted.ref)
}

/** Starts a lookup when one is due and none is running that will answer it too; otherwise returns when the next one is due. */
function lookUpIfDue(deps: ReconcileDeps, record: GatewaySyncRecord, spec: GatewaySyncSpec): PassResult {
  const { lookups, clock } = deps
  const key = syncKey(record.namespace, record.name)
  const wanted = wantedRef(parseRefName(spec.git.ref), record.annotations, record.status)
  const specKey = specKeyOf(spec, record.uid, deps.secretChanges(key))
  const lookupKey = `${wanted.ref} ${specKey}`
  const sharingKey = sharingKeyOf(record.namespace, spec, wanted.ref)
  const [last, shared] = [lookups.last(key), lookups.shared(key, sharingKey)]
  const due = dueForLookup({ spec, wanted, lookupKey, last, shared, nowMs: clock.monotonicMs(), jitter: clock.random() })
  if (due.kind === 'later') return { wakeAfterMs: due.inMs === undefined ? undefined : Math.max(due.inMs, 10) }
  if (!lookups.isRunning(key, { lookupKey, wanted })) {
    const host = readRepository(spec.git.repo, { allowLocal: true })?.host ?? ''
    const fresh = due.why === 'first' || due.why === 'changed' || due.why === 'request'
    const run = lookUp(deps, record, spec, wanted, fresh)
    lookups.start(key, { specKey, lookupKey, sharingKey, host, wanted, why: due.why, run })
  }
  return { wakeAfterMs: undefined }
}

/** One lookup: resolve the ref at the git host, adopt the commit, verify its signatures, check its collections. */
function lookUp(deps: ReconcileDeps, record: GatewaySyncRecord, spec: GatewaySyncSpec, wanted: WantedRef, fresh: boolean): Lookup['run'] {
  return async (share, signal) => {
    const startedMs = deps.clock.monotonicMs()
    if (wanted.request !== undefined && wanted.ref !== spec.git.ref && !isRefAllowed(wanted.ref, spec.git.allowedRefs)) {
      throw new Fault('RefNotAllowed', `spec.git.allowedRefs does not permit "${wanted.ref}"`)
    }
    if (fresh) deps.prepareCheck(spec)
    const resolved = await share(() => deps.resolve(record, spec, wanted, fresh, signal))
    await deps.adopt(record, spec, resolved.commit, signal)
    const { commit, fetchedAt } = resolved
    // What only has to be said is known by the time that there is something to say.
    const found = async () => {
      const [committedAt, hasTagToo = false] = await Promise.all([resolved.committedAt, resolved.hasTagToo])
      return { commit, committedAt, fetchedAt, hasTagToo, durationMs: deps.clock.monotonicMs() - startedMs }
    }
    const { kind, ...signatures } = await deps.verify(record, spec, resolved, signal)
    if ('why' in signatures) return { kind: 'unverified', ...(await found()), fault: new Fault('NotVerified', signatures.why) }
    const verdict = await deps.check(record, spec, commit, signal)
    return { kind: 'resolved', ...(await found()), verified: kind === 'verified' ? signatures : undefined, verdict }
  }
}

/** Writes the status if it changes anything, records events, updates the metrics. */
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
    // Metrics show the decided status even if the API server refuses it. What has not changed is not kept twice.
    deps.observed(
      syncKey(record.namespace, record.name),
      patch === undefined ? record.status : sharingMembers(status, record.status, patch),
    )
  }
}

/** `status`, with those members that the patch leaves as they were taken from the status before. */
function sharingMembers(status: GatewaySyncStatus, before: GatewaySyncStatus, patch: Readonly<Record<string, unknown>>): GatewaySyncStatus {
  const kept = Object.entries(before).filter(([member]) => Object.hasOwn(status, member) && !Object.hasOwn(patch, member))
  return { ...status, ...Object.fromEntries(kept) }
}

/** Reports an invalid spec in the conditions; the last valid desired state stays in force. */
async function reportInvalidSpec(
  deps: ReconcileDeps,
  record: GatewaySyncRecord,
  issues: readonly v.BaseIssue<unknown>[],
  signal: AbortSignal,
): Promise<PassResult> {
  const first = issues[0]
  const where = first === undefined ? 'spec' : `spec.${v.getDotPath(first) ?? ''}`
  const fault = new Fault('InvalidSpec', `${where}: ${first?.message ?? 'invalid'}`)
  const { generation } = record
  const conditions = summariseInvalid(fault, record.status.conditions ?? [], generation, timestamp(deps.clock.now()))
  const status = { ...record.status, observedGeneration: generation, conditions }
  await apply(deps, record, { status, events: [{ type: 'Warning', reason: fault.reason, note: fault.message }] }, signal)
  return { wakeAfterMs: undefined }
}
