/**
 * What the status of a rollout says of each stage. Pure.
 */
import { maxNamedFailures, type RolloutStatus, type StageStatus } from '../schema/rollout-status.ts'
import type { GatewayProgress, RolloutFacts } from './facts.ts'
import { countedFailures } from './failures.ts'
import { membersOf } from './stages.ts'

/** The rollout with the counts of every stage of the spec, and the first failures of the present one. */
export function withCounts(rollout: RolloutStatus, { spec, gateways, now }: RolloutFacts): RolloutStatus {
  const members = membersOf(spec.stages, gateways)
  const stages = spec.stages.map(({ name }, index): StageStatus => {
    const of = members[index] ?? []
    const { held: _held, silent: _silent, ...known } = stageStatusOf(rollout, name)
    const held = countOf(of, 'held')
    // Before its end a stage waits for them, and then they have failed.
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

/** How many of the gateways are as `progress` says. */
export function countOf(members: readonly GatewayProgress[], progress: GatewayProgress['progress']): number {
  return members.filter((gateway) => gateway.progress === progress).length
}

/** What is known of a stage; all counts are 0 where it is new. */
export function stageStatusOf({ stages = [] }: RolloutStatus, name: string): StageStatus {
  return stages.find((stage) => stage.name === name) ?? { name, gateways: 0, updated: 0, failed: 0 }
}

/** The rollout with something changed of one stage. */
export function changeStage(rollout: RolloutStatus, name: string, change: Partial<StageStatus>): RolloutStatus {
  const { stages = [] } = rollout
  const changed = { ...stageStatusOf(rollout, name), ...change }
  const isKnown = stages.some((stage) => stage.name === name)
  return { ...rollout, stages: isKnown ? stages.map((stage) => (stage.name === name ? changed : stage)) : [...stages, changed] }
}

/** The rollout without what is noted of its present stage alone. */
export function withoutStage(rollout: RolloutStatus): RolloutStatus {
  const { healthySince: _healthySince, excused: _excused, waitsFor: _waitsFor, ...others } = rollout
  return others
}

/** Whether a gateway is to take something yet, whatever its present state says about it. */
export function needsMove({ progress }: GatewayProgress): boolean {
  return progress === 'moving' || progress === 'held' || progress === 'failed'
}
