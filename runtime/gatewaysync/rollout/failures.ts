/**
 * Which gateways of a stage have failed, and when those that are silent will have. Pure.
 */
import { durationMs } from '../schema/fields.ts'
import type { RolloutStatus } from '../schema/rollout-status.ts'
import type { RolloutSpec } from '../schema/spec.ts'
import type { GatewayProgress } from './facts.ts'
import { hasTurn } from './turn.ts'

type Failure = { pod: string; reason: string; why?: string | undefined }

/** Gateways that have begun and cannot, or did not in time, take what is rolled out. */
export function failuresOf(
  rollout: RolloutStatus,
  members: readonly GatewayProgress[],
  spec: RolloutSpec,
  now: Temporal.Instant,
): Failure[] {
  const begun = members.filter(hasTurn(rollout))
  const isOverdue = Temporal.Instant.compare(now, overdueAt(rollout, spec)) >= 0
  return begun.flatMap((gateway) => {
    if (gateway.progress === 'failed') return [{ pod: gateway.pod, reason: gateway.reason, why: gateway.why }]
    return gateway.progress === 'moving' && isOverdue
      ? [{ pod: gateway.pod, reason: gateway.lacks ?? 'ProgressDeadline', why: gateway.why }]
      : []
  })
}

/** When a gateway that is still on its way counts as failed. */
export function overdueAt({ progressAt, startedAt }: RolloutStatus, { progressDeadline }: RolloutSpec): Temporal.Instant {
  const milliseconds = Math.round(durationMs(progressDeadline) ?? 7_200_000)
  return Temporal.Instant.from(progressAt ?? startedAt).add({ milliseconds })
}
