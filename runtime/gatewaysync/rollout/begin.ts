/**
 * The rollout that a pass goes on with: the present one, or a new one where something else is wanted than before. Pure.
 */
import { timestamp } from '../../clock.ts'
import type { RolloutStatus } from '../schema/rollout-status.ts'
import { finished } from './ending.ts'
import type { GatewayProgress, RolloutFacts } from './facts.ts'
import { isOneStage } from './one-stage.ts'

/** A gateway that a commit harms shows it within this time: its container ends, or it complains. */
const provenAfterMs = 3_600_000

/** The rollout that goes on, or a new one from the first stage. */
export function begin({ spec, target, before, previous, now, gateways }: RolloutFacts): RolloutStatus {
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
  const isUnproven = previous?.state === 'Stopped' || (previous?.state === 'Progressing' && !(isOneStage(spec) && isProven(previous, now)))
  const base = isUnproven ? previous.before : before
  if (base !== undefined) rollout.before = base
  if (previous?.refused !== undefined && !isNewCommit) rollout.refused = previous.refused
  if (previous?.lastAction !== undefined) rollout.lastAction = previous.lastAction
  // The first commit of all finds no gateway with an earlier one that it could keep.
  if (base === undefined || (previous === undefined && isSettled(gateways))) return finished(rollout, at)
  return rollout
}

/**
 * Whether gateways run it and none has failed for so long that it is worth going back to, although some have not taken it: one that is off, or
 * that nobody has given an agent, would else keep the way back at the commit from before it went.
 */
function isProven({ waitsFor, stages = [], progressAt, startedAt }: RolloutStatus, now: Temporal.Instant): boolean {
  const [stage, ...others] = stages
  const since = Temporal.Instant.from(progressAt ?? startedAt).add({ milliseconds: provenAfterMs })
  const isHeld = waitsFor === 'Pause' || others.length > 0
  return !isHeld && stage !== undefined && stage.updated > 0 && stage.failed === 0 && Temporal.Instant.compare(now, since) >= 0
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
