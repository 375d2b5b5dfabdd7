/**
 * What a Lease says about its holder, and what is written into one. Pure.
 */
import { leaseAnnotations } from '../../gatewaysync/names.ts'
import type { KubeObject } from '../types.ts'

export type LeaseSpec = {
  holderIdentity?: string | null
  acquireTime?: string
  renewTime?: string
  leaseTransitions?: number
  leaseDurationSeconds?: number
}

/** `answersWithinMs`: how soon it renews when it is asked whether it is there; undefined: it does not promise to. */
export type Holder = { identity: string; term: string; address: string | undefined; answersWithinMs: number | undefined }

/** No shorter promise is believed, for a healthy process may pause for a moment, and no longer one is waited for. */
const credibleMs = { least: 500, most: 10_000 }

/** The spec of a Lease as it is; empty where there is no Lease. */
export function specOf(lease: KubeObject | undefined): LeaseSpec {
  return lease?.spec ?? {}
}

/** Undefined: nobody holds it. */
export function holderOf(lease: KubeObject | undefined): Holder | undefined {
  const { holderIdentity, acquireTime = '' } = specOf(lease)
  if (holderIdentity === undefined || holderIdentity === null || holderIdentity === '') return undefined
  const { [leaseAnnotations.address]: address, [leaseAnnotations.answersWithinMs]: promised } = lease?.metadata.annotations ?? {}
  const ms = Number(promised ?? Number.NaN)
  const isCredible = ms >= credibleMs.least && ms <= credibleMs.most
  return { identity: holderIdentity, term: acquireTime, address, answersWithinMs: isCredible ? ms : undefined }
}

/** Whether both are one holder in one term: a process that was started anew takes the Lease anew. */
export function isSameHolder(one: Holder | undefined, other: Holder | undefined): boolean {
  return one?.identity === other?.identity && one?.term === other?.term && one?.address === other?.address
}

/** Whether somebody asks if the holder is there. */
export function isAsked(lease: KubeObject | undefined): boolean {
  return lease?.metadata.annotations?.[leaseAnnotations.askedBy] !== undefined
}

/** Annotations and spec that make a replica the holder, as a merge patch; `time` with microseconds. */
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
