/**
 * When an agent looks again after a cycle, and what it asks its gateway for until then.
 */
import { backoffMs } from '../clock.ts'
import type { Gateway } from '../gateway/gateway.ts'
import type { CycleResult, Wanted } from '../sync/cycle.ts'
import type { Desired } from './desired.ts'
import type { StartGate } from './health.ts'
import type { Wake } from './wake.ts'

type Mode = Wanted['facts']['mode']
/** Whether something has come that a look waits for. */
export type HasCome = (signal: AbortSignal) => Promise<boolean>

/** Waits after a cycle that failed: from the first to the longest, which is shorter while the gateway's start is held back by it. */
const firstRetryMs = 1_000
const longestRetryMs = { held: 10_000, usual: 60_000 }
/** Wait for a gateway that is starting, being commissioned, or has a Designer open. */
export const waitingMs = 5_000

/**
 * What to ask the gateway for until the next look is due: whether it runs by now, or tells another mode than `mode`, with which this look was
 * made; undefined: for nothing.
 */
export function awaitedOf(
  { phase, reason }: CycleResult,
  desired: Extract<Desired, { kind: 'sync' }>,
  { gateway, mode, modeOf }: { gateway: Gateway; mode: Mode; modeOf(gateway: Gateway, signal: AbortSignal): Promise<Mode> },
): HasCome | undefined {
  const asked: HasCome[] = []
  if (phase === 'Pending' && (reason === 'GatewayNotReady' || reason === 'GatewayUnreachable'))
    asked.push(async (signal) => (await gateway.status(signal)) === 'running')
  if (lacksMode(desired, mode))
    asked.push(async (signal) => {
      const told = await modeOf(gateway, signal)
      return told?.name !== mode?.name || told?.from === 'gateway'
    })
  if (asked.length === 0) return undefined
  return async (signal) => {
    for (const hasCome of asked) if (await hasCome(signal)) return true
    return false
  }
}

/** Whether something has come that is waited for, or somebody calls meanwhile: a gateway may take long to answer. */
export async function hasComeOrCalled(wake: Wake, hasCome: HasCome, signal: AbortSignal): Promise<boolean> {
  const asking = new AbortController()
  const either = AbortSignal.any([signal, asking.signal])
  const end = (): void => asking.abort(new Error('answered'))
  const answer = hasCome(either)
    .catch(() => false)
    .finally(end)
  const called = await wake.wait(undefined, either)
  end()
  return called || (await answer)
}

/** Whether the profile follows the gateway's mode and the gateway has not told it yet. */
function lacksMode({ profile }: Extract<Desired, { kind: 'sync' }>, mode: Mode): boolean {
  return profile.collections?.mode === 'auto' && mode?.from !== 'gateway' && mode?.from !== 'target'
}

/** How long to wait after a cycle that failed, as often in a row as `failures`, in ms; `random` is from 0 to 1. */
export function retryAfterMs(failures: number, gate: StartGate, random: number): number {
  return backoffMs(failures, firstRetryMs, longestRetryMs[gate.kind === 'held' ? 'held' : 'usual'], random)
}

/** How long to wait after a cycle, in ms; undefined: it failed and is retried with growing waits. */
export function waitAfter(result: CycleResult, { profile }: Extract<Desired, { kind: 'sync' }>, hasGateway: boolean): number | undefined {
  if (result.phase === 'Failed') return undefined
  // Without a gateway to ask, the mode stays unknown until somebody changes something.
  const isWaiting = result.reason === 'ModeUnknown' ? hasGateway : result.phase === 'Pending' || result.reason === 'DesignerOpen'
  // A rollout waits for the answer to a check.
  return isWaiting || (hasGateway && result.check?.state === 'Unknown') ? waitingMs : profile.syncPeriod * 1000
}
