/**
 * The conversation with the gateway around a publish: may files be written now, and has it read them.
 */
import { timestamp } from '../clock.ts'
import { asFault, Fault } from '../fault.ts'
import type { Gateway, GatewayStatus } from '../gateway/gateway.ts'
import type { Wanted } from './model/wanted.ts'
import type { State } from './model/manifest.ts'
import type { ScanKind } from './model/paths.ts'

/** At most this many names of Designer users are reported. */
const namedDesigners = 20
/** Only a scan ends a lock; a gateway that does not answer lets go of it by itself. */
const lockReturnMs = 5_000
/** What a report takes. */
const maxProblems = 10
const maxProblemCharacters = 1024

/**
 * Who has a Designer open, where that matters: the one gate in front of every write to a running gateway. A gateway that is not up has no
 * Designers; one that is up and does not say counts as occupied, and its answer is thrown.
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
 * The last look before the first rename: a gateway that came up while content was fetched is locked too, and its Designers count. Returns
 * whether the gateway's lock is ours now. `before`: how the gateway was when the cycle began. Throws DesignerOpen and what the gateway answers.
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

/** Nothing was published: the gateway need not hold its own changes back for a minute, nor refuse the next try. */
export async function giveLockBack(gateway: Gateway | undefined, kinds: readonly ScanKind[]): Promise<void> {
  await gateway?.scan(kinds, AbortSignal.timeout(lockReturnMs)).catch(() => undefined)
}

/** Asks the gateway to read what it has not read yet, and waits until it says that it has. Throws what the gateway answers. */
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
