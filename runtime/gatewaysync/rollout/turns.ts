/**
 * Which gateways of a stage may begin now. Pure.
 */
import { timestamp } from '../../clock.ts'
import { maxAllowed, type RolloutStatus } from '../schema/rollout-status.ts'
import type { Stage } from '../schema/spec.ts'
import { needsMove, stageStatusOf } from './counts.ts'
import type { GatewayProgress, RolloutFacts } from './facts.ts'
import { failuresOf } from './failures.ts'
import { amountOf } from './stages.ts'
import { hasTurn, markOf } from './turn.ts'
import { isOpen } from './windows.ts'

/** Lets as many gateways of a stage begin as may be under way at once, where a window is open. */
export function giveTurns(rollout: RolloutStatus, stage: Stage, members: readonly GatewayProgress[], facts: RolloutFacts): RolloutStatus {
  const { spec, now } = facts
  const hasBegun = hasTurn(rollout)
  const judged = { rollout, stage: stageStatusOf(rollout, stage.name), spec, now }
  const failed = new Set(failuresOf(members, judged).map(({ pod }) => pod))
  // Without an agent nothing begins: a turn would keep its place from one that can, and let it begin out of turn once it has an agent.
  const waiting = members.filter((gateway) => !hasBegun(gateway) && needsMove(gateway) && !isBare(gateway))
  // One that waits because of local changes keeps its place: it goes on the moment that somebody lets it.
  const underWay = members.filter((gateway) => hasBegun(gateway) && isUnderWay(gateway) && !failed.has(gateway.pod)).length
  // What is there already needs nobody's leave, and a gateway that writes nothing takes nobody's place.
  const free = members.filter((gateway) => !hasBegun(gateway) && gateway.progress === 'updated')
  const places = isOpen(spec.windows, now) ? amountOf(stage.maxConcurrent, members.length, Math.floor) - underWay : 0
  const next = waiting.slice(0, Math.max(0, places))
  if (next.length + free.length === 0) return rollout
  const allowed = withMarks(rollout, [...free, ...next], facts.gateways)
  return { ...rollout, allowed, ...(next.length > 0 ? { progressAt: timestamp(now) } : {}) }
}

function isBare(gateway: GatewayProgress): boolean {
  return gateway.progress === 'moving' && gateway.isBare === true
}

function isUnderWay({ progress }: GatewayProgress): boolean {
  return progress === 'moving' || progress === 'held'
}

/** A pod that is made anew keeps its turn; only of names that never come back there may be no end. */
function withMarks({ allowed = [] }: RolloutStatus, more: readonly GatewayProgress[], gateways: readonly GatewayProgress[]): string[] {
  const marks = [...allowed, ...more.map(({ pod }) => markOf(pod))]
  if (marks.length <= maxAllowed) return marks
  const present = new Set(gateways.map(({ pod }) => markOf(pod)))
  const kept = [...marks.filter((mark) => !present.has(mark)), ...marks.filter((mark) => present.has(mark))]
  return kept.slice(-maxAllowed)
}
