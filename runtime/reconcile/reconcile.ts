/**
 * One pass over one GatewaySync: observe, decide, apply. It never waits for a git host; questions run apart and their answers cause
 * the next pass.
 */
import * as v from 'valibot'
import { type Clock, timestamp } from '../clock.ts'
import { Fault } from '../fault.ts'
import { isRefAllowed } from '../gatewaysync/decide/allowed-refs.ts'
import { decide, type Decision, type EventToRecord, type Signers, type Verdict } from '../gatewaysync/decide/decide.ts'
import { dueForLookup, standingSource } from '../gatewaysync/decide/lookup.ts'
import { canonicalJson } from '../gatewaysync/canonical-json.ts'
import { type Wanted, wantedRef } from '../gatewaysync/decide/request.ts'
import { gatewaySyncSpec, type GatewaySyncSpec } from '../gatewaysync/schema/spec.ts'
import type { GatewaySyncStatus } from '../gatewaysync/schema/status.ts'
import { summariseInvalid } from '../gatewaysync/decide/summary.ts'
import { type CommitHash, parseRefName } from '../gatewaysync/values.ts'
import { mergePatchBetween } from '../kube/merge-patch.ts'
import type { Log } from '../log.ts'
import type { Answer, Lookups, Question } from './lookups.ts'
import type { PassResult } from './queue.ts'
import type { ResolvedCommit } from './resolved-commit.ts'
import { type GatewaySyncRecord, type Store, syncKey, type SyncKey } from './store.ts'
import { readRepository } from '../source/remote.ts'

/** Whether a commit is signed as its spec asks; `why` names commit or tag. */
export type SignatureVerdict = { kind: 'notAsked' } | ({ kind: 'verified' } & Signers) | { kind: 'refused'; why: string }

export type ReconcileDeps = {
  store: Store
  lookups: Lookups
  clock: Clock
  log: Log
  /** Accept a path or a `file:` URL as the repository: only on one machine. */
  allowLocal: boolean
  /**
   * Resolves the wanted ref at the git host and makes sure that the mirror holds its commit; `fresh` forbids the answer to a question
   * that began before. Its answer is shared: what is judged for one GatewaySync alone belongs to `check`.
   */
  resolve(record: GatewaySyncRecord, spec: GatewaySyncSpec, wanted: Wanted, fresh: boolean, signal: AbortSignal): Promise<ResolvedCommit>
  /** Makes sure that the mirror of this GatewaySync holds a commit that another one of the same repository was told of. */
  adopt(record: GatewaySyncRecord, spec: GatewaySyncSpec, commit: CommitHash, signal: AbortSignal): Promise<void>
  /** Checks the signatures that `spec.git.verify` asks for. */
  verify(record: GatewaySyncRecord, spec: GatewaySyncSpec, resolved: ResolvedCommit, signal: AbortSignal): Promise<SignatureVerdict>
  /** How often the Secrets that the GatewaySync names for its source have changed: an answer is about one version of them. */
  secretChanges(key: SyncKey): number
  /** Runs the collection checks on a commit of the mirror. */
  check(record: GatewaySyncRecord, spec: GatewaySyncSpec, commit: CommitHash, signal: AbortSignal): Promise<Verdict>
  delivery(): GatewaySyncStatus['delivery']
  /** Writes the new status; `patch` is the merge patch that leads to it. Returns the object as it is then. */
  writeStatus(
    record: GatewaySyncRecord,
    status: GatewaySyncStatus,
    patch: Record<string, unknown>,
    signal: AbortSignal,
  ): Promise<GatewaySyncRecord>
  recordEvents(record: GatewaySyncRecord, events: readonly EventToRecord[]): void
  /** Shows the pass in the metrics; undefined status: the object is gone and so are its series. */
  observed(key: SyncKey, status: GatewaySyncStatus | undefined): void
  gone(record: { namespace: string; name: string }): void
}

/** A pure refresh of `checkedAt` is not worth a write, which wakes every agent, more often than this. The metric tells of each look. */
const refreshCheckedAtMs = 3_600_000

const clusterSpec = gatewaySyncSpec({ allowLocal: false })
const localSpec = gatewaySyncSpec({ allowLocal: true })

export async function reconcile(deps: ReconcileDeps, key: SyncKey, signal: AbortSignal): Promise<PassResult> {
  const { store, lookups, clock } = deps
  const [namespace = '', name = ''] = key.split('/')
  const record = store.sync(namespace, name)
  if (record === undefined) {
    lookups.forget(key)
    deps.observed(key, undefined)
    deps.gone({ namespace, name })
    return { wakeAfterMs: undefined }
  }
  const parsed = v.safeParse(deps.allowLocal ? localSpec : clusterSpec, record.spec)
  if (!parsed.success) return await reportInvalidSpec(deps, key, record, parsed.issues, signal)
  const spec = parsed.output

  const answer = lookups.answer(key)
  const { generation, annotations, status } = record
  const wanted = wantedRef(parseRefName(spec.git.ref), annotations, status)
  const subject = subjectOf(deps, record, spec)
  const matters = answer !== undefined && isStillAsked(answer, subject, wanted)
  const decision = decide({
    generation,
    spec,
    annotations,
    status,
    wanted: matters ? answer.wanted : wanted,
    source: matters ? answer.source : standingSource({ generation, status, wanted, subject, last: lookups.last(key) }),
    pods: store.podsOf(namespace, name),
    reports: store.reportsIn(namespace),
    delivery: deps.delivery(),
    now: clock.now(),
  })
  const current = await apply(deps, key, record, decision, signal)
  // Only now: a status that the API server did not take is decided again.
  if (answer !== undefined) lookups.done(key, answer)
  return ask(deps, key, current, spec)
}

/** What of a spec an answer of the git host and of the checks depends on, besides the ref. */
function subjectOf(
  { secretChanges }: ReconcileDeps,
  { namespace, name, uid }: GatewaySyncRecord,
  { git: { ref: _ref, ...git }, validation, sync }: GatewaySyncSpec,
): string {
  const secrets = secretChanges(syncKey(namespace, name))
  return canonicalJson({ uid, git, secrets, validation, profiles: sync.profiles, excludes: sync.defaults.excludePatterns })
}

/** The spec may have changed since the question. A request that came meanwhile does not count: a stream of them would undo every answer. */
function isStillAsked(answer: Answer, subject: string, wanted: Wanted): boolean {
  return answer.subject === subject && (wanted.undecided || answer.wanted.ref === wanted.ref)
}

/** Starts a question to the git host when one is due, and says when the next one will be. */
function ask(deps: ReconcileDeps, key: SyncKey, record: GatewaySyncRecord, spec: GatewaySyncSpec): PassResult {
  const { lookups, clock } = deps
  const wanted = wantedRef(parseRefName(spec.git.ref), record.annotations, record.status)
  const subject = subjectOf(deps, record, spec)
  const text = `${wanted.ref} ${subject}`
  const place = placeOf(record.namespace, spec, wanted.ref)
  const [last, shared] = [lookups.last(key), lookups.shared(key, place)]
  const due = dueForLookup({ spec, wanted, question: text, last, shared, nowMs: clock.monotonicMs(), jitter: clock.random() })
  if (due.kind === 'later') return { wakeAfterMs: due.inMs === undefined ? undefined : Math.max(due.inMs, 10) }
  if (!lookups.isAsking(key, { text, wanted })) {
    const host = readRepository(spec.git.repo, { allowLocal: true })?.host ?? ''
    const fresh = due.why === 'first' || due.why === 'changed' || due.why === 'request'
    lookups.ask(key, { subject, host, text, wanted, place, why: due.why, ask: question(deps, record, spec, wanted, fresh) })
  }
  return { wakeAfterMs: undefined }
}

/**
 * What the answer of a git host depends on. Only those who name no Secret share answers between namespaces; who asks for signatures
 * shares with nobody who asks for others.
 */
function placeOf(namespace: string, { git: { repo, auth, caBundle, proxy, verify } }: GatewaySyncSpec, ref: string): string {
  const secrets = { auth, caBundle, proxy, verify }
  const needsSecret = Object.values(secrets).some((member) => member !== undefined)
  return canonicalJson({ repo, ref, ...(needsSecret ? { namespace, ...secrets } : {}) })
}

function question(deps: ReconcileDeps, record: GatewaySyncRecord, spec: GatewaySyncSpec, wanted: Wanted, fresh: boolean): Question['ask'] {
  return async (share, signal) => {
    const startedMs = deps.clock.monotonicMs()
    if (wanted.request !== undefined && wanted.ref !== spec.git.ref && !isRefAllowed(wanted.ref, spec.git.allowedRefs)) {
      throw new Fault('RefNotAllowed', `spec.git.allowedRefs does not permit "${wanted.ref}"`)
    }
    const resolved = await share(() => deps.resolve(record, spec, wanted, fresh, signal))
    await deps.adopt(record, spec, resolved.commit, signal)
    const { commit, committedAt, fetchedAt, hasTagToo = false } = resolved
    const found = { commit, committedAt, fetchedAt, hasTagToo }
    const answer = () => ({ ...found, durationMs: deps.clock.monotonicMs() - startedMs })
    const { kind, ...signatures } = await deps.verify(record, spec, resolved, signal)
    if ('why' in signatures) return { kind: 'unverified', ...answer(), fault: new Fault('NotVerified', signatures.why) }
    const verdict = await deps.check(record, spec, commit, signal)
    return { kind: 'resolved', ...answer(), verified: kind === 'verified' ? signatures : undefined, verdict }
  }
}

async function apply(
  deps: ReconcileDeps,
  key: SyncKey,
  record: GatewaySyncRecord,
  { status, events }: Decision,
  signal: AbortSignal,
): Promise<GatewaySyncRecord> {
  const patch = mergePatchBetween(record.status, status)
  try {
    if (patch === undefined || isOnlyRefresh(patch, record.status, deps.clock.now())) return record
    const current = await deps.writeStatus(record, status, patch, signal)
    deps.store.updateSync(current)
    deps.recordEvents(record, events)
    return current
  } finally {
    // The metrics tell what is true, whether or not the API server took it.
    deps.observed(key, status)
  }
}

function isOnlyRefresh(patch: Record<string, unknown>, before: GatewaySyncStatus, now: Temporal.Instant): boolean {
  const { source, ...others } = patch
  if (Object.keys(others).length > 0 || typeof source !== 'object' || source === null) return false
  if (Object.keys(source).some((member) => member !== 'checkedAt' && member !== 'fetchedAt')) return false
  const checkedAt = before.source?.checkedAt
  return checkedAt !== undefined && now.since(checkedAt).total('milliseconds') < refreshCheckedAtMs
}

/** The last valid desired state stays in force; only the conditions tell. */
async function reportInvalidSpec(
  deps: ReconcileDeps,
  key: SyncKey,
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
  await apply(deps, key, record, { status, events: [{ type: 'Warning', reason: fault.reason, note: fault.message }] }, signal)
  return { wakeAfterMs: undefined }
}
