/**
 * The calls to the gateway around a publish: may files be written now, and has it read them?
 */
import { timestamp } from '../clock.ts'
import { asFault, Fault } from '../fault.ts'
import type { Gateway, GatewayStatus } from '../gateway/gateway.ts'
import type { Wanted } from './model/wanted.ts'
import type { State } from './model/manifest.ts'
import type { ScanKind } from './model/paths.ts'

/** At most this many names of Designer users are reported. */
const namedDesigners = 20
/** Only a scan releases the lock; without one the gateway releases it by itself after a while. */
const lockReturnMs = 5_000
/** Bounds of the SyncReport's schema. */
const maxProblems = 10
const maxProblemCharacters = 1024

/**
 * Who has a Designer open, as `user in project`; empty when the policy is `proceed` or the gateway is not running. Asked before every write to
 * a running gateway. When a running gateway does not answer, its fault is thrown, so nothing is written.
 */
export async function designersInTheWay(
  gateway: Gateway | undefined,
  status: GatewayStatus | undefined,
  { profile }: Wanted,
  signal: AbortSignal,
): Promise<string[]> {
  if (gateway === undefined || status !== 'running' || profile.designerSessionPolicy === 'proceed') return []
  const sessions = await gateway.designers(signal).catch((error: unknown) => {
    signal.throwIfAborted()
    const fault = asFault(error)
    throw new Fault(fault.reason, `the gateway does not say whether a Designer is open: ${fault.message}`, { cause: error })
  })
  return [...new Set(sessions.map(({ user, project }) => (project === '' ? user : `${user} in ${project}`)))].slice(0, namedDesigners)
}

/**
 * Takes the gateway's lock before the first rename. A gateway that came up while content was fetched is locked too, after a look for open
 * Designers. Returns whether we hold the lock. `before`: the gateway's status when the cycle began. Throws DesignerOpen and faults of the gateway.
 */
export async function lockForWriting(
  gateway: Gateway | undefined,
  kinds: readonly ScanKind[],
  before: GatewayStatus | undefined,
  wanted: Wanted,
  signal: AbortSignal,
): Promise<boolean> {
  if (gateway === undefined || kinds.length === 0) return false
  const now = before === 'running' ? before : await gateway.status(signal)
  if (now !== 'running') return false
  if (before !== 'running') {
    const designers = await designersInTheWay(gateway, now, wanted, signal)
    if (designers.length > 0) throw new Fault('DesignerOpen', `open Designer sessions: ${designers.join(', ')}`)
  }
  return (await gateway.lock(kinds, signal)) === 'held'
}

/** Releases the gateway's lock after a publish that did not happen, so that it does not hold back changes for a minute. Never throws. */
export async function giveLockBack(gateway: Gateway | undefined, kinds: readonly ScanKind[]): Promise<void> {
  await gateway?.scan(kinds, AbortSignal.timeout(lockReturnMs)).catch(() => undefined)
}

/** Asks the gateway to scan what it has not read yet and waits until it has. Returns the new state; throws faults of the gateway. */
export async function scanPending(gateway: Gateway, state: State, signal: AbortSignal): Promise<State> {
  if (state.scanPending.length === 0) return state
  const done = await gateway.scan(state.scanPending, signal)
  const scanned = { ...state.scanned }
  for (const kind of ['projects', 'config'] as const) {
    const at = done[kind]
    if (at !== undefined) scanned[kind] = timestamp(at)
  }
  const problems = done.problems.slice(0, maxProblems).map((text) => text.slice(0, maxProblemCharacters))
  return { ...state, scanned, scanPending: [], commissioning: false, problems }
}
