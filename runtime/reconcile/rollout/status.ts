/**
 * Builds the rollout status: the counts of each stage, the end of a rollout, and how it went, for the history. Pure.
 */
import { maxNamedFailures, type RolloutStatus, type StageStatus } from '../../api/schema/rollout-status.ts'
import type { GatewayProgress, RolloutFacts, StagedFacts } from './facts.ts'
import { countedFailures } from './failures.ts'
import { timestamp } from '../../platform/clock.ts'
import type { RolloutSpec } from '../../api/schema/spec.ts'
import type { GatewaySyncStatus } from '../../api/schema/status.ts'

/** Returns the rollout with the counts of every stage of the spec, and the first failures of the current one. */
export function withCounts(rollout: RolloutStatus, { spec, members, now }: StagedFacts): RolloutStatus {
  const stages = spec.stages.map(({ name }, index): StageStatus => {
    const of = members[index] ?? []
    const { held: _held, silent: _silent, ...known } = stageStatusOf(rollout, name)
    const held = countOf(of, 'held')
    // Until it finishes, a stage waits for them; after that they count as failed.
    const silent = known.finishedAt === undefined ? 0 : countOf(of, 'moving')
    const failed = countedFailures(of, { rollout, stage: known, spec, now }).length
    const some = { ...(silent > 0 ? { silent } : {}), ...(held > 0 ? { held } : {}) }
    return { ...known, gateways: of.length, updated: countOf(of, 'updated'), failed, ...some }
  })
  const failures = stages
    .flatMap((stage, index) => countedFailures(members[index] ?? [], { rollout, stage, spec, now }))
    .slice(0, maxNamedFailures)
    .map(({ pod, reason }) => ({ pod, reason }))
  const { failures: _failures, ...others } = rollout
  return { ...others, stages, ...(failures.length > 0 ? { failures } : {}) }
}

/** Counts the gateways with this progress. */
export function countOf(members: readonly GatewayProgress[], progress: GatewayProgress['progress']): number {
  return members.filter((gateway) => gateway.progress === progress).length
}

/** Returns the status of a stage; all counts of a new one are 0. */
export function stageStatusOf({ stages = [] }: RolloutStatus, name: string): StageStatus {
  return stages.find((stage) => stage.name === name) ?? { name, gateways: 0, updated: 0, failed: 0 }
}

/** Returns the rollout with one stage changed. */
export function changeStage(rollout: RolloutStatus, name: string, change: Partial<StageStatus>): RolloutStatus {
  const { stages = [] } = rollout
  const changed = { ...stageStatusOf(rollout, name), ...change }
  const isKnown = stages.some((stage) => stage.name === name)
  return { ...rollout, stages: isKnown ? stages.map((stage) => (stage.name === name ? changed : stage)) : [...stages, changed] }
}

/** Returns the rollout without the state of its current stage. */
export function withoutStage(rollout: RolloutStatus): RolloutStatus {
  const { healthySince: _healthySince, excused: _excused, waitsFor: _waitsFor, ...others } = rollout
  return others
}

/** Whether a gateway still has to take something, regardless of its current state. */
export function needsMove({ progress }: GatewayProgress): boolean {
  return progress === 'moving' || progress === 'held' || progress === 'failed'
}

/** Every stage is done. */
export function done(rollout: RolloutStatus, facts: StagedFacts): RolloutStatus {
  return finished(withCounts(rollout, facts), timestamp(facts.now))
}

/** Admits every gateway to the published commit and clears the rollout's restrictions. */
export function finished(rollout: RolloutStatus, at: string): RolloutStatus {
  const { previous: _previous, allowed: _allowed, stage: _stage, waitsFor: _waitsFor, ...others } = rollout
  const { progressAt: _progressAt, healthySince: _healthySince, excused: _excused, failures: _failures, ...kept } = others
  const { reason: _reason, message: _message, ...rest } = kept
  return { ...rest, state: 'Done', finishedAt: at }
}

/** Ends a rollout that failed or was aborted: rolls back if requested and possible, otherwise stops. */
export function stop(
  rollout: RolloutStatus,
  { reason, message }: { reason: 'RolloutFailed' | 'RolloutAborted'; message: string },
  { now, target }: RolloutFacts,
  how: RolloutSpec['onFailure'],
): RolloutStatus {
  const { waitsFor: _waitsFor, ...others } = rollout
  const { previous, commit } = rollout
  const ended = { ...others, reason, message: message.slice(0, 1024), finishedAt: timestamp(now) }
  // A configuration has no commit to go back to, and a commit of another repository can no longer be fetched.
  const canGoBack = previous !== undefined && previous.commit !== commit && previous.repo === target.version.repo
  if (how === 'Stop' || !canGoBack) return { ...ended, state: 'Stopped' }
  return { ...ended, state: 'RolledBack', commit: previous.commit, refused: target.version }
}

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
