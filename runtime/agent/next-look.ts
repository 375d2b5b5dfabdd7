/**
 * When an agent looks again after a cycle, and what it asks its gateway for until then.
 */
import type { Gateway } from '../gateway/gateway.ts'
import type { CycleResult, Wanted } from '../sync/cycle.ts'
import type { Desired } from './desired.ts'

type Mode = Wanted['facts']['mode']
/** Whether something has come that a look waits for. */
export type HasCome = (signal: AbortSignal) => Promise<boolean>

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

/** Whether the profile follows the gateway's mode and the gateway has not told it yet. */
function lacksMode({ profile }: Extract<Desired, { kind: 'sync' }>, mode: Mode): boolean {
  return profile.collections?.mode === 'auto' && mode?.from !== 'gateway' && mode?.from !== 'target'
}

/** How long to wait after a cycle, in ms; undefined: it failed and is retried with growing waits. */
export function waitAfter(result: CycleResult, { profile }: Extract<Desired, { kind: 'sync' }>, hasGateway: boolean): number | undefined {
  if (result.phase === 'Failed') return undefined
  // Without a gateway to ask, the mode stays unknown until somebody changes something.
  const isWaiting = result.reason === 'ModeUnknown' ? hasGateway : result.phase === 'Pending' || result.reason === 'DesignerOpen'
  // A rollout waits for the answer to a check.
  return isWaiting || (hasGateway && result.check?.state === 'Unknown') ? waitingMs : profile.syncPeriod * 1000
}
