/**
 * Schedules which GatewaySync is reconciled next. Level-based: a key means "reconcile" and carries no event, so any number of triggers
 * before a reconcile starts count as one, and any number during one cause exactly one more. Namespaces take turns: the part of a key before
 * the first `/` is its namespace.
 */
import { backoffMs, type Clock } from '../clock.ts'
import { isAbort } from '../fault.ts'
import { Turns } from './turns.ts'

/** Latest time of the next reconcile, in ms; undefined: not before something changes. */
export type ReconcileResult = { wakeAfterMs: number | undefined }

type Options = {
  clock: Clock
  /** Maximum number of concurrent reconciles. */
  workers: number
  /** Reconciles one key. An exception is reported to `failed`, and the key is retried with backoff. */
  reconcile(key: string, signal: AbortSignal): Promise<ReconcileResult>
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

/** A timer that fires at the earliest of the times it was set to. */
class Alarm {
  readonly #clock: Clock
  readonly #ring: () => void
  #set: { dueMs: number; waits: AbortController } | undefined

  constructor(clock: Clock, ring: () => void) {
    this.#clock = clock
    this.#ring = ring
  }

  setTo(dueMs: number): void {
    if (this.#set !== undefined && this.#set.dueMs <= dueMs) return
    this.end()
    const own = { dueMs, waits: new AbortController() }
    this.#set = own
    this.#clock.wait(Math.max(0, dueMs - this.#clock.monotonicMs()), own.waits.signal).then(
      () => {
        if (this.#set !== own) return
        this.#set = undefined
        this.#ring()
      },
      () => {
        // It was set to an earlier time, or has ended.
      },
    )
  }

  end(): void {
    this.#set?.waits.abort()
  }
}

/**
 * A work queue of keys; a key is never processed twice at a time. Keys wait for one of `workers`; a key added during its own reconcile gets
 * one more. A reconcile that throws is retried with growing delays.
 */
export class Queue {
  readonly #options: Options
  readonly #entries = new Map<string, Entry>()
  readonly #waiting = new Turns<string>()
  /** One timer for all keys: separate timers for a thousand take 3 MiB. */
  readonly #alarm: Alarm
  #wakeWorker: (() => void) | undefined

  constructor(options: Options) {
    this.#options = options
    this.#alarm = new Alarm(options.clock, () => this.#addDue())
  }

  /** Requests a reconcile as soon as a worker is free. */
  add(key: string): void {
    const entry = this.#entryOf(key)
    entry.dueMs = undefined
    if (entry.waiting) return
    entry.waiting = true
    entry.sinceMs = this.#options.clock.monotonicMs()
    this.#waiting.add(key.split('/')[0] ?? key, key)
    this.#options.depth?.(this.#waiting.size)
    this.#wakeWorker?.()
  }

  /** Requests a reconcile within this time, to batch further changes; later calls do not postpone it. */
  addSoon(key: string, withinMs: number): void {
    const entry = this.#entryOf(key)
    if (!entry.waiting) this.#addLater(entry, withinMs)
  }

  /** Runs until `signal` aborts; settles when the running reconciles have settled. */
  async run(signal: AbortSignal): Promise<void> {
    const running = new Set<Promise<void>>()
    signal.addEventListener('abort', () => this.#wakeWorker?.(), { once: true })
    while (!signal.aborted) {
      const key = running.size < this.#options.workers ? this.#waiting.take((one) => this.#entries.get(one)?.running !== true) : undefined
      if (key !== undefined) {
        this.#options.depth?.(this.#waiting.size)
        const work: Promise<void> = this.#reconcile(key, signal).finally(() => {
          running.delete(work)
          this.#wakeWorker?.()
        })
        running.add(work)
        continue
      }
      await new Promise<void>((resolve) => (this.#wakeWorker = resolve))
    }
    // A reconcile that ends now may still set the alarm, so it is cleared last.
    await Promise.all(running)
    this.#alarm.end()
    // Remaining keys are not processed.
    this.#options.depth?.(0)
  }

  #entryOf(key: string): Entry {
    const known = this.#entries.get(key)
    if (known !== undefined) return known
    const fresh: Entry = { waiting: false, sinceMs: 0, running: false, failures: 0, dueMs: undefined }
    this.#entries.set(key, fresh)
    return fresh
  }

  #addLater(entry: Entry, ms: number): void {
    const dueMs = this.#options.clock.monotonicMs() + ms
    if (entry.dueMs !== undefined && entry.dueMs <= dueMs) return
    entry.dueMs = dueMs
    this.#alarm.setTo(dueMs)
  }

  #addDue(): void {
    const nowMs = this.#options.clock.monotonicMs()
    let next = Number.POSITIVE_INFINITY
    this.#entries.forEach(({ dueMs }, key) => {
      if (dueMs === undefined) return
      if (dueMs <= nowMs) this.add(key)
      else next = Math.min(next, dueMs)
    })
    if (Number.isFinite(next)) this.#alarm.setTo(next)
  }

  async #reconcile(key: string, signal: AbortSignal): Promise<void> {
    const { clock, reconcile, failed, waited } = this.#options
    const entry = this.#entryOf(key)
    entry.running = true
    entry.waiting = false
    waited?.(clock.monotonicMs() - entry.sinceMs)
    try {
      const { wakeAfterMs } = await reconcile(key, signal)
      entry.failures = 0
      if (wakeAfterMs !== undefined && !entry.waiting) this.#addLater(entry, wakeAfterMs)
    } catch (error) {
      if (isAbort(error, signal)) return
      failed(key, error)
      entry.failures += 1
      if (!entry.waiting) this.#addLater(entry, backoffMs(entry.failures, firstRetryMs, longestRetryMs, clock.random()))
    } finally {
      entry.running = false
      if (!entry.waiting && entry.dueMs === undefined) this.#entries.delete(key)
    }
  }
}
