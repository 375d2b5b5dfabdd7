/**
 * Which rollout a spec asks for: its stages, or one stage of all gateways that goes back by itself. Pure.
 */
import * as v from 'valibot'
import { rolloutSpec } from '../schema/rollout-spec.ts'
import type { GatewaySyncSpec, RolloutSpec } from '../schema/spec.ts'

/** A gateway that is off, or waits for a Designer, says nothing about the commit however long it takes; one that took it is watched a while. */
const oneStage: RolloutSpec = v.parse(rolloutSpec, {
  stages: [{ name: 'all', soak: '1m' }],
  onFailure: 'Rollback',
  progressDeadline: '999999h',
})

/** Whether all gateways take a commit at once, and go back by themselves. */
export function isOneStage(spec: RolloutSpec): boolean {
  return spec === oneStage
}

/** Undefined: every gateway takes a commit at once, and none goes back by itself. */
export function rolloutOf({ rollout, sync }: Pick<GatewaySyncSpec, 'rollout' | 'sync'>): RolloutSpec | undefined {
  return rollout ?? (sync.rollbackOnFailedScan ? oneStage : undefined)
}
