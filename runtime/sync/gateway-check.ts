/**
 * Asks the gateway for the page that a rollout checks, once it has read what was put in place.
 */
import { timestamp } from '../clock.ts'
import { asFault } from '../fault.ts'
import type { Gateway } from '../gateway/gateway.ts'
import { afterAnswer, type CheckAnswer, type RememberedCheck } from '../gatewaysync/check-record.ts'
import type { HttpCheck } from '../gatewaysync/schema/spec.ts'
import type { Wanted } from './model/wanted.ts'
import type { CycleResult } from './outcome.ts'

/** Bound of the SyncReport's schema. */
const messageCharacters = 1024

/** The record with one more answer of the gateway. Throws only the reason of `signal`. */
export async function askCheck(
  gateway: Gateway | undefined,
  { commit, syncHash, check }: Pick<Wanted, 'commit' | 'syncHash'> & { check: HttpCheck },
  { known, nowMs }: { known: RememberedCheck | undefined; nowMs: () => number },
  signal: AbortSignal,
): Promise<RememberedCheck> {
  const about = [commit, syncHash, check.path, check.status].join(' ')
  const answer = await answerOf(gateway, check, signal)
  return { about, record: afterAnswer(known?.about === about ? known.record : undefined, answer, nowMs()) }
}

async function answerOf(gateway: Gateway | undefined, { path, status: wanted }: HttpCheck, signal: AbortSignal): Promise<CheckAnswer> {
  if (gateway === undefined) return { kind: 'none', why: 'there is no gateway to ask' }
  try {
    const status = await gateway.statusOf(path, signal)
    return status === wanted ? { kind: 'right' } : { kind: 'wrong', why: `${path}: the gateway answered ${status}, not ${wanted}` }
  } catch (error) {
    signal.throwIfAborted()
    return { kind: 'none', why: asFault(error).message }
  }
}

/** What the report says of it; the time moves only when the state does, so that nothing is written while nothing changes. */
export function toldCheck({ record: { state, sinceMs, why } }: RememberedCheck): NonNullable<CycleResult['check']> {
  const since = timestamp(Temporal.Instant.fromEpochMilliseconds(sinceMs))
  return { state, since, ...(state === 'Passed' || why === undefined ? {} : { message: why.slice(0, messageCharacters) }) }
}
