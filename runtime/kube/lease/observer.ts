/**
 * Observes the Lease through a watch, which saves polling, and through every read in between.
 */
import { type Clock, pause } from '../../platform/clock.ts'
import { runListWatch } from '../list-watch.ts'
import { type KubeObject, leaseType } from '../types.ts'
import { type LeaseDeps, type LeaseOptions, holderOf, leaseSpec } from './lease.ts'
/** The latest view of the Lease, shared by the watch and the steps of an election. */
export type LeaseObserver = {
  see(lease: KubeObject | undefined): void
  lease(): KubeObject | undefined
  /**
   * Whether the Lease has no holder, this replica holds it, or it has not changed for its own duration. False before the first observation.
   */
  isFree(): boolean
  /** Time since the Lease was last observed, changed or not. */
  silentMs(): number
  /** Settles when the Lease is observed next, or after `ms`. Never throws. */
  next(ms: number, signal: AbortSignal): Promise<void>
  /** Sets whether this process leads; while it does, `onHolder` gets no other leader, regardless of older events. */
  leads(does: boolean): void
}

/** The holder renews every two seconds, so a watch without events is dead. */
const watchSilenceMs = 10_000
const longestRetryMs = 5_000

/** Creates an empty view. Times are of this replica's own monotonic clock. */
export function createLeaseObserver(clock: Clock, { identity, onHolder }: Pick<LeaseOptions, 'identity' | 'onHolder'>): LeaseObserver {
  let seen: { lease: KubeObject | undefined; text: string; changedMs: number; atMs: number } | undefined
  let leads = false
  const waiting = new Set<() => void>()
  return {
    see(lease) {
      const [text, atMs] = [JSON.stringify(lease?.spec ?? null), clock.monotonicMs()]
      seen = { lease, text, atMs, changedMs: seen?.text === text ? seen.changedMs : atMs }
      const holder = holderOf(lease)
      if (!leads) onHolder?.(holder?.identity === identity ? undefined : holder?.address)
      for (const wake of waiting) wake()
    },
    lease: () => seen?.lease,
    isFree() {
      if (seen === undefined) return false
      const holder = holderOf(seen.lease)
      if (holder === undefined || holder.identity === identity) return true
      const { leaseDurationSeconds = 15 } = leaseSpec(seen.lease)
      return clock.monotonicMs() - seen.changedMs > leaseDurationSeconds * 1000
    },
    silentMs: () => (seen === undefined ? Number.POSITIVE_INFINITY : clock.monotonicMs() - seen.atMs),
    async next(ms, signal) {
      const woken = new AbortController()
      const wake = (): void => woken.abort()
      waiting.add(wake)
      try {
        await pause(clock, ms, AbortSignal.any([signal, woken.signal]))
      } finally {
        waiting.delete(wake)
      }
    },
    leads(does) {
      leads = does
      if (does) onHolder?.(undefined)
    },
  }
}

/** Feeds `observer` from a watch until `signal` aborts. Never throws. */
export async function watchLease(
  deps: LeaseDeps,
  { namespace, name }: LeaseOptions,
  observer: LeaseObserver,
  signal: AbortSignal,
): Promise<void> {
  await runListWatch(
    { ...deps, silenceMs: watchSilenceMs, longestRetryMs },
    { type: leaseType, namespace, fieldSelector: `metadata.name=${name}`, project: (lease) => lease },
    { upsert: (_key, lease) => observer.see(lease), remove: () => observer.see(undefined), synced() {} },
    signal,
  )
}
