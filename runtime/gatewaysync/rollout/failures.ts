/**
 * Which gateways of a stage have failed, and when those that are silent will have. Pure.
 */
import { durationMs } from '../schema/fields.ts'
import type { RolloutStatus, StageStatus } from '../schema/rollout-status.ts'
import type { RolloutSpec } from '../schema/spec.ts'
import type { GatewayProgress } from './facts.ts'
import { hasTurn } from './turn.ts'
import { isOpen } from './windows.ts'

/** `refused`: the gateway says what is wrong; `silent`: it has not ended in time; `bare`: it could not begin for want of an agent. */
export type Failure = { pod: string; kind: 'refused' | 'silent' | 'bare'; reason: string; why?: string | undefined }

type Judged = { rollout: RolloutStatus; stage: Pick<StageStatus, 'startedAt' | 'finishedAt'>; spec: RolloutSpec; now: Temporal.Instant }

/** Gateways that have begun and cannot, or did not in time, take what is rolled out, and those that have no agent that could begin. */
export function failuresOf(members: readonly GatewayProgress[], judged: Judged): Failure[] {
  const { rollout, spec, now } = judged
  const hasBegun = hasTurn(rollout)
  const isOverdue = Temporal.Instant.compare(now, overdueAt(rollout, spec)) >= 0
  const isTimed = hasDeadline(judged)
  return members.flatMap((gateway): Failure[] => {
    const { pod, progress } = gateway
    if (progress === 'failed' && hasBegun(gateway)) return [{ pod, kind: 'refused', reason: gateway.reason, why: gateway.why }]
    if (progress !== 'moving' || !isOverdue || !isTimed(gateway)) return []
    const { lacks = 'ProgressDeadline', why } = gateway
    return [{ pod, kind: gateway.isBare === true ? 'bare' : 'silent', reason: lacks, why }]
  })
}

/** Those that may stop the rollout: of a stage that is done only what gateways complain of, as one that is silent now took the commit before. */
export function countedFailures(members: readonly GatewayProgress[], judged: Judged): Failure[] {
  const failures = failuresOf(members, judged)
  return judged.stage.finishedAt === undefined ? failures : failures.filter(({ kind }) => kind === 'refused')
}

/**
 * Tells of a gateway that is on its way whether its time runs. Without an agent it does as long as its stage is at work, as it needs no turn to be
 * missed: from the last progress within a window on, also once that has closed.
 */
export function hasDeadline({ rollout, stage, spec }: Omit<Judged, 'now'>): (gateway: GatewayProgress) => boolean {
  const hasBegun = hasTurn(rollout)
  const isAtWork = stage.startedAt !== undefined && stage.finishedAt === undefined && isOpen(spec.windows, lastProgress(rollout))
  return (gateway) => gateway.progress === 'moving' && (hasBegun(gateway) || (gateway.isBare === true && isAtWork))
}

/** When a gateway that is still on its way counts as failed. */
export function overdueAt(rollout: RolloutStatus, { progressDeadline }: RolloutSpec): Temporal.Instant {
  const milliseconds = Math.round(durationMs(progressDeadline) ?? 7_200_000)
  return lastProgress(rollout).add({ milliseconds })
}

/** When a gateway last made progress; before the first one did, when the rollout began. */
export function lastProgress({ progressAt, startedAt }: RolloutStatus): Temporal.Instant {
  return Temporal.Instant.from(progressAt ?? startedAt)
}
