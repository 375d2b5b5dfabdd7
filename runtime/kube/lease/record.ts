/**
 * Parses and builds the Lease's content. Pure.
 */
import type { V1LeaseSpec } from '@kubernetes/client-node'
import { leaseAnnotations } from '../../api/names.ts'
import type { Json, KubeObject } from '../types.ts'

/** Times are RFC 3339 with microseconds. */
export type LeaseSpec = Json<V1LeaseSpec>

/** `term`: when it took the Lease. `answersWithinMs`: how soon it renews when asked whether it is alive; undefined: no promise. */
export type Holder = { identity: string; term: string; address: string | undefined; answersWithinMs: number | undefined }

/** Promises outside these bounds are ignored: a healthy process may pause briefly, and the maximum limits the wait. */
const credibleMs = { least: 500, most: 10_000 }

/** The spec of a Lease; empty without a Lease. */
export function specOf(lease: KubeObject | undefined): LeaseSpec {
  return lease?.spec ?? {}
}

/** Undefined: the Lease has no holder. */
export function holderOf(lease: KubeObject | undefined): Holder | undefined {
  const { holderIdentity, acquireTime = '' } = specOf(lease)
  if (holderIdentity === undefined || holderIdentity === '') return undefined
  const { [leaseAnnotations.address]: address, [leaseAnnotations.answersWithinMs]: promised } = lease?.metadata.annotations ?? {}
  const ms = Number(promised ?? Number.NaN)
  const isCredible = ms >= credibleMs.least && ms <= credibleMs.most
  return { identity: holderIdentity, term: acquireTime, address, answersWithinMs: isCredible ? ms : undefined }
}

/** Whether both are the same holder in the same term: a restarted process takes the Lease again, which begins a new term. */
export function isSameHolder(one: Holder | undefined, other: Holder | undefined): boolean {
  return one?.identity === other?.identity && one?.term === other?.term && one?.address === other?.address
}

/** Whether another replica is asking if the holder is alive. */
export function isAsked(lease: KubeObject | undefined): boolean {
  return lease?.metadata.annotations?.[leaseAnnotations.askedBy] !== undefined
}

/** Returns annotations and spec that make a replica the holder, as a merge patch; `time` with microseconds. */
export function takenBy(
  {
    identity,
    address,
    durationMs,
    answerWithinMs,
  }: { identity: string; address?: string | undefined; durationMs: number; answerWithinMs: number },
  before: LeaseSpec,
  time: string,
): { annotations: Record<string, string | null>; spec: LeaseSpec } {
  return {
    annotations: {
      [leaseAnnotations.address]: address ?? null,
      [leaseAnnotations.answersWithinMs]: String(answerWithinMs),
      [leaseAnnotations.askedBy]: null,
    },
    spec: {
      holderIdentity: identity,
      leaseDurationSeconds: Math.max(1, Math.round(durationMs / 1000)),
      acquireTime: time,
      renewTime: time,
      leaseTransitions: (before.leaseTransitions ?? 0) + (before.holderIdentity === identity ? 0 : 1),
    },
  }
}
