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
import { countedFailures, type Failure, hasDeadline, lastProgress, overdueAt } from './failures.ts'
import { amountOf, membersOf } from './stages.ts'
import { hasTurn } from './turn.ts'
import { giveTurns } from './turns.ts'
import { isOpen, nextOpening } from './windows.ts'

type StageStep =
  { kind: 'waits'; rollout: RolloutStatus; wakeAt: Temporal.Instant | undefined } | { kind: 'failed' | 'done'; rollout: RolloutStatus }

/** One step of a stage that is not done, whose gateways are `members`. */
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
  const judged = { rollout: progressed, stage: stageStatusOf(progressed, stage.name), spec: facts.spec, now: facts.now }
  const failures = countedFailures(members, judged)
  if (failures.length >= acceptedFailures(progressed.excused, members, facts)) {
    return { kind: 'failed', rollout: failed(progressed, stage, { failures, of: members.length }, facts) }
  }
  const going = giveTurns(progressed, stage, members, facts)
  const lost = new Set(failures.map(({ pod }) => pod))
  const open = members.filter((gateway) => needsMove(gateway) && !lost.has(gateway.pod))
  return open.length > 0 ? waitForGateways(going, stage, open, facts) : soak(going, stage, facts)
}

/**
 * A stage that is done, while later ones are at work: gateways that join begin at once. What those that have everything complain of since stops the
 * rollout as it would have in their stage, except where somebody has accepted it.
 */
export function runDoneStage(rollout: RolloutStatus, stage: Stage, members: readonly GatewayProgress[], facts: RolloutFacts): StageStep {
  const known = stageStatusOf(rollout, stage.name)
  const failures = countedFailures(members, { rollout, stage: known, spec: facts.spec, now: facts.now })
  if (failures.length >= acceptedFailures(known.excused, members, facts)) {
    return { kind: 'failed', rollout: failed(rollout, stage, { failures, of: members.length }, facts) }
  }
  return { kind: 'done', rollout: giveTurns(rollout, stage, members, facts) }
}

/**
 * A rollout that stands because of pods without an agent goes back all the same once a gateway says that the commit is bad. One that is silent
 * meanwhile says nothing of it: nobody notes its progress, so that it has no time of its own.
 */
export function goBackIfWorse(rollout: RolloutStatus, facts: RolloutFacts): RolloutStatus {
  const { spec, gateways, now } = facts
  if (rollout.reason !== 'RolloutFailed') return rollout
  const members = membersOf(spec.stages, gateways)
  for (const [index, stage] of spec.stages.entries()) {
    const [of = [], known] = [members[index], stageStatusOf(rollout, stage.name)]
    const failures = countedFailures(of, { rollout, stage: known, spec, now })
    const excused = stage.name === rollout.stage ? rollout.excused : known.excused
    if (failures.length < acceptedFailures(excused, of, facts) || !failures.some(({ kind }) => kind === 'refused')) continue
    const ended = failed(rollout, stage, { failures, of: of.length }, facts)
    if (ended.state === 'RolledBack') return ended
  }
  return rollout
}

function started(rollout: RolloutStatus, { name }: Stage, { now }: RolloutFacts): RolloutStatus {
  if (stageStatusOf(rollout, name).startedAt !== undefined) return rollout
  const at = timestamp(now)
  return changeStage({ ...rollout, progressAt: at }, name, { startedAt: at })
}

/**
 * The time of the last progress moves when a gateway has ended, when one goes on that waited for somebody, when a window opens after it, and when
 * one is no longer as it should be: the time until then was not its own.
 */
function noteProgress(
  rollout: RolloutStatus,
  stage: Stage,
  members: readonly GatewayProgress[],
  { spec, now }: RolloutFacts,
): RolloutStatus {
  const { updated, held = 0 } = stageStatusOf(rollout, stage.name)
  const isOpened = isOpen(spec.windows, now) && !isOpen(spec.windows, lastProgress(rollout))
  const isProgress = isOpened || countOf(members, 'updated') !== updated || countOf(members, 'held') < held
  return isProgress ? { ...rollout, progressAt: timestamp(now) } : rollout
}

/** So many failed gateways stop the rollout. */
function acceptedFailures(excused = 0, members: readonly GatewayProgress[], { spec }: RolloutFacts): number {
  return amountOf(spec.failAfter, members.length, Math.ceil) + excused
}

function failed(
  rollout: RolloutStatus,
  stage: Stage,
  { failures, of }: { failures: readonly Failure[]; of: number },
  facts: RolloutFacts,
): RolloutStatus {
  const named = failures.slice(0, 5).map(({ pod, reason, why }) => `${pod}: ${reason}${why === undefined ? '' : ` (${why})`}`)
  const message = `${failures.length} of ${of} gateways of stage ${stage.name} failed: ${named.join(', ')}`
  // Where nobody has tried the commit there is no reason to take it from those that run it.
  const isOfCommit = failures.some(({ kind }) => kind !== 'bare')
  return stop(rollout, { reason: 'RolloutFailed', message }, facts, isOfCommit ? facts.spec.onFailure : 'Hold')
}

/** Gateways that have not ended: some may not have begun. */
function waitForGateways(rollout: RolloutStatus, stage: Stage, open: readonly GatewayProgress[], { spec, now }: RolloutFacts): StageStep {
  const { healthySince: _healthySince, ...waiting } = rollout
  const hasBegun = hasTurn(rollout)
  const isTimed = hasDeadline({ rollout, stage: stageStatusOf(rollout, stage.name), spec })
  if (!open.some((gateway) => hasBegun(gateway) || isTimed(gateway)) && !isOpen(spec.windows, now)) {
    return { kind: 'waits', rollout: { ...waiting, waitsFor: 'Window' }, wakeAt: nextOpening(spec.windows, now) }
  }
  const opening = open.every(hasBegun) ? undefined : nextOpening(spec.windows, now)
  const deadline = open.some(isTimed) ? overdueAt(rollout, spec) : undefined
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
