/**
 * Whether the git host must be asked now and, if not, when; and what of the previous answer still holds. Pure.
 */
import { backoffMs } from '../../clock.ts'
import { Fault, type Reason, reasons } from '../../fault.ts'
import type { SourceObservation } from './observation.ts'
import { durationMs } from '../schema/fields.ts'
import { isSameRef, type WantedRef } from './request.ts'
import type { GatewaySyncSpec } from '../schema/spec.ts'
import type { Condition, GatewaySyncStatus } from '../schema/status.ts'
import type { CommitHash } from '../values.ts'

/** What is remembered of the last lookup at the git host; a new process has none and looks up again. */
export type LastLookup = {
  /** The parts of the spec, besides the ref, on which the result depends. */
  specKey: string
  /** Ref and `specKey`: a lookup with another key is always due. */
  lookupKey: string
  /** The ref that was looked up. */
  ref: string
  /** The undecided request that caused it, if any: a lookup for another request is always due. */
  requestId: string | undefined
  /** Monotonic time of the answer. */
  atMs: number
  /** The last commit that a lookup found. */
  commit: CommitHash | undefined
  /** The host's last answer: a commit, or the reason of a fault; undefined when it was not asked. */
  hostAnswer: string | undefined
  /** Failures in a row, 0 after a success; while somebody waits for a request or for the first commit, those since that wait began. */
  failures: number
  /** How many of the shared failures in a row came before that wait, and so do not count for it; 0 while nobody waits. */
  earlierFailures: number
  fault: Fault | undefined
}

/** The git host's latest answer about the same ref, repository and credentials, for whichever GatewaySync it was asked. */
export type SharedLookup = Pick<LastLookup, 'atMs' | 'hostAnswer' | 'failures' | 'fault'>

/** Waits after failed lookups, from the first to the longest; the first is short when somebody is waiting for a first answer. */
const firstRetryMs = 30_000
const awaitedRetryMs = 5_000
const longestRetryMs = 300_000

/** Whether a shared lookup has another answer than this GatewaySync got last. */
export function isNews(answer: SharedLookup, { hostAnswer }: LastLookup): boolean {
  return hostAnswer !== undefined && hostAnswer !== answer.hostAnswer
}

/** `why`: no lookup yet, the spec changed, a new request, another answer was shared (no question to the host), polling, a retry. */
export type Due =
  | { kind: 'now'; why: 'first' | 'changed' | 'request' | 'news' | 'poll' | 'retry' }
  /** Not due for this many milliseconds; undefined: not until something changes. */
  | { kind: 'later'; inMs: number | undefined }

type DueFacts = {
  spec: GatewaySyncSpec
  wanted: WantedRef
  lookupKey: string
  last: LastLookup | undefined
  shared: SharedLookup | undefined
  nowMs: number
  /** From 0 to 1: spreads the polls of many resources by ±10 %. */
  jitter: number
}

/** Decides whether the git host must be asked now, and why, or when at the earliest. */
export function dueForLookup({ spec, wanted, lookupKey, last, shared, nowMs, jitter }: DueFacts): Due {
  if (last === undefined) return { kind: 'now', why: 'first' }
  if (last.lookupKey !== lookupKey) return { kind: 'now', why: 'changed' }
  if (wanted.undecided && wanted.request?.id !== last.requestId) return { kind: 'now', why: 'request' }
  // Without polling only its own triggers move a GatewaySync: what others were told counts only while it waits for an answer itself.
  const listens = spec.polling.enabled || last.fault?.retry === 'backoff'
  const newer = listens && shared !== undefined && shared.atMs > last.atMs ? shared : undefined
  if (newer !== undefined && isNews(newer, last)) return { kind: 'now', why: 'news' }
  const { atMs, fault } = newer ?? last
  if (fault?.retry === 'backoff') {
    const firstMs = wanted.undecided || last.commit === undefined ? awaitedRetryMs : firstRetryMs
    const failures = newer === undefined ? last.failures : newer.failures - last.earlierFailures
    return after(atMs, backoffMs(failures, firstMs, longestRetryMs, jitter), nowMs, 'retry')
  }
  const pollMs = (durationMs(spec.polling.interval) ?? 60_000) * (0.9 + 0.2 * jitter)
  return spec.polling.enabled ? after(atMs, pollMs, nowMs, 'poll') : { kind: 'later', inMs: undefined }
}

function after(sinceMs: number, waitMs: number, nowMs: number, why: 'poll' | 'retry'): Due {
  const leftMs = sinceMs + waitMs - nowMs
  return leftMs <= 0 ? { kind: 'now', why } : { kind: 'later', inMs: leftMs }
}

type SourceFacts = {
  generation: number
  status: GatewaySyncStatus
  wanted: WantedRef
  /** Of the present spec. */
  specKey: string
  last: LastLookup | undefined
}

/** Source observation for a pass without a lookup result: the stored status, or `pending` when the spec changed since the last lookup. */
export function rememberedSource({ generation, status, wanted, specKey, last }: SourceFacts): SourceObservation {
  if (!wanted.undecided && status.source?.ref !== wanted.ref) return { kind: 'pending' }
  if (last !== undefined) {
    if (last.specKey !== specKey) return { kind: 'pending' }
    // The fault of a refused request for another ref is in its outcome; what was wanted before it stays.
    const isRefusal = last.requestId !== undefined && last.fault?.retry === 'on-change' && !isSameRef(last.ref, wanted.ref)
    return { kind: 'unasked', lastFault: isRefusal ? undefined : last.fault }
  }
  // This process has not asked yet: only the status says what its predecessor found, and for which spec.
  const condition = status.conditions?.find(({ type }) => type === 'SourceReady')
  if (status.observedGeneration !== generation || condition?.status === 'Unknown') return { kind: 'pending' }
  return { kind: 'unasked', lastFault: faultOf(condition) }
}

function faultOf(condition: Condition | undefined): Fault | undefined {
  if (condition?.status !== 'False' || !Object.hasOwn(reasons, condition.reason)) return undefined
  return new Fault(condition.reason as Reason, condition.message)
}
