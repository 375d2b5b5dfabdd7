/**
 * Schedules which GatewaySync is reconciled next. Level-based: a key means "reconcile" and carries no event, so any number of triggers
 * before a reconcile starts count as one, and any number during one cause exactly one more. Namespaces take turns: the part of a key before
 * the first `/` is its namespace.
 */
import { backoffMs, type Clock } from '../clock.ts'
import { isAbort } from '../fault.ts'
import { Turns } from './turns.ts'

/** A work queue of keys; a key is never processed twice at a time. */
export type Queue = {
  /** Requests a reconcile as soon as a worker is free. */
  add(key: string): void
  /** Requests a reconcile within this time, to batch further changes; later calls do not postpone it. */
  addSoon(key: string, withinMs: number): void
  /** Runs until `signal` aborts; settles when the running reconciles have settled. */
  run(signal: AbortSignal): Promise<void>
}

/** Latest time of the next reconcile, in ms; undefined: not before something changes. */
export type ReconcileResult = { wakeAfterMs: number | undefined }

type Options = {
  clock: Clock
  /** Maximum number of concurrent reconciles. */
  workers: number
  /** Reconciles one key. An exception is reported to `failed`, and the key is retried with backoff. */
  pass(key: string, signal: AbortSignal): Promise<ReconcileResult>
  failed(key: string, error: unknown): void
  /** `depth` receives the number of waiting keys when it changes, `waited` the waiting time of a key when it is taken. */
  depth?(count: number): void
  waited?(ms: number): void
}

/** Retry delays after a failed reconcile: from the first to the longest. */
const firstRetryMs = 1_000
const longestRetryMs = 300_000

/** The state of a key that waits, runs, is due later or has failed; other keys are dropped because their object may be deleted. */
type Entry = { waiting: boolean; sinceMs: number; running: boolean; failures: number; dueMs: number | undefined }
/** Fires at the earliest of the times it was set to. */
type Alarm = { setTo(dueMs: number): void; end(): void }

function createAlarm(clock: Clock, ring: () => void): Alarm {
  let set: { dueMs: number; waits: AbortController } | undefined
  return {
    setTo(dueMs) {
      if (set !== undefined && set.dueMs <= dueMs) return
      set?.waits.abort()
      const own = { dueMs, waits: new AbortController() }
      set = own
      clock.wait(Math.max(0, dueMs - clock.monotonicMs()), own.waits.signal).then(
        () => {
          if (set !== own) return
          set = undefined
          ring()
        },
        () => {
          // It was set to an earlier time, or has ended.
        },
      )
    },
    end: () => set?.waits.abort(),
  }
}

/**
 * Keys wait for one of `workers`; a key added during its own reconcile gets one more. A reconcile that throws is retried with growing
 * delays.
 */
export function createQueue({ clock, workers, pass, failed, depth, waited }: Options): Queue {
  const entries = new Map<string, Entry>()
  const waiting = new Turns<string>()
  let wakeWorker: (() => void) | undefined

  const entryOf = (key: string): Entry => {
    const known = entries.get(key)
    if (known !== undefined) return known
    const fresh: Entry = { waiting: false, sinceMs: 0, running: false, failures: 0, dueMs: undefined }
    entries.set(key, fresh)
    return fresh
  }

  const add = (key: string): void => {
    const entry = entryOf(key)
    entry.dueMs = undefined
    if (entry.waiting) return
    entry.waiting = true
    entry.sinceMs = clock.monotonicMs()
    waiting.add(key.split('/')[0] ?? key, key)
    depth?.(waiting.size)
    wakeWorker?.()
  }

  const addLater = (entry: Entry, ms: number): void => {
    const dueMs = clock.monotonicMs() + ms
    if (entry.dueMs !== undefined && entry.dueMs <= dueMs) return
    entry.dueMs = dueMs
    alarm.setTo(dueMs)
  }
  const ring = (): void => {
    const nowMs = clock.monotonicMs()
    let next = Number.POSITIVE_INFINITY
    entries.forEach(({ dueMs }, key) => {
      if (dueMs === undefined) return
      if (dueMs <= nowMs) add(key)
      else next = Math.min(next, dueMs)
    })
    if (Number.isFinite(next)) alarm.setTo(next)
  }
  // One timer for all keys: separate timers for a thousand take 3 MiB.
  const alarm = createAlarm(clock, ring)

  const runPass = async (key: string, signal: AbortSignal): Promise<void> => {
    const entry = entryOf(key)
    entry.running = true
    entry.waiting = false
    waited?.(clock.monotonicMs() - entry.sinceMs)
    try {
      const { wakeAfterMs } = await pass(key, signal)
      entry.failures = 0
      if (wakeAfterMs !== undefined && !entry.waiting) addLater(entry, wakeAfterMs)
    } catch (error) {
      if (isAbort(error, signal)) return
      failed(key, error)
      entry.failures += 1
      if (!entry.waiting) addLater(entry, backoffMs(entry.failures, firstRetryMs, longestRetryMs, clock.random()))
    } finally {
      entry.running = false
      if (!entry.waiting && entry.dueMs === undefined) entries.delete(key)
    }
  }

  return {
    add,
    addSoon(key, withinMs) {
      const entry = entryOf(key)
      if (!entry.waiting) addLater(entry, withinMs)
    },
    async run(signal) {
      const running = new Set<Promise<void>>()
      signal.addEventListener('abort', () => wakeWorker?.(), { once: true })
      while (!signal.aborted) {
        const key = running.size < workers ? waiting.take((one) => entries.get(one)?.running !== true) : undefined
        if (key !== undefined) {
          depth?.(waiting.size)
          const work: Promise<void> = runPass(key, signal).finally(() => {
            running.delete(work)
            wakeWorker?.()
          })
          running.add(work)
          continue
        }
        await new Promise<void>((resolve) => (wakeWorker = resolve))
      }
      // A reconcile that ends now may still set the alarm, so it is cleared last.
      await Promise.all(running)
      alarm.end()
      // Remaining keys are not processed.
      depth?.(0)
    },
  }
}
