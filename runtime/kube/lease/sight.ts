/**
 * The Lease as it was last seen: by a watch, so that nobody asks for it again and again, and by whoever reads it in between.
 */
import { type Clock, pause } from '../../clock.ts'
import { runListWatch } from '../list-watch.ts'
import { type KubeObject, leaseType } from '../types.ts'
import type { LeaseDeps, LeaseOptions } from './options.ts'
import { holderOf, specOf } from './record.ts'

export type Sight = {
  see(lease: KubeObject | undefined): void
  lease(): KubeObject | undefined
  /** Whether nobody holds the Lease, we do, or its holder has been silent for as long as it promised not to be. */
  isFree(): boolean
  /** How long ago the Lease was seen, changed or not. */
  silentMs(): number
  /** Settles when the Lease is seen next, or after a time. */
  next(ms: number, signal: AbortSignal): Promise<void>
  /** While this process leads it has no other leader, whatever an older event says. */
  leads(does: boolean): void
}

/** The holder renews each two seconds, so silence means that the watch is not told any more. */
const watchSilenceMs = 10_000
const longestRetryMs = 5_000

/** What this replica has seen of the Lease, and when, by its own clock. */
export function createSight(clock: Clock, { identity, onHolder }: Pick<LeaseOptions, 'identity' | 'onHolder'>): Sight {
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
      const { leaseDurationSeconds = 15 } = specOf(seen.lease)
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

/** Runs until the signal. */
export async function watchLease(deps: LeaseDeps, { namespace, name }: LeaseOptions, sight: Sight, signal: AbortSignal): Promise<void> {
  await runListWatch(
    { ...deps, silenceMs: watchSilenceMs, longestRetryMs },
    { type: leaseType, namespace, fieldSelector: `metadata.name=${name}`, project: (lease) => lease },
    { upsert: (_key, lease) => sight.see(lease), remove: () => sight.see(undefined), synced() {} },
    signal,
  )
}
