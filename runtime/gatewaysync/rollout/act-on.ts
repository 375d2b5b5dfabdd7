/**
 * What becomes of a rollout by what somebody asks of it: an approval, an abort or a resume. Pure.
 */
import { timestamp } from '../../clock.ts'
import type { RolloutStatus } from '../schema/rollout-status.ts'
import type { RolloutAction } from './action.ts'
import { stageStatusOf } from './counts.ts'
import { stop } from './ending.ts'
import type { RolloutFacts } from './facts.ts'

/** The rollout after the action, which is noted so that it is done once. One that is meant for another rollout, or comes too late, changes nothing else. */
export function actOn(rollout: RolloutStatus, facts: RolloutFacts): RolloutStatus {
  const { action } = facts
  if (action === undefined || action.digest === rollout.lastAction) return rollout
  const noted = { ...rollout, lastAction: action.digest }
  if (action.id !== rollout.id || (rollout.state !== 'Progressing' && rollout.state !== 'Stopped')) return noted
  if (action.verb === 'abort') return stop(noted, { reason: 'RolloutAborted', message: `${action.by} aborted it` }, facts, 'Rollback')
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

/** It goes on in spite of the failures that were counted while it stood; only more of them stop it again. */
function resumed(rollout: RolloutStatus, { now }: RolloutFacts): RolloutStatus {
  const { reason: _reason, message: _message, finishedAt: _finishedAt, healthySince: _since, ...going } = rollout
  const excused = rollout.stage === undefined ? 0 : stageStatusOf(rollout, rollout.stage).failed
  const stages = rollout.stages?.map((stage) =>
    stage.finishedAt === undefined || stage.failed === 0 ? stage : { ...stage, excused: Math.max(stage.excused ?? 0, stage.failed) },
  )
  return { ...going, ...(stages === undefined ? {} : { stages }), state: 'Progressing', progressAt: timestamp(now), excused }
}
