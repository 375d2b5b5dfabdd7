/**
 * Whether the git host must be asked now, and if not, when; and what still stands of the answer before. Pure.
 */
import { backoffMs } from '../../clock.ts'
import { Fault, type Reason, reasons } from '../../fault.ts'
import type { SourceObservation } from './decide.ts'
import { durationMs } from '../schema/fields.ts'
import { isSameRef, type Wanted } from './request.ts'
import type { GatewaySyncSpec } from '../schema/spec.ts'
import type { Condition, GatewaySyncStatus } from '../schema/status.ts'
import type { CommitHash } from '../values.ts'

/** What is remembered of the last question to the git host; lost with the process, which then asks anew. */
export type LastLookup = {
  /** What of the spec the answer depends on, besides the ref. */
  subject: string
  /** Which question it was: repository, ref, credentials and checks; another question is always due. */
  question: string
  /** Which ref it was about. */
  ref: string
  /** The undecided request that it was asked for, if any: another one is always due. */
  requestId: string | undefined
  /** Monotonic time of the answer. */
  atMs: number
  /** The last commit that the host told of. */
  commit: CommitHash | undefined
  /** What the host said at last: a commit or the reason of a fault; undefined where it was not asked. */
  told: string | undefined
  /** Failures in a row, 0 after a success. */
  failures: number
  fault: Fault | undefined
}

/** What the git host said last about the same ref of the same repository with the same credentials, whoever asked. */
export type SharedLookup = Pick<LastLookup, 'atMs' | 'told' | 'failures' | 'fault'>

/** Waits after a failed question: from the first to the longest. Where somebody waits for a first answer, the first is short. */
const firstRetryMs = 30_000
const awaitedRetryMs = 5_000
const longestRetryMs = 300_000

/** Whether an answer says what its hearer does not know. */
export function isNews(answer: SharedLookup, { told }: LastLookup): boolean {
  return told !== undefined && told !== answer.told
}

export type Due =
  | { kind: 'now'; why: 'first' | 'changed' | 'request' | 'news' | 'poll' | 'retry' }
  /** Nothing to ask before this many milliseconds have passed; undefined: not before something changes. */
  | { kind: 'later'; inMs: number | undefined }

type Facts = {
  spec: GatewaySyncSpec
  wanted: Wanted
  question: string
  last: LastLookup | undefined
  shared: SharedLookup | undefined
  nowMs: number
  /** From 0 to 1: spreads the polls of many resources by ±10 %. */
  jitter: number
}

export function dueForLookup({ spec, wanted, question, last, shared, nowMs, jitter }: Facts): Due {
  if (last === undefined) return { kind: 'now', why: 'first' }
  if (last.question !== question) return { kind: 'now', why: 'changed' }
  if (wanted.undecided && wanted.request?.id !== last.requestId) return { kind: 'now', why: 'request' }
  const newer = shared !== undefined && shared.atMs > last.atMs ? shared : undefined
  if (newer !== undefined && isNews(newer, last)) return { kind: 'now', why: 'news' }
  const { atMs, failures, fault } = newer ?? last
  if (fault?.retry === 'backoff') {
    const firstMs = wanted.undecided || last.commit === undefined ? awaitedRetryMs : firstRetryMs
    return after(atMs, backoffMs(failures, firstMs, longestRetryMs, jitter), nowMs, 'retry')
  }
  const pollMs = (durationMs(spec.polling.interval) ?? 60_000) * (0.9 + 0.2 * jitter)
  return spec.polling.enabled ? after(atMs, pollMs, nowMs, 'poll') : { kind: 'later', inMs: undefined }
}

function after(sinceMs: number, waitMs: number, nowMs: number, why: 'poll' | 'retry'): Due {
  const leftMs = sinceMs + waitMs - nowMs
  return leftMs <= 0 ? { kind: 'now', why } : { kind: 'later', inMs: leftMs }
}

type Standing = {
  generation: number
  status: GatewaySyncStatus
  wanted: Wanted
  /** What of the present spec an answer depends on, besides the ref. */
  subject: string
  last: LastLookup | undefined
}

/** What a pass without an answer may say: the status as it stands, or, after a change of the spec, that nobody has asked about it yet. */
export function standingSource({ generation, status, wanted, subject, last }: Standing): SourceObservation {
  if (!wanted.undecided && status.source?.ref !== wanted.ref) return { kind: 'pending' }
  if (last !== undefined) {
    if (last.subject !== subject) return { kind: 'pending' }
    // What a request for another ref met is told in its outcome, and what was wanted before it stays.
    const isRefusal = last.requestId !== undefined && last.fault?.retry === 'on-change' && !isSameRef(last.ref, wanted.ref)
    return { kind: 'unasked', standing: isRefusal ? undefined : last.fault }
  }
  // This process has not asked yet, so only the status can tell what its predecessor met, and for which spec.
  const told = status.conditions?.find(({ type }) => type === 'SourceReady')
  if (status.observedGeneration !== generation || told?.status === 'Unknown') return { kind: 'pending' }
  return { kind: 'unasked', standing: faultOf(told) }
}

function faultOf(told: Condition | undefined): Fault | undefined {
  if (told?.status !== 'False' || !Object.hasOwn(reasons, told.reason)) return undefined
  return new Fault(told.reason as Reason, told.message)
}
