/**
 * One gateway as a person reads of it: the controller's judgement beside what its agent reported. Pure.
 */
import { keptSyncs } from '../gatewaysync/schema/report.ts'
import type { Gateway, GatewayReport, GatewayState } from '../gatewaysync/decide/gateways.ts'
import { type Level, meaningOrUndefined } from './level.ts'
import type { GatewayView } from './view.ts'

/** How much a state wants somebody's attention. */
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

/** `report`: that of its pod. What to do about it depends on more than the gateway. */
export function gatewayView(gateway: Gateway, report: GatewayReport | undefined): Omit<GatewayView, 'steps'> {
  const told = report?.told
  const { pod, state, reason, message, commit, mode } = gateway
  return {
    pod,
    gateway: told?.gateway,
    state,
    level: levelOfState[state],
    reason,
    message,
    meaning: meaningOrUndefined(reason),
    commit,
    mode,
    profile: told?.profile,
    since: sinceWhen(commit, told?.history),
    finishedAt: told?.finishedAt,
    agentVersion: report?.status?.agentVersion,
    remarks: told?.remarks ?? [],
  }
}

/** The history, newest first, has an entry for each change of commit, phase or reason; a full one may have lost the entry that began it. */
function sinceWhen(commit: string | undefined, history: NonNullable<GatewayReport['told']>['history'] = []): string | undefined {
  const other = history.findIndex((entry) => entry.commit !== commit)
  if (other === -1) return history.length < keptSyncs ? history.at(-1)?.finishedAt : undefined
  return history.slice(0, other).at(-1)?.finishedAt
}
