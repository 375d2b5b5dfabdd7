/**
 * Runs one stage of a rollout: whether it may begin, which gateways it admits, and whether it waits, has failed or is done. Pure.
 */
import { timestamp } from '../../platform/clock.ts'
import { Temporal } from '../../platform/temporal.ts'
import { durationMs } from '../../api/schema/fields.ts'
import { maxAllowed, type RolloutStatus } from '../../api/schema/rollout-status.ts'
import type { Stage } from '../../api/schema/spec.ts'
import { changeStage, countOf, needsMove, stageStatusOf, stop } from './status.ts'
import type { GatewayProgress, RolloutFacts, StagedFacts } from './facts.ts'
import { countedFailures, type Failure, failuresOf, hasDeadline, lastProgress, overdueAt } from './failures.ts'
import { amountOf } from './stages.ts'
import { isAdmitted, podHash } from './stage-admission.ts'
import { isOpen, nextOpening } from './windows.ts'

type StageStep =
  { kind: 'waits'; rollout: RolloutStatus; wakeAt: Temporal.Instant | undefined } | { kind: 'failed' | 'done'; rollout: RolloutStatus }

/** Runs one step of an unfinished stage whose gateways are `members`. */
export function runStage(rollout: RolloutStatus, stage: Stage, members: readonly GatewayProgress[], facts: RolloutFacts): StageStep {
  const known = stageStatusOf(rollout, stage.name)
  // A stage whose gateways already have everything needs neither approval nor soak time.
  if (known.startedAt === undefined && !members.some(needsMove)) {
    return { kind: 'done', rollout: admitGateways(rollout, stage, members, facts) }
  }
  if (stage.approval === 'Manual' && known.startedAt === undefined && known.approvedAt === undefined) {
    return { kind: 'waits', rollout: { ...rollout, waitsFor: 'Approval' }, wakeAt: undefined }
  }
  const progressed = noteProgress(started(rollout, stage, facts), stage, members, facts)
  const context = { rollout: progressed, stage: stageStatusOf(progressed, stage.name), spec: facts.spec, now: facts.now }
  const failures = countedFailures(members, context)
  if (failures.length >= acceptedFailures(progressed.excused, members, facts)) {
    return { kind: 'failed', rollout: failed(progressed, stage, { failures, of: members.length }, facts) }
  }
  const going = admitGateways(progressed, stage, members, facts)
  const lost = new Set(failures.map(({ pod }) => pod))
  const open = members.filter((gateway) => needsMove(gateway) && !lost.has(gateway.pod))
  return open.length > 0 ? waitForGateways(going, stage, open, facts) : soak(going, stage, facts)
}

/**
 * Runs a finished stage while later ones are active: new gateways are admitted immediately. Problems reported since then stop the rollout
 * as they would have in their stage, unless accepted by a resume.
 */
export function runDoneStage(rollout: RolloutStatus, stage: Stage, members: readonly GatewayProgress[], facts: RolloutFacts): StageStep {
  const known = stageStatusOf(rollout, stage.name)
  const failures = countedFailures(members, { rollout, stage: known, spec: facts.spec, now: facts.now })
  if (failures.length >= acceptedFailures(known.excused, members, facts)) {
    return { kind: 'failed', rollout: failed(rollout, stage, { failures, of: members.length }, facts) }
  }
  return { kind: 'done', rollout: admitGateways(rollout, stage, members, facts) }
}

/**
 * Rolls back a rollout that stopped because of pods without an agent once a gateway reports a bad commit. A gateway that does not report
 * does not count: its progress is not recorded while stopped.
 */
export function rollBackIfWorse(rollout: RolloutStatus, facts: StagedFacts): RolloutStatus {
  const { spec, members, now } = facts
  if (rollout.reason !== 'RolloutFailed') return rollout
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
 * The time of the last progress moves when a gateway is updated, when a held one continues, when a window opens, and when a gateway is no
 * longer healthy: the time before does not count against it.
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

/** Number of failed gateways that the stage accepts. */
function acceptedFailures(excused = 0, members: readonly GatewayProgress[], { spec }: RolloutFacts): number {
  return amountOf(spec.failureThreshold, members.length, Math.ceil) + excused
}

function failed(
  rollout: RolloutStatus,
  stage: Stage,
  { failures, of }: { failures: readonly Failure[]; of: number },
  facts: RolloutFacts,
): RolloutStatus {
  const named = failures.slice(0, 5).map(({ pod, reason, why }) => `${pod}: ${reason}${why === undefined ? '' : ` (${why})`}`)
  const message = `${failures.length} of ${of} gateways of stage ${stage.name} failed: ${named.join(', ')}`
  // If no gateway has tried the commit, those that run it need no rollback.
  const isOfCommit = failures.some(({ kind }) => kind !== 'noAgent')
  return stop(rollout, { reason: 'RolloutFailed', message }, facts, isOfCommit ? facts.spec.onFailure : 'Stop')
}

/** Waits for gateways that have not finished; some may not be admitted yet. */
function waitForGateways(rollout: RolloutStatus, stage: Stage, open: readonly GatewayProgress[], { spec, now }: RolloutFacts): StageStep {
  const { healthySince: _healthySince, ...waiting } = rollout
  const hasBegun = isAdmitted(rollout)
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

/** Every gateway has the target and is watched for the stage's soak time. */
function soak(rollout: RolloutStatus, stage: Stage, { now }: RolloutFacts): StageStep {
  const healthySince = rollout.healthySince ?? timestamp(now)
  const healthy: RolloutStatus = { ...rollout, healthySince }
  const soakEnds = Temporal.Instant.from(healthySince).add({ milliseconds: Math.round(durationMs(stage.soak) ?? 0) })
  if (Temporal.Instant.compare(soakEnds, now) <= 0) return { kind: 'done', rollout: healthy }
  return { kind: 'waits', rollout: { ...healthy, waitsFor: 'Soak' }, wakeAt: soakEnds }
}

/** Admits up to the maximum number of unavailable gateways of a stage while a window is open. */
function admitGateways(rollout: RolloutStatus, stage: Stage, members: readonly GatewayProgress[], facts: RolloutFacts): RolloutStatus {
  const { spec, now } = facts
  const hasBegun = isAdmitted(rollout)
  const context = { rollout, stage: stageStatusOf(rollout, stage.name), spec, now }
  const failedPods = new Set(failuresOf(members, context).map(({ pod }) => pod))
  // A pod without an agent is not admitted: it would block the slot, and move out of order once it has an agent.
  const waiting = members.filter((gateway) => !hasBegun(gateway) && needsMove(gateway) && !hasNoAgent(gateway))
  // A gateway held by local changes keeps its slot: it continues as soon as they are resolved.
  const underWay = members.filter((gateway) => hasBegun(gateway) && isUnderWay(gateway) && !failedPods.has(gateway.pod)).length
  // Updated gateways need no admission, and excluded ones take no slot.
  const free = members.filter((gateway) => !hasBegun(gateway) && gateway.progress === 'updated')
  const places = isOpen(spec.windows, now) ? amountOf(stage.maxConcurrent, members.length, Math.floor) - underWay : 0
  const next = waiting.slice(0, Math.max(0, places))
  if (next.length + free.length === 0) return rollout
  const allowed = withAdmissions(rollout, [...free, ...next], facts.gateways)
  return { ...rollout, allowed, ...(next.length > 0 ? { progressAt: timestamp(now) } : {}) }
}

function hasNoAgent(gateway: GatewayProgress): boolean {
  return gateway.progress === 'moving' && gateway.hasNoAgent === true
}

function isUnderWay({ progress }: GatewayProgress): boolean {
  return progress === 'moving' || progress === 'held'
}

/** A recreated pod keeps its admission; only entries of names that never return are limited. */
function withAdmissions({ allowed = [] }: RolloutStatus, more: readonly GatewayProgress[], gateways: readonly GatewayProgress[]): string[] {
  const hashes = [...allowed, ...more.map(({ pod }) => podHash(pod))]
  if (hashes.length <= maxAllowed) return hashes
  const present = new Set(gateways.map(({ pod }) => podHash(pod)))
  const kept = [...hashes.filter((hash) => !present.has(hash)), ...hashes.filter((hash) => present.has(hash))]
  return kept.slice(-maxAllowed)
}
