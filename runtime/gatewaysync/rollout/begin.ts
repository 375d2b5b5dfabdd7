/**
 * The rollout that a pass goes on with: the present one, or a new one where something else is wanted than before. Pure.
 */
import { timestamp } from '../../clock.ts'
import type { RolloutStatus } from '../schema/rollout-status.ts'
import { finished } from './ending.ts'
import type { GatewayProgress, RolloutFacts } from './facts.ts'

/** The rollout that goes on, or a new one from the first stage. */
export function begin({ target, before, previous, now, gateways }: RolloutFacts): RolloutStatus {
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
  // A commit that never reached every gateway is nobody's base: those that wait keep what they have, and go straight to the new one.
  const base = previous?.state === 'Progressing' || previous?.state === 'Stopped' ? previous.before : before
  if (base !== undefined) rollout.before = base
  if (previous?.refused !== undefined && !isNewCommit) rollout.refused = previous.refused
  if (previous?.lastAction !== undefined) rollout.lastAction = previous.lastAction
  // The first commit of all finds no gateway with an earlier one that it could keep.
  if (base === undefined || (previous === undefined && isSettled(gateways))) return finished(rollout, at)
  return rollout
}

/** The time at which it began; of several within a second each has a number of its own. */
function idOf(previous: RolloutStatus | undefined, at: string): string {
  return previous?.startedAt === at ? `${at}.${Number(previous.id.split('.')[1] ?? 1) + 1}` : at
}

function sameConfigurations(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean {
  const names = Object.keys(a)
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name])
}

/** Whether every gateway has what is wanted already. */
function isSettled(gateways: readonly GatewayProgress[]): boolean {
  return gateways.every(({ progress }) => progress === 'updated')
}
