/**
 * What an election is told, and the durations that hold it together.
 */
import type { Clock } from '../../clock.ts'
import type { Log } from '../../log.ts'
import type { Kube } from '../client.ts'

export type LeaseDeps = { kube: Kube; clock: Clock; log: Log }

export type LeaseOptions = {
  namespace: string
  name: string
  identity: string
  /** Without a renewal for this long others may take over, whatever they know of the holder. */
  durationMs?: number
  /** The holder stops to lead when it could not renew for this long; less than the duration. */
  renewWithinMs?: number
  /** From one renewal to the next. */
  renewEveryMs?: number
  /** The holder promises to renew within this time when it is asked whether it is there. */
  answerWithinMs?: number
  /** Where the holder is found, told to others by an annotation of the Lease. */
  address?: string | undefined
  /** Where the holder is found, each time that the Lease is seen; undefined: it is this process, or is not known. */
  onHolder?(address: string | undefined): void
  contact?: Contact
}

/**
 * Keeps in touch with the holder; settles when the process at its address does not say any more that it leads, and with the signal. `gone`:
 * there is no such process; `silent`: nothing comes back, which may as well be a slow node.
 */
export type Contact = (holder: { identity: string; address: string }, signal: AbortSignal) => Promise<'gone' | 'silent'>

/** No call about the Lease waits longer: a connection that leads nowhere must leave time for another. */
export const callMs = 3_000

export type LeaseTimes = Required<Pick<LeaseOptions, 'durationMs' | 'renewWithinMs' | 'renewEveryMs' | 'answerWithinMs'>>

/** As client-go has them, but for the last: the holder sees a question at once, and writes within some milliseconds. */
export function timesOf({
  durationMs = 15_000,
  renewWithinMs = 10_000,
  renewEveryMs = 2_000,
  answerWithinMs = 1_000,
}: LeaseOptions): LeaseTimes {
  return { durationMs, renewWithinMs, renewEveryMs, answerWithinMs }
}
