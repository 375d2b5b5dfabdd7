/**
 * Records how a rollout went, stage by stage, with its commit in the history once it has ended or was replaced. Pure.
 */
import type { RolloutStatus, StageStatus } from '../../api/schema/rollout-status.ts'
import type { GatewaySyncStatus } from '../../api/schema/status.ts'

type History = NonNullable<GatewaySyncStatus['history']>
type Entry = History[number]

/** Returns the history after a step from `before` to `now`. A rollout of a configuration alone is not recorded. */
export function withStages(history: History, before: RolloutStatus | undefined, now: RolloutStatus | undefined): History {
  const ended = endedIn(before, now)
  if (ended === undefined) return history
  const stages = (ended.stages ?? []).filter(({ startedAt }) => startedAt !== undefined).map(stageOf)
  const index = history.findIndex(({ commit }) => commit === ended.commit)
  if (stages.length === 0 || index < 0) return history
  return history.map((entry, at) => (at === index ? { ...entry, stages } : entry))
}

/** Returns the rollout that a step ended, with its commit. */
function endedIn(
  before: RolloutStatus | undefined,
  now: RolloutStatus | undefined,
): { commit: string; stages: RolloutStatus['stages'] } | undefined {
  if (before?.previous === undefined || before.previous.commit === before.commit) return undefined
  if (before.state !== 'Progressing' && before.state !== 'Stopped') return undefined
  if (now === undefined || now.id !== before.id) return { commit: before.commit, stages: before.stages }
  const isEnd = now.state !== 'Progressing' && now.state !== before.state
  return isEnd ? { commit: before.commit, stages: now.stages } : undefined
}

function stageOf({ name, gateways, failed, silent, startedAt, finishedAt, approvedBy }: StageStatus): NonNullable<Entry['stages']>[number] {
  return {
    name,
    gateways,
    failed,
    ...(silent === undefined ? {} : { silent }),
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(finishedAt === undefined ? {} : { finishedAt }),
    ...(approvedBy === undefined ? {} : { approvedBy }),
  }
}
