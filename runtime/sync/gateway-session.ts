/**
 * Calls the gateway before and after an apply: whether files may be written now, whether it has read them, and whether the page that a
 * rollout checks answers.
 */
import { timestamp } from '../platform/clock.ts'
import { asFault, Fault } from '../platform/fault.ts'
import { type Gateway, type GatewayStatus, lockReturnMs, maxProblems } from '../gateway/gateway.ts'
import { reportLimits } from '../api/schema/report.ts'
import type { SyncTarget } from './model/desired.ts'
import type { State } from './model/manifest.ts'
import type { ScanKind } from './model/paths.ts'
import { afterAnswer, type CheckAnswer, type StoredCheck } from '../api/check-record.ts'
import type { HttpCheck } from '../api/schema/spec.ts'
import { Temporal } from '../platform/temporal.ts'
import type { CycleResult } from './outcome.ts'

const watchedMs = 3_600_000

/**
 * Returns the open Designer sessions as `user in project`; empty if the policy is `Proceed` or the gateway is not running. Called before
 * every write to a running gateway. Throws the fault of a running gateway that does not respond, so that nothing is written.
 */
export async function blockingDesigners(
  gateway: Gateway | undefined,
  status: GatewayStatus | undefined,
  { profile }: SyncTarget,
  signal: AbortSignal,
): Promise<string[]> {
  if (gateway === undefined || status !== 'running' || profile.designerSessionPolicy === 'Proceed') return []
  const sessions = await gateway.designers(signal).catch((error: unknown) => {
    signal.throwIfAborted()
    const fault = asFault(error)
    throw new Fault(fault.reason, `the gateway does not report whether a Designer is open: ${fault.message}`, { cause: error })
  })
  return [...new Set(sessions.map(({ user, project }) => (project === '' ? user : `${user} in ${project}`)))].slice(
    0,
    reportLimits.designers,
  )
}

/**
 * Takes the gateway's lock before the first rename. A gateway that started during the fetch is locked too, after a check for open
 * Designers. Returns whether the lock is held. `before`: the gateway's status at the start of the cycle. Throws DesignerOpen and faults of
 * the gateway.
 */
export async function lockForWriting(
  gateway: Gateway | undefined,
  kinds: readonly ScanKind[],
  before: GatewayStatus | undefined,
  target: SyncTarget,
  signal: AbortSignal,
): Promise<boolean> {
  if (gateway === undefined || kinds.length === 0) return false
  const now = before === 'running' ? before : await gateway.status(signal)
  if (now !== 'running') return false
  if (before !== 'running') {
    const designers = await blockingDesigners(gateway, now, target, signal)
    if (designers.length > 0) throw new Fault('DesignerOpen', `open Designer sessions: ${designers.join(', ')}`)
  }
  return (await gateway.lock(kinds, signal)) === 'held'
}

/** Releases the gateway's lock after an apply that did not happen, which would otherwise hold back changes for a minute. Never throws. */
export async function releaseGatewayLock(gateway: Gateway | undefined, kinds: readonly ScanKind[]): Promise<void> {
  await gateway?.scan(kinds, AbortSignal.timeout(lockReturnMs)).catch(() => undefined)
}

/**
 * Reads the problems that a running gateway reports before anything is written, for comparison; undefined: unknown. Throws only the reason
 * of `signal`.
 */
export async function problemsBefore(
  gateway: Gateway | undefined,
  status: GatewayStatus | undefined,
  signal: AbortSignal,
): Promise<string[] | undefined> {
  if (gateway === undefined || status !== 'running') return undefined
  const problems = await readProblems(gateway, signal)
  // In a truncated list, an old problem could later seem new.
  return problems === undefined || problems.length >= maxProblems ? undefined : bounded(problems)
}

/**
 * Starts the pending scans, waits for their end and checks that the gateway still runs. Returns the new state, or the status of a gateway
 * that does not run, which has to scan again. Throws faults of the gateway.
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
 * Reads the gateway's problems again during the hour after a change: a connection that a commit breaks reports the failure with a delay.
 * Returns the same state if nothing changed.
 */
export async function watchHealth(gateway: Gateway, state: State, nowMs: number, signal: AbortSignal): Promise<State> {
  const { health } = state
  if (health?.before === undefined || nowMs - health.since > watchedMs) return state
  const problems = await readProblems(gateway, signal)
  if (problems === undefined) return state
  const after = withProblems(state, problems)
  return hasSameProblems(after, state) ? state : after
}

/** Numbers in messages change with time, and every difference would be written to disk and to the cluster. */
function hasSameProblems(a: State, b: State): boolean {
  return isSame(a.problems, b.problems) && isSame(a.health?.newProblems ?? [], b.health?.newProblems ?? [])
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && newProblems(a, b).length === 0
}

/** An undefined list means that the problems are unknown; then none counts as new. */
function withProblems(state: State, reported: readonly string[] | undefined): State {
  if (reported === undefined) return { ...state, problems: [] }
  const all = bounded(reported)
  const problems = all.slice(0, reportLimits.problems)
  const { health } = state
  if (health?.before === undefined) return { ...state, problems }
  return { ...state, problems, health: { ...health, newProblems: newProblems(health.before, all).slice(0, reportLimits.problems) } }
}

function bounded(problems: readonly string[]): string[] {
  return problems.map((text) => text.slice(0, reportLimits.messageCharacters))
}

/** A gateway whose problems cannot be read must not block a sync. */
async function readProblems(gateway: Gateway, signal: AbortSignal): Promise<string[] | undefined> {
  return await gateway.problems(signal).catch(() => {
    signal.throwIfAborted()
    return undefined
  })
}

/**
 * Returns the problems of `after` that are not in `before`. Numbers are ignored, because messages contain times and durations; a message
 * that occurs more often than before is new that many times.
 */
export function newProblems(before: readonly string[], after: readonly string[]): string[] {
  const known = new Map<string, number>()
  for (const problem of before) known.set(kindOf(problem), (known.get(kindOf(problem)) ?? 0) + 1)
  return after.filter((problem) => {
    const left = known.get(kindOf(problem)) ?? 0
    known.set(kindOf(problem), left - 1)
    return left <= 0
  })
}

function kindOf(problem: string): string {
  return problem.replaceAll(/\d+/g, '0')
}

/** Returns the record with one more response of the gateway. Throws only the reason of `signal`. */
export async function runHealthCheck(
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
