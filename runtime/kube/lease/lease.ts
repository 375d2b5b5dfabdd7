/**
 * The options of an election, the durations that keep it safe, and the Lease's content. Pure.
 */
import type { Clock } from '../../platform/clock.ts'
import type { Log } from '../../platform/log/log.ts'
import type { Kube } from '../client.ts'
import type { V1LeaseSpec } from '@kubernetes/client-node'
import { leaseAnnotations } from '../../api/names.ts'
import type { Json, KubeObject } from '../types.ts'

/** Collaborators of every step of an election. */
export type LeaseDeps = { kube: Kube; clock: Clock; log: Log }

/** One candidate of one election. `identity`: the replica's unique name. Durations default to those of `timesOf`. */
export type LeaseOptions = {
  namespace: string
  name: string
  identity: string
  /** After this long without a renewal, others may take over, regardless of the state of the holder. */
  durationMs?: number
  /** The holder stops leading when it could not renew for this long; must be less than `durationMs`. */
  renewWithinMs?: number
  /** Interval between renewals. */
  renewEveryMs?: number
  /** The holder promises to renew within this time when another replica requests a sign of life by an annotation. */
  answerWithinMs?: number
  /** This replica's `host:port`; while it leads, others read it from an annotation of the Lease. */
  address?: string | undefined
  /** Called with the holder's address each time the Lease is observed; undefined: it is this process, or is unknown. */
  onHolder?(address: string | undefined): void
  /** Without it a lost holder is detected only when the Lease expires. */
  contact?: Contact
}

/**
 * Monitors the holder. Settles when the process at its address no longer confirms that it leads, and with the signal. `gone`: the process
 * does not exist; `silent`: no answer, possibly a slow node.
 */
export type Contact = (holder: { identity: string; address: string }, signal: AbortSignal) => Promise<'gone' | 'silent'>

/** Deadline of one call about the Lease: a dead connection must leave time for another attempt. */
export const callMs = 3_000

/** The four durations of an election. */
export type LeaseTimes = Required<Pick<LeaseOptions, 'durationMs' | 'renewWithinMs' | 'renewEveryMs' | 'answerWithinMs'>>

/** client-go's defaults, except the last: the holder sees a query at once and writes within milliseconds. */
export function timesOf({
  durationMs = 15_000,
  renewWithinMs = 10_000,
  renewEveryMs = 2_000,
  answerWithinMs = 1_000,
}: LeaseOptions): LeaseTimes {
  return { durationMs, renewWithinMs, renewEveryMs, answerWithinMs }
}

/** Times are RFC 3339 with microseconds. */
type LeaseSpec = Json<V1LeaseSpec>

/** `term`: when it took the Lease. `answersWithinMs`: how soon it renews when asked whether it is alive; undefined: no promise. */
export type Holder = { identity: string; term: string; address: string | undefined; answersWithinMs: number | undefined }

/** Promises outside these bounds are ignored: a healthy process may pause briefly, and the maximum limits the wait. */
const credibleMs = { least: 500, most: 10_000 }

/** The spec of a Lease; empty without a Lease. */
export function leaseSpec(lease: KubeObject | undefined): LeaseSpec {
  return lease?.spec ?? {}
}

/** Returns the holder of the Lease; undefined if it has none. */
export function holderOf(lease: KubeObject | undefined): Holder | undefined {
  const { holderIdentity, acquireTime = '' } = leaseSpec(lease)
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
export function isLivenessRequested(lease: KubeObject | undefined): boolean {
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
