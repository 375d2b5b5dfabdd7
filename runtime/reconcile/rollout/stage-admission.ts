/**
 * Decides whether a staged rollout admits a gateway, as its agent reads it from the status. Pure.
 */
import { createHash } from 'node:crypto'
import { isUnderWay, type RolloutStatus } from '../../api/schema/rollout-status.ts'
import type { GatewaySyncStatus } from '../../api/schema/status.ts'

/** Returns the entry of a pod in `allowed` of the rollout status: a short hash of its name. */
export function podHash(pod: string): string {
  return createHash('sha256').update(pod).digest('base64url').slice(0, 8)
}

/** The prefix of a syncHash that distinguishes two configurations. */
export function shortSyncHash(syncHash: string): string {
  return syncHash.slice(0, -48)
}

/** Returns a predicate for admitted gateways, including updated ones. */
export function isAdmitted({ allowed = [] }: RolloutStatus): (gateway: { pod: string }) => boolean {
  const hashes = new Set(allowed)
  return ({ pod }) => hashes.has(podHash(pod))
}

/** Whether a gateway keeps its commit because it is not admitted yet. */
export function isWaiting(rollout: RolloutStatus | undefined, pod: string): boolean {
  return isUnderWay(rollout) && rollout.allowed?.includes(podHash(pod)) !== true
}

/** `go`: the gateway may take what is published; `wait`: it keeps its commit. */
export type Admission =
  | { kind: 'go' }
  /** The commit for a gateway with an empty volume, and the active stage. */
  | { kind: 'wait'; keep: { commit: string; ref: string }; stage: string | undefined }

type AdmissionFacts = {
  pod: string
  profile: string
  /** The hash of the configuration that the agent would apply. */
  syncHash: string
  inPlace: { commit?: string | undefined; syncHash?: string | undefined } | undefined
}

/**
 * Decides whether an agent may apply the published commit and its present configuration. Fails closed: until the controller has confirmed
 * this configuration, no gateway is admitted. What is already in place needs no admission.
 */
export function admissionOf(
  { published, rollout }: GatewaySyncStatus & { published: NonNullable<GatewaySyncStatus['published']> },
  { pod, profile, syncHash, inPlace }: AdmissionFacts,
): Admission {
  const hasAll = inPlace?.commit === published.commit && inPlace.syncHash === syncHash
  if (hasAll) return { kind: 'go' }
  const wait: Admission = { kind: 'wait', keep: rollout?.previous ?? published, stage: rollout?.stage }
  if (rollout === undefined || rollout.commit !== published.commit) return wait
  // A rollback never waits; a configuration that failed elsewhere does not justify a change where the commit is in place.
  if (rollout.state === 'RolledBack' && inPlace?.commit !== published.commit) return { kind: 'go' }
  const known = Object.hasOwn(rollout.configurations, profile) ? rollout.configurations[profile] : undefined
  if (known !== shortSyncHash(syncHash)) return wait
  if (rollout.state === 'Done') return { kind: 'go' }
  return rollout.allowed?.includes(podHash(pod)) === true ? { kind: 'go' } : wait
}
