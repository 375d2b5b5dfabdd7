/**
 * Advances a staged rollout by one step, given the stages, the gateways, the target and the previous state. The status holds the whole state,
 * so any reconcile of any replica can continue it. Pure.
 *
 *     Progressing --every stage is done--> Done
 *     Progressing --failed with onFailure: Stop, or without a commit to go back to--> Stopped
 *     Progressing --aborted, or failed with onFailure: Rollback--> RolledBack
 *     Stopped --resumed--> Progressing
 *     Stopped --aborted, or a gateway reports a bad commit with onFailure: Rollback--> RolledBack
 *     any state --another commit or configuration--> Progressing, from the first stage
 */
import * as v from 'valibot'
import { rolloutSpec } from '../../api/schema/rollout-spec.ts'
import { timestamp } from '../../platform/clock.ts'
import { Temporal } from '../../platform/temporal.ts'
import type { RolloutStatus } from '../../api/schema/rollout-status.ts'
import type { GatewaySyncSpec, RolloutSpec, Stage } from '../../api/schema/spec.ts'
import type { RolloutAction } from './action.ts'
import { changeStage, stageStatusOf, withCounts, withoutStage, done, finished, stop } from './status.ts'
import type { GatewayProgress, RolloutFacts, StagedFacts, Step } from './facts.ts'
import { countedFailures } from './failures.ts'
import { rollBackIfWorse, runDoneStage, runStage } from './run-stage.ts'
import { membersOf } from './stages.ts'

/** Advances the rollout by one step. Never throws. */
export function advance(given: RolloutFacts): Step {
  const rollout = actOn(begin(given), given)
  if (rollout.state === 'Done' || rollout.state === 'RolledBack') return { rollout, wakeAt: undefined }
  const facts: StagedFacts = { ...given, members: membersOf(given.spec.stages, given.gateways) }
  // While sync is paused, reports say paused and not what failed.
  if (rollout.state === 'Stopped')
    return { rollout: facts.paused ? rollout : withCounts(rollBackIfWorse(rollout, facts), facts), wakeAt: undefined }
  if (isSkipped(rollout, facts.skip)) return { rollout: done(rollout, facts), wakeAt: undefined }
  if (facts.paused) return { rollout: withCounts({ ...rollout, waitsFor: 'Pause' }, facts), wakeAt: undefined }
  return runStages(afterPause(rollout, facts.now), facts)
}

/** Only a commit may skip the stages: an annotation left behind does not apply to a later configuration change. */
function isSkipped({ commit, previous }: RolloutStatus, skip: string | undefined): boolean {
  return skip === commit && previous?.commit !== commit
}

/** Paused time does not count towards deadlines or soak time. */
function afterPause(rollout: RolloutStatus, now: Temporal.Instant): RolloutStatus {
  if (rollout.waitsFor !== 'Pause') return rollout
  const { healthySince: _healthySince, ...others } = rollout
  return { ...others, progressAt: timestamp(now) }
}

/** Runs the stages in order, as far as they are done. */
function runStages(rollout: RolloutStatus, facts: StagedFacts): Step {
  let state = rollout
  for (const [index, stage] of facts.spec.stages.entries()) {
    const of: readonly GatewayProgress[] = facts.members[index] ?? []
    // A stage inserted before the current one runs first.
    const wasDone = stageStatusOf(state, stage.name).finishedAt !== undefined
    const step = wasDone ? runDoneStage(state, stage, of, facts) : runStage(entering(state, stage.name), stage, of, facts)
    if (step.kind === 'waits') return { rollout: withCounts(step.rollout, facts), wakeAt: step.wakeAt }
    if (step.kind === 'failed') return { rollout: withCounts(step.rollout, facts), wakeAt: undefined }
    state = wasDone ? step.rollout : endStage(step.rollout, stage, of, facts)
  }
  return { rollout: done(state, facts), wakeAt: undefined }
}

/** Failures accepted by a resume stay accepted while the gateways still report them; silence no longer counts. */
function endStage(
  rollout: RolloutStatus,
  { name }: Stage,
  members: readonly GatewayProgress[],
  { spec, now }: RolloutFacts,
): RolloutStatus {
  const at = timestamp(now)
  const ended = changeStage(rollout, name, { finishedAt: at })
  const refusing = countedFailures(members, { rollout: ended, stage: stageStatusOf(ended, name), spec, now }).length
  const excused = Math.min(rollout.excused ?? 0, refusing)
  return { ...(excused === 0 ? ended : changeStage(ended, name, { excused })), progressAt: at }
}

/** Drops the state of another stage. */
function entering(rollout: RolloutStatus, stage: string): RolloutStatus {
  return rollout.stage === stage ? rollout : { ...withoutStage(rollout), stage }
}

/**
 * Returns the rollout after the action and records it as executed. An action for another rollout, or one that is too late, changes nothing
 * else.
 */
function actOn(rollout: RolloutStatus, facts: RolloutFacts): RolloutStatus {
  const { action } = facts
  if (action === undefined || action.digest === rollout.lastAction) return rollout
  const noted = { ...rollout, lastAction: action.digest }
  if (action.id !== rollout.id || (rollout.state !== 'Progressing' && rollout.state !== 'Stopped')) return noted
  if (action.verb === 'abort') return stop(noted, { reason: 'RolloutAborted', message: `aborted by ${action.by}` }, facts, 'Rollback')
  if (action.verb === 'approve') return approved(noted, action, facts)
  return rollout.state === 'Stopped' ? resumed(noted, facts) : noted
}

function approved(rollout: RolloutStatus, action: RolloutAction, { spec, now }: RolloutFacts): RolloutStatus {
  if (!spec.stages.some(({ name }) => name === action.stage)) return rollout
  const approval = { approvedBy: action.by, approvedAt: timestamp(now) }
  const stages = spec.stages.map(({ name }) => {
    const stage = stageStatusOf(rollout, name)
    return name === action.stage ? { ...stage, ...approval } : stage
  })
  return { ...rollout, stages }
}

/** Continues despite the failures counted so far; only more failures stop it again. */
function resumed(rollout: RolloutStatus, { now }: RolloutFacts): RolloutStatus {
  const { reason: _reason, message: _message, finishedAt: _finishedAt, healthySince: _since, ...going } = rollout
  const excused = rollout.stage === undefined ? 0 : stageStatusOf(rollout, rollout.stage).failed
  const stages = rollout.stages?.map((stage) =>
    stage.finishedAt === undefined || stage.failed === 0 ? stage : { ...stage, excused: Math.max(stage.excused ?? 0, stage.failed) },
  )
  return { ...going, ...(stages === undefined ? {} : { stages }), state: 'Progressing', progressAt: timestamp(now), excused }
}

/** A harmful commit shows within this time: the gateway's container exits, or the gateway reports problems. */
const provenAfterMs = 3_600_000

/** Returns the current rollout, or a new one at the first stage. */
function begin({ spec, target, before, previous, now, gateways }: RolloutFacts): RolloutStatus {
  const { version, configurations } = target
  const { commit } = version
  if (previous !== undefined && previous.commit === commit && sameConfigurations(previous.configurations, configurations)) return previous
  const at = timestamp(now)
  const isNewCommit = previous?.commit !== commit
  const rollout: RolloutStatus = {
    state: 'Progressing',
    id: idOf(previous, at),
    commit,
    configurations: { ...configurations },
    startedAt: at,
    progressAt: at,
  }
  // A commit that never reached every gateway is not a base: waiting gateways keep theirs and move directly to the new one.
  const isUnproven = previous?.state === 'Stopped' || (previous?.state === 'Progressing' && !(isOneStage(spec) && isProven(previous, now)))
  const base = isUnproven ? previous.previous : before
  if (base !== undefined) rollout.previous = base
  if (previous?.refused !== undefined && !isNewCommit) rollout.refused = previous.refused
  if (previous?.lastAction !== undefined) rollout.lastAction = previous.lastAction
  // At the very first commit, gateways have no earlier one to keep.
  if (base === undefined || (previous === undefined && isSettled(gateways))) return finished(rollout, at)
  return rollout
}

/**
 * Whether gateways have run it long enough without failures to be a rollback target, even if some have not taken it. Otherwise a gateway
 * that is off or has no agent would pin the rollback target to an old commit.
 */
function isProven({ waitsFor, stages = [], progressAt, startedAt }: RolloutStatus, now: Temporal.Instant): boolean {
  const [stage, ...others] = stages
  const since = Temporal.Instant.from(progressAt ?? startedAt).add({ milliseconds: provenAfterMs })
  const isHeld = waitsFor === 'Pause' || others.length > 0
  return !isHeld && stage !== undefined && stage.updated > 0 && stage.failed === 0 && Temporal.Instant.compare(now, since) >= 0
}

/** The start time; rollouts within the same second are numbered. */
function idOf(previous: RolloutStatus | undefined, at: string): string {
  return previous?.startedAt === at ? `${at}.${Number(previous.id.split('.')[1] ?? 1) + 1}` : at
}

function sameConfigurations(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean {
  const names = Object.keys(a)
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name])
}

/** Whether every gateway already has the target. */
function isSettled(gateways: readonly GatewayProgress[]): boolean {
  return gateways.every(({ progress }) => progress === 'updated')
}

/**
 * A gateway that is off or waits for a Designer is not a verdict about the commit, however long it takes; one that applied it is watched
 * for a while.
 */
const oneStage: RolloutSpec = v.parse(rolloutSpec, {
  stages: [{ name: 'all', soak: '1m' }],
  onFailure: 'Rollback',
  progressDeadline: '999999h',
})

/** Whether all gateways take a commit at the same time, with automatic rollback. */
function isOneStage(spec: RolloutSpec): boolean {
  return spec === oneStage
}

/** Returns the rollout of a spec; undefined if every gateway takes a commit at the same time, without rollback. */
export function rolloutOf({ rollout, sync }: Pick<GatewaySyncSpec, 'rollout' | 'sync'>): RolloutSpec | undefined {
  return rollout ?? (sync.rollbackOnFailedScan ? oneStage : undefined)
}
