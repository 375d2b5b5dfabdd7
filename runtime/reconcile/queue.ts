/**
 * Which GatewaySync is reconciled next. Level-based: a key says "look again", never what happened, so any number of triggers before a pass
 * starts count as one, and any number during a pass cause exactly one more.
 */
import { backoffMs, type Clock } from '../clock.ts'
import { isAbort } from '../fault.ts'

/** A work queue of keys; one key is never worked on twice at a time. */
export type Queue = {
  /** Asks for a pass as soon as a worker is free. */
  add(key: string): void
  /** Asks for a pass within this time, so that further changes share it; later calls do not postpone it. */
  addSoon(key: string, withinMs: number): void
  /** Works until the signal; settles when the passes under way have settled. */
  run(signal: AbortSignal): Promise<void>
}

/** When the next pass is due at the latest, in ms; undefined: not before something changes. */
export type PassResult = { wakeAfterMs: number | undefined }

type Options = {
  clock: Clock
  /** How many passes of different keys may run at once. */
  workers: number
  /** One pass. What it throws is reported to `failed`, and the key is retried with backoff. */
  pass(key: string, signal: AbortSignal): Promise<PassResult>
  failed(key: string, error: unknown): void
  /** `depth` is called with the number of waiting keys whenever it changes, `waited` with how long a key that is taken has waited. */
  depth?(count: number): void
  waited?(ms: number): void
}

/** Waits after a failed pass: from the first to the longest. */
const firstRetryMs = 1_000
const longestRetryMs = 300_000

/** The state of a key that waits, runs, is due later or has failed; other keys are forgotten, for their object may be gone. */
type Entry = { waiting: boolean; sinceMs: number; running: boolean; failures: number; dueMs: number | undefined }
/** Rings at the earliest of the times it was set to. */
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
 * Keys wait for one of `workers`; a key that is added during its own pass gets one more. A pass that throws is repeated with growing waits.
 */
export function createQueue({ clock, workers, pass, failed, depth, waited }: Options): Queue {
  const entries = new Map<string, Entry>()
  const waiting: string[] = []
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
    waiting.push(key)
    depth?.(waiting.length)
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
  // One for all keys: a timer of its own for each of a thousand takes 3 MiB.
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
        const index = running.size < workers ? waiting.findIndex((key) => entries.get(key)?.running !== true) : -1
        if (index >= 0) {
          const [key = ''] = waiting.splice(index, 1)
          depth?.(waiting.length)
          if (entries.get(key)?.waiting !== true) continue
          const work: Promise<void> = runPass(key, signal).finally(() => {
            running.delete(work)
            wakeWorker?.()
          })
          running.add(work)
          continue
        }
        await new Promise<void>((resolve) => (wakeWorker = resolve))
      }
      // A pass that ends now may still set the alarm, so it is cleared last.
      await Promise.all(running)
      alarm.end()
      // Keys that are left will not be worked on.
      depth?.(0)
    },
  }
}
