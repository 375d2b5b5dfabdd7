/**
 * Determines which gateways of a stage have failed, and when those that do not report will. Pure.
 */
import { Temporal } from '../../platform/temporal.ts'
import { durationMs } from '../../api/schema/fields.ts'
import type { RolloutStatus, StageStatus } from '../../api/schema/rollout-status.ts'
import type { RolloutSpec } from '../../api/schema/spec.ts'
import type { GatewayProgress } from './facts.ts'
import { isAdmitted } from './stage-admission.ts'
import { isOpen } from './windows.ts'

/** `refused`: the gateway reports a problem; `silent`: it missed the deadline; `noAgent`: it has no agent. */
export type Failure = { pod: string; kind: 'refused' | 'silent' | 'noAgent'; reason: string; why?: string | undefined }

type FailureContext = {
  rollout: RolloutStatus
  stage: Pick<StageStatus, 'startedAt' | 'finishedAt'>
  spec: RolloutSpec
  now: Temporal.Instant
}

/** Returns admitted gateways that cannot take the target or missed the deadline, and those without an agent. */
export function failuresOf(members: readonly GatewayProgress[], context: FailureContext): Failure[] {
  const { rollout, spec, now } = context
  const hasBegun = isAdmitted(rollout)
  const isOverdue = Temporal.Instant.compare(now, overdueAt(rollout, spec)) >= 0
  const isTimed = hasDeadline(context)
  return members.flatMap((gateway): Failure[] => {
    const { pod, progress } = gateway
    if (progress === 'failed' && hasBegun(gateway)) return [{ pod, kind: 'refused', reason: gateway.reason, why: gateway.why }]
    if (progress !== 'moving' || !isOverdue || !isTimed(gateway)) return []
    const { lacks = 'ProgressDeadline', why } = gateway
    return [{ pod, kind: gateway.hasNoAgent === true ? 'noAgent' : 'silent', reason: lacks, why }]
  })
}

/**
 * Returns the failures that may stop the rollout. In a finished stage only reported problems count: a gateway that does not report now took
 * the commit before.
 */
export function countedFailures(members: readonly GatewayProgress[], context: FailureContext): Failure[] {
  const failures = failuresOf(members, context)
  return context.stage.finishedAt === undefined ? failures : failures.filter(({ kind }) => kind === 'refused')
}

/**
 * Whether the deadline runs for a moving gateway. Without an agent it runs while its stage is active, as no admission is possible: from the
 * last progress within a window, also after the window has closed.
 */
export function hasDeadline({ rollout, stage, spec }: Omit<FailureContext, 'now'>): (gateway: GatewayProgress) => boolean {
  const hasBegun = isAdmitted(rollout)
  const isAtWork = stage.startedAt !== undefined && stage.finishedAt === undefined && isOpen(spec.windows, lastProgress(rollout))
  return (gateway) => gateway.progress === 'moving' && (hasBegun(gateway) || (gateway.hasNoAgent === true && isAtWork))
}

/** When a moving gateway counts as failed. */
export function overdueAt(rollout: RolloutStatus, { progressDeadline }: RolloutSpec): Temporal.Instant {
  const milliseconds = Math.round(durationMs(progressDeadline) ?? 7_200_000)
  return lastProgress(rollout).add({ milliseconds })
}

/** When a gateway last made progress; before the first one, when the rollout began. */
export function lastProgress({ progressAt, startedAt }: RolloutStatus): Temporal.Instant {
  return Temporal.Instant.from(progressAt ?? startedAt)
}
