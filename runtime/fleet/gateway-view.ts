/**
 * Builds the view of one gateway from the controller's state and the report of its agent. Pure.
 */
import { keptSyncs } from '../api/schema/report.ts'
import type { Gateway, GatewayReport, GatewayState } from '../reconcile/decide/gateways.ts'
import { type GatewayView, type Level, optionalMeaning } from './view.ts'

/** The level of each gateway state. */
export const levelOfState: Readonly<Record<GatewayState, Level>> = {
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

/** The display name of each state. */
export const stateNames: Readonly<Record<GatewayState, string>> = {
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

/** `report`: the report of its pod. The steps are added later, because they depend on more than the gateway. */
export function gatewayView(gateway: Gateway, report: GatewayReport | undefined): Omit<GatewayView, 'steps'> {
  const details = report?.details
  const { pod, state, reason, message, commit, mode } = gateway
  return {
    pod,
    gateway: details?.gateway,
    state,
    level: levelOfState[state],
    reason,
    message,
    meaning: optionalMeaning(reason),
    commit,
    mode,
    profile: details?.profile,
    since: sinceWhen(commit, details?.history),
    finishedAt: details?.finishedAt,
    agentVersion: report?.status?.agentVersion,
    remarks: details?.remarks ?? [],
  }
}

/** The history, newest first, has an entry for each change of commit, phase or reason. A full history may have lost the first entry of a commit. */
function sinceWhen(commit: string | undefined, history: NonNullable<GatewayReport['details']>['history'] = []): string | undefined {
  const other = history.findIndex((entry) => entry.commit !== commit)
  if (other === -1) return history.length < keptSyncs ? history.at(-1)?.finishedAt : undefined
  return history.slice(0, other).at(-1)?.finishedAt
}
