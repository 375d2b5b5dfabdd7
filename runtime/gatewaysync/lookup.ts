/**
 * Whether the git host must be asked now, and if not, when. Pure.
 */
import type { Wanted } from './request.ts'
import { durationMs } from './fields.ts'
import type { GatewaySyncSpec } from './spec.ts'
import type { Fault } from '../fault.ts'
import { backoffMs } from '../clock.ts'

/** What is remembered of the last question to the git host; lost with the process, which then asks anew. */
export type LastLookup = {
  /** Which question it was: repository, ref, credentials and checks; another question is always due. */
  question: string
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
