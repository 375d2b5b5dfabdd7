/**
 * One gateway as a person reads of it: the controller's judgement beside what its agent reported. Pure.
 */
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
    finishedAt: told?.finishedAt,
    agentVersion: report?.status?.agentVersion,
    remarks: told?.remarks ?? [],
  }
}
