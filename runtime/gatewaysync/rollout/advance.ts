/**
 * One step of a staged rollout: given the stages, the gateways, what is wanted and how far the rollout was, how far it is now and when it may
 * go on by itself. A state machine whose whole state is the status: any pass, of whichever controller, continues the one before. Pure.
 *
 *     Progressing --every stage done--> Done
 *        | ^                              \
 *  failed| |resume                         another commit or configuration
 *        v |                                \
 *     Stopped --abort--> RolledBack ---------> Progressing, from the first stage
 *        \______ another commit ____________/
 */
import { timestamp } from '../../clock.ts'
import type { RolloutStatus } from '../schema/rollout-status.ts'
import type { Stage } from '../schema/spec.ts'
import { actOn } from './act-on.ts'
import { begin } from './begin.ts'
import { changeStage, stageStatusOf, withCounts, withoutStage } from './counts.ts'
import { done } from './ending.ts'
import type { GatewayProgress, RolloutFacts, Step } from './facts.ts'
import { countedFailures } from './failures.ts'
import { goBackIfWorse, runDoneStage, runStage } from './run-stage.ts'
import { membersOf } from './stages.ts'

/** How far the rollout is now. Never throws. */
export function advance(facts: RolloutFacts): Step {
  const rollout = actOn(begin(facts), facts)
  if (rollout.state === 'Done' || rollout.state === 'RolledBack') return { rollout, wakeAt: undefined }
  // While nothing is written, reports tell of the pause and not of what has failed.
  if (rollout.state === 'Stopped')
    return { rollout: facts.paused ? rollout : withCounts(goBackIfWorse(rollout, facts), facts), wakeAt: undefined }
  if (isSkipped(rollout, facts.skip)) return { rollout: done(rollout, facts), wakeAt: undefined }
  if (facts.paused) return { rollout: withCounts({ ...rollout, waitsFor: 'Pause' }, facts), wakeAt: undefined }
  return runStages(afterPause(rollout, facts.now), facts)
}

/** A commit alone may skip the stages: left behind, the annotation says nothing about a later change of the configuration. */
function isSkipped({ commit, before }: RolloutStatus, skip: string | undefined): boolean {
  return skip === commit && before?.commit !== commit
}

/** The time of a pause is not time in which a gateway could have moved, nor one in which anybody has watched it. */
function afterPause(rollout: RolloutStatus, now: Temporal.Instant): RolloutStatus {
  if (rollout.waitsFor !== 'Pause') return rollout
  const { healthySince: _healthySince, ...others } = rollout
  return { ...others, progressAt: timestamp(now) }
}

/** Takes the stages one after the other, as far as they are done. */
function runStages(rollout: RolloutStatus, facts: RolloutFacts): Step {
  const members = membersOf(facts.spec.stages, facts.gateways)
  let state = rollout
  for (const [index, stage] of facts.spec.stages.entries()) {
    const of: readonly GatewayProgress[] = members[index] ?? []
    // A stage that was put before the present one comes first.
    const wasDone = stageStatusOf(state, stage.name).finishedAt !== undefined
    const step = wasDone ? runDoneStage(state, stage, of, facts) : runStage(entering(state, stage.name), stage, of, facts)
    if (step.kind === 'waits') return { rollout: withCounts(step.rollout, facts), wakeAt: step.wakeAt }
    if (step.kind === 'failed') return { rollout: withCounts(step.rollout, facts), wakeAt: undefined }
    state = wasDone ? step.rollout : endStage(step.rollout, stage, of, facts)
  }
  return { rollout: done(state, facts), wakeAt: undefined }
}

/** What was accepted of a stage by resuming stays accepted, as far as gateways still complain: silence counts no more. */
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

/** What was noted of another stage says nothing about this one. */
function entering(rollout: RolloutStatus, stage: string): RolloutStatus {
  return rollout.stage === stage ? rollout : { ...withoutStage(rollout), stage }
}
