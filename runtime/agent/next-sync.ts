/**
 * Decides when the next sync is due after a cycle, and what to poll the gateway for until then.
 */
import { durationMs } from '../api/schema/fields.ts'
import { backoffMs } from '../platform/clock.ts'
import type { Gateway } from '../gateway/gateway.ts'
import type { CycleResult, SyncTarget } from '../sync/cycle.ts'
import type { Desired } from './desired.ts'
import type { StartupHold } from './health.ts'
import type { Wake } from './wake.ts'

type Mode = SyncTarget['facts']['mode']
/** Whether the state that the next sync waits for has been reached. */
export type IsReached = (signal: AbortSignal) => Promise<boolean>

/** Backoff after a failed cycle; the maximum is shorter while the failure holds the gateway's start. */
const firstRetryMs = 1_000
const longestRetryMs = { held: 10_000, usual: 60_000 }
/** Wait for a gateway that is starting, being commissioned, or has a Designer open. */
export const waitingMs = 5_000

/**
 * Returns what to poll the gateway for until the next sync is due: whether it runs by now, or reports another mode than `mode`, which this
 * sync used; undefined: nothing.
 */
export function awaitedOf(
  { phase, reason }: CycleResult,
  desired: Extract<Desired, { kind: 'sync' }>,
  { gateway, mode, modeOf }: { gateway: Gateway; mode: Mode; modeOf(gateway: Gateway, signal: AbortSignal): Promise<Mode> },
): IsReached | undefined {
  const checks: IsReached[] = []
  if (phase === 'Pending' && (reason === 'GatewayNotReady' || reason === 'GatewayUnreachable'))
    checks.push(async (signal) => (await gateway.status(signal)) === 'running')
  if (lacksMode(desired, mode))
    checks.push(async (signal) => {
      const present = await modeOf(gateway, signal)
      return present?.name !== mode?.name || present?.from === 'Gateway'
    })
  if (checks.length === 0) return undefined
  return async (signal) => {
    for (const isReached of checks) if (await isReached(signal)) return true
    return false
  }
}

/** Whether the awaited state has been reached or the loop was woken meanwhile: a gateway may take a long time to respond. */
export async function isReachedOrWoken(wake: Wake, isReached: IsReached, signal: AbortSignal): Promise<boolean> {
  const poll = new AbortController()
  const either = AbortSignal.any([signal, poll.signal])
  const end = (): void => poll.abort(new Error('answered'))
  const answer = isReached(either)
    .catch(() => false)
    .finally(end)
  const called = await wake.wait(undefined, either)
  end()
  return called || (await answer)
}

/** Whether the profile follows the gateway's mode and the gateway has not reported it yet. */
function lacksMode({ profile }: Extract<Desired, { kind: 'sync' }>, mode: Mode): boolean {
  return profile.collections?.mode === 'auto' && mode?.from !== 'Gateway' && mode?.from !== 'Target'
}

/** Returns the wait in ms after `failures` consecutive failed cycles; `random` is from 0 to 1. */
export function retryAfterMs(failures: number, hold: StartupHold, random: number): number {
  return backoffMs(failures, firstRetryMs, longestRetryMs[hold.kind === 'held' ? 'held' : 'usual'], random)
}

/** Returns the wait in ms after a cycle; undefined: it failed and is retried with backoff. */
export function waitAfter(result: CycleResult, { profile }: Extract<Desired, { kind: 'sync' }>, hasGateway: boolean): number | undefined {
  if (result.phase === 'Failed') return undefined
  // Without a gateway to query, the mode stays unknown until a user acts.
  const isWaiting = result.reason === 'ModeUnknown' ? hasGateway : result.phase === 'Pending' || result.reason === 'DesignerOpen'
  // A rollout waits for the result of its check.
  return isWaiting || (hasGateway && result.healthCheck?.state === 'Unknown') ? waitingMs : (durationMs(profile.syncPeriod) ?? waitingMs)
}
