/**
 * The calls to the gateway around a publish: may files be written now, and has it read them?
 */
import { timestamp } from '../clock.ts'
import { asFault, Fault } from '../fault.ts'
import { type Gateway, type GatewayStatus, lockReturnMs, maxProblems as maxToldProblems } from '../gateway/gateway.ts'
import { newProblems } from '../gateway/new-problems.ts'
import type { Wanted } from './model/wanted.ts'
import type { State } from './model/manifest.ts'
import type { ScanKind } from './model/paths.ts'

/** At most this many names of Designer users are reported. */
const namedDesigners = 20
/** Bounds of the SyncReport's schema. */
const maxProblems = 10
const maxProblemCharacters = 1024
const watchedMs = 3_600_000

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

/** What a running gateway complains of before anything is written, to compare with; undefined: nobody can say. Never throws but by `signal`. */
export async function problemsBefore(
  gateway: Gateway | undefined,
  status: GatewayStatus | undefined,
  signal: AbortSignal,
): Promise<string[] | undefined> {
  if (gateway === undefined || status !== 'running') return undefined
  const problems = await toldProblems(gateway, signal)
  // Where some were left out, an old one could later seem new.
  return problems === undefined || problems.length >= maxToldProblems ? undefined : bounded(problems)
}

/**
 * Asks the gateway to scan what it has not read yet and waits until it has, and whether it still runs then. Returns the new state, or how the
 * gateway is that does not run: then it has to scan again. Throws faults of the gateway.
 */
export async function scanPending(gateway: Gateway, state: State, signal: AbortSignal): Promise<State | Exclude<GatewayStatus, 'running'>> {
  const done = await gateway.scan(state.scanPending, signal)
  const status = await gateway.status(signal)
  if (status !== 'running') return status
  const scanned = { ...state.scanned }
  for (const kind of ['projects', 'config'] as const) {
    const at = done[kind]
    if (at !== undefined) scanned[kind] = timestamp(at)
  }
  return withProblems({ ...state, scanned, scanPending: [], commissioning: false }, done.problems)
}

/**
 * Looks again what the gateway complains of, for an hour after it took something: a connection that breaks by a commit takes a while to say
 * so. Returns the same state where nothing has changed.
 */
export async function watchHealth(gateway: Gateway, state: State, nowMs: number, signal: AbortSignal): Promise<State> {
  const { health } = state
  if (health?.before === undefined || nowMs - health.since > watchedMs) return state
  const problems = await toldProblems(gateway, signal)
  if (problems === undefined) return state
  const after = withProblems(state, problems)
  return saysTheSame(after, state) ? state : after
}

/** Numbers in messages change with the time, and every change is written to the disk and to the cluster. */
function saysTheSame(a: State, b: State): boolean {
  return isSame(a.problems, b.problems) && isSame(a.health?.newProblems ?? [], b.health?.newProblems ?? [])
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && newProblems(a, b).length === 0
}

/** `told` is undefined when nobody can say what the gateway complains of: then nothing is known to be new. */
function withProblems(state: State, told: readonly string[] | undefined): State {
  if (told === undefined) return { ...state, problems: [] }
  const all = bounded(told)
  const problems = all.slice(0, maxProblems)
  const { health } = state
  if (health?.before === undefined) return { ...state, problems }
  return { ...state, problems, health: { ...health, newProblems: newProblems(health.before, all).slice(0, maxProblems) } }
}

function bounded(problems: readonly string[]): string[] {
  return problems.map((text) => text.slice(0, maxProblemCharacters))
}

/** That a gateway does not say what it complains of must keep nothing from being written. */
async function toldProblems(gateway: Gateway, signal: AbortSignal): Promise<string[] | undefined> {
  return await gateway.problems(signal).catch(() => {
    signal.throwIfAborted()
    return undefined
  })
}
