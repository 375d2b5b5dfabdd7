/**
 * How a run with --once ends: in place, failed, or not decided yet. Pure.
 */
import type { Fault, Reason } from '../fault.ts'
import { describeErrors } from '../gatewaysync/decide/findings.ts'
import type { SyncReportStatus } from '../gatewaysync/schema/report.ts'
import type { GatewaySyncStatus } from '../gatewaysync/schema/status.ts'
import { shortCommit } from '../gatewaysync/values.ts'

/** `waiting`: not decided yet. */
export type Outcome = { kind: 'waiting' } | { kind: 'inPlace' } | { kind: 'failed'; reason: string; message: string }

type Facts = {
  /** The git host answered, well or not. */
  answered: boolean
  fault: Fault | undefined
  status: GatewaySyncStatus
  /** What each target reported in this run; undefined: nothing yet. */
  reports: ReadonlyMap<string, SyncReportStatus | undefined>
}

/** Phases in which a target stays until somebody changes something. */
const failing: ReadonlySet<string> = new Set(['Failed', 'Blocked', 'DryRun', 'Paused', 'Drifted'])

/** Reasons that end the run at once: it waits for a gateway that is starting, but not for one that is absent or whose mode is lost. */
const unanswered: ReadonlySet<string> = new Set<Reason>(['GatewayUnreachable', 'ModeUnknown'])

/** In place means what the condition Ready means, and that each target reported it in this run. */
export function outcomeOf({ answered, fault, status, reports }: Facts): Outcome {
  if (!answered) return { kind: 'waiting' }
  if (fault !== undefined) return { kind: 'failed', reason: fault.reason, message: fault.message }
  if (status.source?.held !== undefined)
    return {
      kind: 'failed',
      reason: status.source.held,
      message: describeHeld(status),
    }
  for (const [name, report] of reports) {
    if (report === undefined || !(failing.has(report.phase) || unanswered.has(report.reason ?? ''))) continue
    return {
      kind: 'failed',
      reason: report.reason ?? report.phase,
      message: `${name}: ${report.message ?? `the target is ${report.phase}`}`,
    }
  }
  const allReported = [...reports.values()].every((report) => report !== undefined)
  const ready = status.conditions?.find(({ type }) => type === 'Ready')
  return allReported && ready?.status === 'True' ? { kind: 'inPlace' } : { kind: 'waiting' }
}

/** The failure of a run that took too long, with what it was waiting for. */
export function lateOutcome(status: GatewaySyncStatus, seconds: number): Outcome {
  const reason: Reason = 'Timeout'
  return { kind: 'failed', reason, message: `not in place after ${seconds} s: ${conditionMessage(status)}` }
}

/** Which commit is refused and why, and which one the gateways keep. */
function describeHeld(status: GatewaySyncStatus): string {
  const { source, findings, published } = status
  const why = findings === undefined ? conditionMessage(status) : describeErrors(findings)
  const stays = published === undefined ? '' : `; commit ${shortCommit(published.commit)} stays`
  return source?.commit === undefined ? why : `commit ${shortCommit(source.commit)} is refused: ${why}${stays}`
}

function conditionMessage(status: GatewaySyncStatus): string {
  return status.conditions?.find(({ type }) => type === 'Ready')?.message ?? 'nothing is known yet'
}
