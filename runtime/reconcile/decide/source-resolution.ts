/**
 * Decides whether the source must be resolved now and, if not, when; and which parts of the previous answer remain valid. Pure.
 */
import { backoffMs } from '../../platform/clock.ts'
import { Fault, type Reason, reasons } from '../../platform/fault.ts'
import type { SourceObservation } from './observation.ts'
import { durationMs } from '../../api/schema/fields.ts'
import { isSameRef, type DesiredRef } from './request.ts'
import type { GatewaySyncSpec } from '../../api/schema/spec.ts'
import type { Condition, GatewaySyncStatus } from '../../api/schema/status.ts'
import type { CommitHash } from '../../api/values.ts'

/** The last source resolution; a new process has none and resolves again. */
export type LastResolution = {
  /** Digest of the parts of the spec, besides the ref, on which the result depends. */
  specKey: string
  /** Ref and `specKey`: a resolution with another key is always due. */
  resolutionKey: string
  /** The ref that was resolved. */
  ref: string
  /** The open request that caused it, if any: a resolution for another request is always due. */
  requestId: string | undefined
  /** Monotonic time of the answer. */
  atMs: number
  /** The last commit that a resolution found. */
  commit: CommitHash | undefined
  /** The host's last answer: a commit, or the reason of a fault; undefined if the host was not queried. */
  hostAnswer: string | undefined
  /** Consecutive failures, 0 after a success; while a request or the first commit is awaited, those since that wait began. */
  failures: number
  /** How many of the shared consecutive failures came before that wait and do not count for it; 0 without a wait. */
  earlierFailures: number
  fault: Fault | undefined
}

/** The git host's latest answer for the same ref, repository and credentials, for any GatewaySync. */
export type SharedResolution = Pick<LastResolution, 'atMs' | 'hostAnswer' | 'failures' | 'fault'>

/** Retry delays after failed resolutions, from the first to the longest; the first is short while a first answer is awaited. */
const firstRetryMs = 30_000
const awaitedRetryMs = 5_000
const longestRetryMs = 300_000

/** Whether a shared answer differs from the last one of this GatewaySync. */
export function isNewAnswer(answer: SharedResolution, { hostAnswer }: LastResolution): boolean {
  return hostAnswer !== undefined && hostAnswer !== answer.hostAnswer
}

/** `why`: no resolution yet, spec changed, new request, another answer was shared (no query to the host), polling, retry. */
export type Due =
  | { kind: 'now'; why: 'first' | 'changed' | 'request' | 'shared' | 'poll' | 'retry' }
  /** Not due for this many milliseconds; undefined: not until something changes. */
  | { kind: 'later'; inMs: number | undefined }

type DueFacts = {
  spec: GatewaySyncSpec
  desired: DesiredRef
  /** How long the request has been pending; undefined: it is not. */
  pendingMs?: number | undefined
  resolutionKey: string
  last: LastResolution | undefined
  shared: SharedResolution | undefined
  nowMs: number
  /** From 0 to 1: spreads the polls of many resources by ±10 %. */
  jitter: number
}

/** Decides whether to resolve the source now, and why, or when at the earliest. */
export function dueForResolution({ spec, desired, pendingMs, resolutionKey, last, shared, nowMs, jitter }: DueFacts): Due {
  if (last === undefined) return { kind: 'now', why: 'first' }
  if (last.resolutionKey !== resolutionKey) return { kind: 'now', why: 'changed' }
  if (desired.undecided && desired.request?.id !== last.requestId) return { kind: 'now', why: 'request' }
  if (desired.undecided && pendingMs !== undefined) return after(last.atMs, retryPendingMs(pendingMs), nowMs, 'retry')
  const intervalMs = intervalOf(spec)
  // Without polling, answers shared by other GatewaySyncs count only while this one waits for an answer itself.
  const listens = spec.polling.enabled || last.fault?.retry === 'backoff'
  const newer = listens && shared !== undefined && shared.atMs > last.atMs ? shared : undefined
  if (newer !== undefined && isNewAnswer(newer, last)) return { kind: 'now', why: 'shared' }
  const { atMs, fault } = newer ?? last
  if (fault?.retry === 'backoff') {
    const firstMs = desired.undecided || last.commit === undefined ? awaitedRetryMs : firstRetryMs
    const failures = newer === undefined ? last.failures : newer.failures - last.earlierFailures
    const pauseMs = Math.min((fault.retryAfterMs ?? 0) * (1 + 0.1 * jitter), Math.max(intervalMs, longestRetryMs))
    return after(atMs, Math.max(pauseMs, backoffMs(failures, firstMs, longestRetryMs, jitter)), nowMs, 'retry')
  }
  const pollMs = intervalMs * (0.9 + 0.2 * jitter)
  return spec.polling.enabled ? after(atMs, pollMs, nowMs, 'poll') : { kind: 'later', inMs: undefined }
}

function intervalOf({ polling }: Pick<GatewaySyncSpec, 'polling'>): number {
  return durationMs(polling.interval) ?? 60_000
}

/** The longest time between two polls, with the most jitter. */
export function longestPollMs(spec: Pick<GatewaySyncSpec, 'polling'>): number {
  return intervalOf(spec) * 1.1
}

/** Each delay is half of all delays before it, from 1 s to 15 s. */
function retryPendingMs(pendingMs: number): number {
  return Math.min(15_000, Math.max(1_000, pendingMs / 2))
}

function after(sinceMs: number, waitMs: number, nowMs: number, why: 'poll' | 'retry'): Due {
  const leftMs = sinceMs + waitMs - nowMs
  return leftMs <= 0 ? { kind: 'now', why } : { kind: 'later', inMs: leftMs }
}

type SourceFacts = {
  generation: number
  status: GatewaySyncStatus
  desired: DesiredRef
  /** For the present spec. */
  specKey: string
  last: LastResolution | undefined
}

/**
 * Returns the source observation for a reconcile without a resolution result: the stored status, or `pending` when the spec changed since
 * the last resolution.
 */
export function storedSource({ generation, status, desired, specKey, last }: SourceFacts): SourceObservation {
  if (!desired.undecided && status.source?.ref !== desired.ref) return { kind: 'pending' }
  if (last !== undefined) {
    if (last.specKey !== specKey) return { kind: 'pending' }
    // The fault of a refused request for another ref is in its outcome; the previous source stays.
    const isRefusal = last.requestId !== undefined && last.fault?.retry === 'on-change' && !isSameRef(last.ref, desired.ref)
    return { kind: 'unchanged', lastFault: isRefusal ? undefined : last.fault }
  }
  // This process has not resolved yet: only the status has the predecessor's result and its generation.
  const condition = status.conditions?.find(({ type }) => type === 'SourceReady')
  if (status.observedGeneration !== generation || condition?.status === 'Unknown') return { kind: 'pending' }
  return { kind: 'unchanged', lastFault: faultOf(condition) }
}

function faultOf(condition: Condition | undefined): Fault | undefined {
  if (condition?.status !== 'False' || !Object.hasOwn(reasons, condition.reason)) return undefined
  return new Fault(condition.reason as Reason, condition.message)
}

/** A commit that is in the mirror. Times are RFC 3339. */
export type ResolvedCommit = {
  commit: CommitHash
  /** Undefined if the commit claims an impossible time. Throws RefNotFound for an object that is not a commit, and the faults of git. */
  committedAt: Promise<string | undefined>
  fetchedAt: string
  /** The full ref name, or the hash. */
  name: string
  /** The annotated tag that the ref points at. */
  tag: CommitHash | undefined
  /** The key that signed the artifact, if `spec.oci.verify` is set. */
  signer?: { key: string; by: string }
}
