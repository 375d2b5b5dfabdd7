/**
 * What is known of when a git host was asked last. An answer that says nothing new is written into the status once an hour at most
 * (gatewaysync/decide/worth-writing.ts), so its time is soon that of an answer long before the last. Pure.
 */
import { durationMs } from '../gatewaysync/schema/fields.ts'
import type { GatewaySyncSpec } from '../gatewaysync/schema/spec.ts'
import { ageOf, instantOf } from './age.ts'
import type { SyncFacts } from './facts.ts'
import type { SyncView } from './view.ts'

export type LastAsked =
  /** It was asked at `at`, and is asked again by itself at `next`, give or take a tenth of the interval. */
  | { kind: 'asked'; at: Temporal.Instant; next: Temporal.Instant }
  /** It is asked all the time, and the status was not written for that; the last time was within so many hours. */
  | { kind: 'within'; hours: number }
  /** It gave an answer at `at`. Later ones may not be written, and nothing tells that there are any. */
  | { kind: 'answered'; at: Temporal.Instant }

const hourMs = 3_600_000
/** A poll comes a tenth later at most, and then waits for its turn and for a slow host. */
const [pollSpread, slackMs] = [1.1, 600_000]

/**
 * How often the git host is asked by itself while all is well, in milliseconds. Undefined: it is not, or the status tells of failures, which
 * follow another rule, or of an earlier spec.
 */
export function askedEveryMs({ status, generation }: SyncFacts, spec: GatewaySyncSpec | undefined): number | undefined {
  const { conditions = [], observedGeneration } = status
  const isFailing = conditions.some((condition) => condition.type === 'SourceReady' && condition.status !== 'True')
  if (isFailing || observedGeneration !== generation || spec?.polling.enabled !== true) return undefined
  return durationMs(spec.polling.interval)
}

/** Undefined: no answer is known. */
export function lastAsked(
  { checkedAt, askedEveryMs: everyMs }: Pick<SyncView['wanted'], 'checkedAt' | 'askedEveryMs'>,
  now: Temporal.Instant,
): LastAsked | undefined {
  const at = instantOf(checkedAt)
  if (at === undefined) return undefined
  if (everyMs === undefined) return { kind: 'answered', at }
  const ageMs = now.epochMilliseconds - at.epochMilliseconds
  if (ageMs < everyMs) return { kind: 'asked', at, next: at.add({ milliseconds: Math.round(everyMs) }) }
  // The first answer after an hour is written. Where none was, nobody asks any more.
  if (ageMs < hourMs + everyMs * pollSpread + slackMs) return { kind: 'within', hours: Math.floor(ageMs / hourMs) + 1 }
  return { kind: 'answered', at }
}

/** `asked 44s ago`, `asked within the last hour`, `last known answer 5h ago`. */
export function lastAskedWords(last: LastAsked, now: Temporal.Instant): string {
  if (last.kind === 'within') return `asked within the last ${last.hours === 1 ? 'hour' : `${last.hours} hours`}`
  const age = ageOf(last.at.toString(), now) ?? ''
  return last.kind === 'asked' ? `asked ${age} ago` : `last known answer ${age} ago`
}
