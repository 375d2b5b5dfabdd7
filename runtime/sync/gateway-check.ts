/**
 * Requests the page that a rollout checks from the gateway, once it has read what was put in place.
 */
import { timestamp } from '../platform/clock.ts'
import { asFault } from '../platform/fault.ts'
import type { Gateway } from '../gateway/gateway.ts'
import { afterAnswer, type CheckAnswer, type StoredCheck } from '../api/check-record.ts'
import { reportLimits } from '../api/schema/report.ts'
import type { HttpCheck } from '../api/schema/spec.ts'
import { Temporal } from '../platform/temporal.ts'
import type { SyncTarget } from './model/desired.ts'
import type { CycleResult } from './outcome.ts'

/** Returns the record with one more response of the gateway. Throws only the reason of `signal`. */
export async function askCheck(
  gateway: Gateway | undefined,
  { commit, syncHash, check }: Pick<SyncTarget, 'commit' | 'syncHash'> & { check: HttpCheck },
  { known, nowMs }: { known: StoredCheck | undefined; nowMs: () => number },
  signal: AbortSignal,
): Promise<StoredCheck> {
  const about = [commit, syncHash, check.path, check.status].join(' ')
  const answer = await answerOf(gateway, check, signal)
  return { about, record: afterAnswer(known?.about === about ? known.record : undefined, answer, nowMs()) }
}

async function answerOf(gateway: Gateway | undefined, { path, status: expected }: HttpCheck, signal: AbortSignal): Promise<CheckAnswer> {
  if (gateway === undefined) return { kind: 'none', why: 'there is no gateway to check' }
  try {
    const status = await gateway.statusOf(path, signal)
    return status === expected ? { kind: 'right' } : { kind: 'wrong', why: `${path}: the gateway answered ${status}, not ${expected}` }
  } catch (error) {
    signal.throwIfAborted()
    return { kind: 'none', why: asFault(error).message }
  }
}

/** The check in the report; the time changes only with the state, so that nothing is written while nothing changes. */
export function reportedCheck({ record: { state, sinceMs, why } }: StoredCheck): NonNullable<CycleResult['healthCheck']> {
  const since = timestamp(Temporal.Instant.fromEpochMilliseconds(sinceMs))
  return { state, since, ...(state === 'Passed' || why === undefined ? {} : { message: why.slice(0, reportLimits.messageCharacters) }) }
}
