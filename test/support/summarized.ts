/**
 * The conditions of a healthy GatewaySync with the changes of a test.
 */
import type { Fault } from '../../runtime/platform/fault.ts'
import { countGateways, type Gateway, type GatewayState } from '../../runtime/reconcile/decide/gateways.ts'
import { summarize } from '../../runtime/reconcile/decide/summary.ts'
import type { GatewaySyncSpecInput } from '../../runtime/api/schema/spec.ts'
import type { Condition, GatewaySyncStatus } from '../../runtime/api/schema/status.ts'
import { specWith } from './gatewaysync.ts'

export const at = '2026-01-01T00:00:00Z'
export const [commit, older] = ['a'.repeat(40), 'b'.repeat(40)]
/** Main is followed and published. */
export const followed: GatewaySyncStatus = { source: { ref: 'main', commit }, published: { commit, ref: 'main', at } }
/** The members of a rollout besides its state. */
export const rollout = { id: at, commit, configurations: {}, startedAt: at }

export type Given = {
  spec?: Partial<GatewaySyncSpecInput>
  status?: GatewaySyncStatus
  /** Members that the status does not have. */
  lacks?: readonly (keyof GatewaySyncStatus)[]
  gateways?: Gateway[]
  fault?: Fault
  pending?: boolean
}

/** Returns the conditions by type for a healthy GatewaySync with the given changes. */
export function summary({ spec = {}, status = {}, lacks = [], gateways = [], fault, pending = false }: Given): Record<string, Condition> {
  const whole: GatewaySyncStatus = { ...followed, gateways: countGateways(gateways), ...status }
  for (const member of lacks) delete whole[member]
  const conditions = summarize({ generation: 1, spec: specWith(spec), gateways, fault, pending, status: whole, at }, [])
  return Object.fromEntries(conditions.map((condition) => [condition.type, condition]))
}

export function gateway(pod: string, state: GatewayState, reason?: string, message?: string): Gateway {
  return { pod, state, reason, message, commit: undefined, mode: undefined }
}

/** One gateway in each state. */
export function gatewaysIn(...states: GatewayState[]): Gateway[] {
  return states.map((state, index) => gateway(`gw-${index}`, state, 'Reason', 'message'))
}

/** The status and reason of each condition. */
export function words(conditions: Record<string, Condition>): Record<string, string> {
  return Object.fromEntries(Object.entries(conditions).map(([type, { status, reason }]) => [type, `${status} ${reason}`]))
}

/** The status and reason of a condition, and its message. */
export function shown(condition: Condition | undefined): [string, string] {
  return [`${condition?.status} ${condition?.reason}`, condition?.message ?? '']
}
