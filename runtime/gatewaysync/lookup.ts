/**
 * Whether the git host must be asked now, and if not, when; and what still stands of the answer before. Pure.
 */
import { backoffMs } from '../clock.ts'
import { Fault, type Reason, reasons } from '../fault.ts'
import type { SourceObservation } from './decide.ts'
import { durationMs } from './fields.ts'
import { isSameRef, type Wanted } from './request.ts'
import type { GatewaySyncSpec } from './spec.ts'
import type { Condition, GatewaySyncStatus } from './status.ts'

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
  /** Failures in a row, 0 after a success. */
  failures: number
  fault: Fault | undefined
}

/** Waits after a failed question: from the first to the longest. */
const firstRetryMs = 5_000
const longestRetryMs = 300_000

export type Due =
  | { kind: 'now'; why: 'first' | 'changed' | 'request' | 'poll' | 'retry' }
  /** Nothing to ask before this many milliseconds have passed; undefined: not before something changes. */
  | { kind: 'later'; inMs: number | undefined }

type Facts = {
  spec: GatewaySyncSpec
  wanted: Wanted
  question: string
  last: LastLookup | undefined
  nowMs: number
  /** From 0 to 1: spreads the polls of many resources by ±10 %. */
  jitter: number
}

export function dueForLookup({ spec, wanted, question, last, nowMs, jitter }: Facts): Due {
  if (last === undefined) return { kind: 'now', why: 'first' }
  if (last.question !== question) return { kind: 'now', why: 'changed' }
  if (wanted.undecided && wanted.request?.id !== last.requestId) return { kind: 'now', why: 'request' }
  const pollMs = (durationMs(spec.polling.interval) ?? 60_000) * (0.9 + 0.2 * jitter)
  if (last.fault?.retry === 'backoff')
    return after(last.atMs, backoffMs(last.failures, firstRetryMs, longestRetryMs, jitter), nowMs, 'retry')
  return spec.polling.enabled ? after(last.atMs, pollMs, nowMs, 'poll') : { kind: 'later', inMs: undefined }
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
