/**
 * One stage of a rollout: whether it may begin, which of its gateways may, and whether it waits, has failed or is done. Pure.
 */
import { timestamp } from '../../clock.ts'
import { durationMs } from '../schema/fields.ts'
import type { RolloutStatus } from '../schema/rollout-status.ts'
import type { Stage } from '../schema/spec.ts'
import { changeStage, countOf, needsMove, stageStatusOf } from './counts.ts'
import { stop } from './ending.ts'
import type { GatewayProgress, RolloutFacts } from './facts.ts'
import { failuresOf, overdueAt } from './failures.ts'
import { amountOf } from './stages.ts'
import { hasTurn } from './turn.ts'
import { giveTurns } from './turns.ts'
import { nextOpening } from './windows.ts'

type StageStep =
  { kind: 'waits'; rollout: RolloutStatus; wakeAt: Temporal.Instant | undefined } | { kind: 'failed' | 'done'; rollout: RolloutStatus }

/** One step of a stage whose gateways are `members`. */
export function runStage(rollout: RolloutStatus, stage: Stage, members: readonly GatewayProgress[], facts: RolloutFacts): StageStep {
  const known = stageStatusOf(rollout, stage.name)
  // A stage of which every gateway has everything already needs neither leave nor watching.
  if (known.startedAt === undefined && !members.some(needsMove)) {
    return { kind: 'done', rollout: giveTurns(rollout, stage, members, facts) }
  }
  if (stage.approval === 'Manual' && known.startedAt === undefined && known.approvedAt === undefined) {
    return { kind: 'waits', rollout: { ...rollout, waitsFor: 'Approval' }, wakeAt: undefined }
  }
  const progressed = noteProgress(started(rollout, stage, facts), stage, members, facts)
  const failures = failuresOf(progressed, members, facts.spec, facts.now)
  if (failures.length >= acceptedFailures(progressed, members, facts)) {
    return { kind: 'failed', rollout: failed(progressed, stage, { failures, of: members.length }, facts) }
  }
  const going = giveTurns(progressed, stage, members, facts)
  const lost = new Set(failures.map(({ pod }) => pod))
  const open = members.filter((gateway) => needsMove(gateway) && !lost.has(gateway.pod))
  return open.length > 0 ? waitForGateways(going, open, facts) : soak(going, stage, facts)
}

function started(rollout: RolloutStatus, { name }: Stage, { now }: RolloutFacts): RolloutStatus {
  if (stageStatusOf(rollout, name).startedAt !== undefined) return rollout
  const at = timestamp(now)
  return changeStage({ ...rollout, progressAt: at }, name, { startedAt: at })
}

/**
 * The time of the last progress moves when a gateway has ended, when one goes on that waited for somebody, and when one is no longer as it
 * should be: the time until then was not its own.
 */
function noteProgress(rollout: RolloutStatus, stage: Stage, members: readonly GatewayProgress[], { now }: RolloutFacts): RolloutStatus {
  const { updated, held = 0 } = stageStatusOf(rollout, stage.name)
  const isProgress = countOf(members, 'updated') !== updated || countOf(members, 'held') < held
  return isProgress ? { ...rollout, progressAt: timestamp(now) } : rollout
}

/** So many failed gateways stop the rollout. */
function acceptedFailures({ excused = 0 }: RolloutStatus, members: readonly GatewayProgress[], { spec }: RolloutFacts): number {
  return amountOf(spec.failAfter, members.length, Math.ceil) + excused
}

function failed(
  rollout: RolloutStatus,
  stage: Stage,
  { failures, of }: { failures: ReturnType<typeof failuresOf>; of: number },
  facts: RolloutFacts,
): RolloutStatus {
  const named = failures.slice(0, 5).map(({ pod, reason, why }) => `${pod}: ${reason}${why === undefined ? '' : ` (${why})`}`)
  const message = `${failures.length} of ${of} gateways of stage ${stage.name} failed: ${named.join(', ')}`
  return stop(rollout, { reason: 'RolloutFailed', message }, facts, facts.spec.onFailure)
}

/** Gateways that have not ended: some may not have begun. */
function waitForGateways(rollout: RolloutStatus, open: readonly GatewayProgress[], { spec, now }: RolloutFacts): StageStep {
  const { healthySince: _healthySince, ...waiting } = rollout
  const hasBegun = hasTurn(rollout)
  if (!open.some(hasBegun)) {
    return { kind: 'waits', rollout: { ...waiting, waitsFor: 'Window' }, wakeAt: nextOpening(spec.windows, now) }
  }
  const opening = open.every(hasBegun) ? undefined : nextOpening(spec.windows, now)
  // Whoever waits for somebody has no deadline.
  const deadline = open.some((gateway) => gateway.progress === 'moving' && hasBegun(gateway)) ? overdueAt(rollout, spec) : undefined
  return { kind: 'waits', rollout: { ...waiting, waitsFor: 'Gateways' }, wakeAt: earliest(deadline, opening) }
}

function earliest(...instants: (Temporal.Instant | undefined)[]): Temporal.Instant | undefined {
  return instants.filter((instant) => instant !== undefined).toSorted((a, b) => Temporal.Instant.compare(a, b))[0]
}

/** Every gateway has what is rolled out, and is watched for as long as the stage says. */
function soak(rollout: RolloutStatus, stage: Stage, { now }: RolloutFacts): StageStep {
  const healthySince = rollout.healthySince ?? timestamp(now)
  const healthy: RolloutStatus = { ...rollout, healthySince }
  const soakEnds = Temporal.Instant.from(healthySince).add({ milliseconds: Math.round(durationMs(stage.soak) ?? 0) })
  if (Temporal.Instant.compare(soakEnds, now) <= 0) return { kind: 'done', rollout: healthy }
  return { kind: 'waits', rollout: { ...healthy, waitsFor: 'Soak' }, wakeAt: soakEnds }
}
