/**
 * Determines when the git host was last polled. The status records an unchanged answer at most once an hour (reconcile/decide/columns.ts), so
 * the recorded time is often older than the last poll. Pure.
 */
import { durationMs } from '../api/schema/fields.ts'
import type { GatewaySyncSpec } from '../api/schema/spec.ts'
import type { Temporal } from '../platform/temporal.ts'
import { ageOf, instantOf } from './age.ts'
import type { SyncFacts } from './facts.ts'
import type { SyncView } from './view.ts'

export type LastChecked =
  /** Polled at `at`; the next poll is due at `next`, plus or minus a tenth of the interval. */
  | { kind: 'checked'; at: Temporal.Instant; next: Temporal.Instant }
  /** Polled regularly without a status update; the last poll was within this number of hours. */
  | { kind: 'within'; hours: number }
  /** The last recorded answer is from `at`. There may be later ones that are not recorded. */
  | { kind: 'answered'; at: Temporal.Instant }

const hourMs = 3_600_000
/** A poll is up to a tenth of the interval late, and then waits for a slot and for a slow host. */
const [pollSpread, slackMs] = [1.1, 600_000]

/**
 * The polling interval while all is well. Undefined if polling is off, or if the status shows failures (which follow a backoff) or
 * belongs to an earlier spec.
 */
export function pollingInterval({ status, generation }: SyncFacts, spec: GatewaySyncSpec | undefined): string | undefined {
  const { conditions = [], observedGeneration } = status
  const isFailing = conditions.some((condition) => condition.type === 'SourceReady' && condition.status !== 'True')
  if (isFailing || observedGeneration !== generation || spec?.polling.enabled !== true) return undefined
  return spec.polling.interval
}

/** Returns when the git host last answered; undefined if no answer is known. */
export function lastChecked(
  { checkedAt, pollingInterval: interval }: Pick<SyncView['desired'], 'checkedAt' | 'pollingInterval'>,
  now: Temporal.Instant,
): LastChecked | undefined {
  const at = instantOf(checkedAt)
  if (at === undefined) return undefined
  const everyMs = interval === undefined ? undefined : durationMs(interval)
  if (everyMs === undefined) return { kind: 'answered', at }
  const ageMs = now.epochMilliseconds - at.epochMilliseconds
  if (ageMs < everyMs) return { kind: 'checked', at, next: at.add({ milliseconds: Math.round(everyMs) }) }
  // The first answer after an hour is recorded. If it is missing, polling has stopped.
  if (ageMs < hourMs + everyMs * pollSpread + slackMs) return { kind: 'within', hours: Math.floor(ageMs / hourMs) + 1 }
  return { kind: 'answered', at }
}

/** Returns `checked 44s ago`, `checked within the last hour` or `last known response 5h ago`. */
export function lastCheckedText(last: LastChecked, now: Temporal.Instant): string {
  if (last.kind === 'within') return `checked within the last ${last.hours === 1 ? 'hour' : `${last.hours} hours`}`
  const age = ageOf(last.at.toString(), now) ?? ''
  return last.kind === 'checked' ? `checked ${age} ago` : `last known response ${age} ago`
}
