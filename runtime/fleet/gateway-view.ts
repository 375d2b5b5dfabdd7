/**
 * One gateway as a person reads of it: the controller's judgement beside what its agent reported. Pure.
 */
import * as v from 'valibot'
import type { Gateway, GatewayState } from '../gatewaysync/decide/gateways.ts'
import { remarksOf } from '../gatewaysync/decide/remarks.ts'
import { type SyncReportStatus, syncReportStatus } from '../gatewaysync/schema/report.ts'
import { type Level, meaningOrUndefined } from './level.ts'
import type { GatewayView } from './view.ts'

const levels: Readonly<Record<GatewayState, Level>> = {
  synced: 'ok',
  pending: 'working',
  failed: 'error',
  blocked: 'error',
  drifted: 'warning',
  dryRun: 'warning',
  paused: 'warning',
  missingAgent: 'error',
  waiting: 'working',
}

/** The state as a word for people. */
export const stateWords: Readonly<Record<GatewayState, string>> = {
  synced: 'synced',
  pending: 'pending',
  failed: 'failed',
  blocked: 'blocked',
  drifted: 'drifted',
  dryRun: 'dry run',
  paused: 'paused',
  missingAgent: 'no agent',
  waiting: 'waiting',
}

/** `report`: the status of its SyncReport as it is stored. */
export function gatewayView(gateway: Gateway, report: unknown): GatewayView {
  const status = readReport(report)
  const { pod, state, reason, message, commit, mode } = gateway
  return {
    pod,
    gateway: status?.gateway,
    state,
    level: levels[state],
    reason,
    message,
    meaning: meaningOrUndefined(reason),
    commit,
    mode,
    profile: status?.profile,
    finishedAt: status?.finishedAt,
    agentVersion: status?.agentVersion,
    remarks: status === undefined ? [] : remarksOf(status),
  }
}

/** Undefined for a status that nobody understands. */
export function readReport(status: unknown): SyncReportStatus | undefined {
  const parsed = v.safeParse(syncReportStatus, status)
  return parsed.success ? parsed.output : undefined
}
