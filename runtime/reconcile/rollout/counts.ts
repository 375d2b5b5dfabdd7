/**
 * Computes the counts of each stage in the rollout status. Pure.
 */
import { maxNamedFailures, type RolloutStatus, type StageStatus } from '../../api/schema/rollout-status.ts'
import type { GatewayProgress, RolloutFacts } from './facts.ts'
import { countedFailures } from './failures.ts'
import { membersOf } from './stages.ts'

/** Returns the rollout with the counts of every stage of the spec, and the first failures of the current one. */
export function withCounts(rollout: RolloutStatus, { spec, gateways, now }: RolloutFacts): RolloutStatus {
  const members = membersOf(spec.stages, gateways)
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
