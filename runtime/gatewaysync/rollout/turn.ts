/**
 * Whether a gateway's turn has come in a staged rollout, as its agent reads it from the status, and how the controller says so. Pure.
 */
import { createHash } from 'node:crypto'
import type { RolloutStatus } from '../schema/rollout-status.ts'
import type { GatewaySyncStatus } from '../schema/status.ts'

/** How a pod is named among those whose turn has come. */
export function markOf(pod: string): string {
  return createHash('sha256').update(pod).digest('base64url').slice(0, 8)
}

/** As much of a syncHash as tells two configurations apart. */
export function shortSyncHash(syncHash: string): string {
  return syncHash.slice(0, -48)
}

/** Tells of a gateway whether its turn has come, also when it is done. */
export function hasTurn({ allowed = [] }: RolloutStatus): (gateway: { pod: string }) => boolean {
  const marks = new Set(allowed)
  return ({ pod }) => marks.has(markOf(pod))
}

/** Whether a gateway keeps what it has, because its turn has not come. */
export function isWaiting(rollout: RolloutStatus | undefined, pod: string): boolean {
  const isHeldBack = rollout?.state === 'Progressing' || rollout?.state === 'Stopped'
  return isHeldBack && rollout.allowed?.includes(markOf(pod)) !== true
}

/** `go`: the gateway may take what is published; `wait`: it keeps what it has. */
export type Turn =
  | { kind: 'go' }
  /** What a gateway whose volume holds nothing comes up with, and the stage that is at work. */
  | { kind: 'wait'; keep: { commit: string; ref: string }; stage: string | undefined }

type TurnFacts = {
  pod: string
  profile: string
  /** Of the configuration that the agent would apply. */
  syncHash: string
  inPlace: { commit?: string | undefined; syncHash?: string | undefined } | undefined
}

/**
 * Whether an agent may bring the published commit and its present configuration. Fails closed: as long as the controller has not said that it
 * knows this very configuration, nobody's turn has come. What is in place already is no move, and so nobody waits for it.
 */
export function turnOf(
  { published, rollout }: GatewaySyncStatus & { published: NonNullable<GatewaySyncStatus['published']> },
  { pod, profile, syncHash, inPlace }: TurnFacts,
): Turn {
  const hasAll = inPlace?.commit === published.commit && inPlace.syncHash === syncHash
  if (hasAll) return { kind: 'go' }
  const wait: Turn = { kind: 'wait', keep: rollout?.before ?? published, stage: rollout?.stage }
  if (rollout === undefined || rollout.commit !== published.commit) return wait
  // To go back never waits; a configuration that failed elsewhere is no reason to move where the commit is in place.
  if (rollout.state === 'RolledBack' && inPlace?.commit !== published.commit) return { kind: 'go' }
  const known = Object.hasOwn(rollout.configurations, profile) ? rollout.configurations[profile] : undefined
  if (known !== shortSyncHash(syncHash)) return wait
  if (rollout.state === 'Done') return { kind: 'go' }
  return rollout.allowed?.includes(markOf(pod)) === true ? { kind: 'go' } : wait
}
