/**
 * Decides the result of a run with --once: in place, failed, or not decided yet. Pure.
 */
import type { Fault, Reason } from '../platform/fault.ts'
import type { SyncReportStatus } from '../api/schema/report.ts'
import type { GatewaySyncStatus } from '../api/schema/status.ts'
import { shortCommit } from '../api/values.ts'
import { describeErrors } from '../reconcile/decide/summary.ts'

/** `waiting`: not decided yet. */
export type Outcome = { kind: 'waiting' } | { kind: 'inPlace' } | { kind: 'failed'; reason: string; message: string }

type RunState = {
  /** The git host responded, with or without success. */
  answered: boolean
  fault: Fault | undefined
  status: GatewaySyncStatus
  /** What each target reported in this run; undefined: nothing yet. */
  reports: ReadonlyMap<string, SyncReportStatus | undefined>
}

/** Phases in which a target stays until a user acts. */
const failing: ReadonlySet<string> = new Set(['Failed', 'Blocked', 'DryRun', 'Paused', 'Drifted'])

const inPlace: ReadonlySet<string> = new Set(['Synced'])

/** Reasons that end a target immediately: it waits for a gateway that is starting, but not for one that is absent or whose mode is lost. */
const unanswered: ReadonlySet<string> = new Set<Reason>(['GatewayUnreachable', 'ModeUnknown'])

/** In place means that the condition Ready is true, and that each target reported it in this run. */
export function outcomeOf({ answered, fault, status, reports }: RunState): Outcome {
  if (!answered) return { kind: 'waiting' }
  if (fault !== undefined) return { kind: 'failed', reason: fault.reason, message: fault.message }
  if (status.source?.held !== undefined)
    return {
      kind: 'failed',
      reason: status.source.held,
      message: describeHeld(status),
    }
  // A failed target does not end the run before the others have their commit.
  const allEnded = [...reports.values()].every((report) => report !== undefined && (hasFailed(report) || inPlace.has(report.phase)))
  if (!allEnded) return { kind: 'waiting' }
  const failed = [...reports].filter(([, report]) => report !== undefined && hasFailed(report))
  const [first] = failed
  if (first?.[1] === undefined) return isReady(status) ? { kind: 'inPlace' } : { kind: 'waiting' }
  const message = failed.map(([name, report]) => `${name}: ${report?.message ?? `the target is ${report?.phase}`}`).join('; ')
  return { kind: 'failed', reason: first[1].reason ?? first[1].phase, message }
}

function hasFailed({ phase, reason = '' }: SyncReportStatus): boolean {
  return failing.has(phase) || unanswered.has(reason)
}

function isReady(status: GatewaySyncStatus): boolean {
  return status.conditions?.find(({ type }) => type === 'Ready')?.status === 'True'
}

/** The failure of a run that timed out, with what it was waiting for. */
export function lateOutcome(status: GatewaySyncStatus, waitedMs: number): Outcome {
  const reason: Reason = 'Timeout'
  return { kind: 'failed', reason, message: `not in place after ${Math.round(waitedMs / 1000)} s: ${conditionMessage(status)}` }
}

/** Which commit is refused and why, and which one the gateways keep. */
function describeHeld(status: GatewaySyncStatus): string {
  const { source, findings, published } = status
  const why = findings === undefined ? conditionMessage(status) : describeErrors(findings)
  const stays = published === undefined ? '' : `; commit ${shortCommit(published.commit)} stays published`
  return source?.commit === undefined ? why : `commit ${shortCommit(source.commit)} is refused: ${why}${stays}`
}

function conditionMessage(status: GatewaySyncStatus): string {
  return status.conditions?.find(({ type }) => type === 'Ready')?.message ?? 'not yet reconciled'
}
