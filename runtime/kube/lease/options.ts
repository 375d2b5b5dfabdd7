/**
 * Defines the options of an election, and the durations that keep it safe.
 */
import type { Clock } from '../../platform/clock.ts'
import type { Log } from '../../platform/log/log.ts'
import type { Kube } from '../client.ts'

/** Collaborators of every step of an election. */
export type LeaseDeps = { kube: Kube; clock: Clock; log: Log }

/** One candidate of one election. `identity`: the replica's unique name. Durations default to those of `timesOf`. */
export type LeaseOptions = {
  namespace: string
  name: string
  identity: string
  /** After this long without a renewal others may take over, whatever the state of the holder. */
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
