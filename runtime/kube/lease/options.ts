/**
 * What an election needs to know, and the durations that keep it safe.
 */
import type { Clock } from '../../clock.ts'
import type { Log } from '../../log.ts'
import type { Kube } from '../client.ts'

/** What every step of an election works with. */
export type LeaseDeps = { kube: Kube; clock: Clock; log: Log }

/** One candidate of one election. `identity`: the replica's name, different for each. Durations default to those of `timesOf`. */
export type LeaseOptions = {
  namespace: string
  name: string
  identity: string
  /** After this long without a renewal others may take over, whatever they know of the holder. */
  durationMs?: number
  /** The holder stops leading when it could not renew for this long; must be less than `durationMs`. */
  renewWithinMs?: number
  /** From one renewal to the next. */
  renewEveryMs?: number
  /** The holder promises to renew within this time when another replica asks, by an annotation, whether it is alive. */
  answerWithinMs?: number
  /** This replica's `host:port`; while it leads, others read it from an annotation of the Lease. */
  address?: string | undefined
  /** Called with the holder's address each time that the Lease is seen; undefined: it is this process, or is not known. */
  onHolder?(address: string | undefined): void
  /** Without it a lost holder is noticed only when the Lease expires. */
  contact?: Contact
}

/**
 * Keeps in touch with the holder. Settles when the process at its address no longer says that it leads, and with the signal. `gone`: there
 * is no such process; `silent`: nothing comes back, which may also be a slow node.
 */
export type Contact = (holder: { identity: string; address: string }, signal: AbortSignal) => Promise<'gone' | 'silent'>

/** Deadline of one call about the Lease: a dead connection must leave time for another attempt. */
export const callMs = 3_000

/** The four durations of an election. */
export type LeaseTimes = Required<Pick<LeaseOptions, 'durationMs' | 'renewWithinMs' | 'renewEveryMs' | 'answerWithinMs'>>

/** client-go's defaults, except the last: the holder sees a question at once and writes within some milliseconds. */
export function timesOf({
  durationMs = 15_000,
  renewWithinMs = 10_000,
  renewEveryMs = 2_000,
  answerWithinMs = 1_000,
}: LeaseOptions): LeaseTimes {
  return { durationMs, renewWithinMs, renewEveryMs, answerWithinMs }
}
