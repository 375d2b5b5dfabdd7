/**
 * Provides time, timers and randomness; everything else takes a Clock, so that tests can control it.
 */
import { randomUUID } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { Temporal } from './temporal.ts'

/** The time, for the rest of the code. */
export type Clock = {
  /** Wall-clock time. */
  now(): Temporal.Instant
  /** Monotonic milliseconds, for durations and deadlines. */
  monotonicMs(): number
  /** Waits; rejects with the signal's reason when it is aborted meanwhile. */
  wait(ms: number, signal?: AbortSignal): Promise<void>
  /** A number from 0 (inclusive) to 1 (exclusive), for jitter. */
  random(): number
  uuid(): string
}

/** The machine's own clock, for the entry points. */
export const systemClock: Clock = {
  now: () => Temporal.Now.instant(),
  monotonicMs: () => performance.now(),
  async wait(ms, signal) {
    try {
      await sleep(ms, undefined, signal === undefined ? {} : { signal })
    } catch (error) {
      signal?.throwIfAborted()
      throw error
    }
  },
  random: () => Math.random(),
  uuid: () => randomUUID(),
}

/** Waits for `ms` or until the signal aborts, without throwing; the caller checks the signal afterwards. */
export async function pause(clock: Pick<Clock, 'wait'>, ms: number, signal: AbortSignal): Promise<void> {
  await clock.wait(ms, signal).catch(() => undefined)
}

/** Returns a signal that aborts when `signal` does or after `ms` (with a TimeoutError), whichever is first. */
export function deadline(ms: number, signal?: AbortSignal): AbortSignal {
  // Node takes whole milliseconds only.
  const timeout = AbortSignal.timeout(Math.max(0, Math.ceil(ms)))
  return signal === undefined ? timeout : AbortSignal.any([signal, timeout])
}

/** Settles as `work` does, or rejects with the signal's reason if that aborts first; the work itself then continues unobserved. */
export async function unlessAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  signal.throwIfAborted()
  const { promise, reject } = Promise.withResolvers<never>()
  const end = (): void => reject(signal.reason as Error)
  signal.addEventListener('abort', end, { once: true })
  try {
    return await Promise.race([work, promise])
  } finally {
    signal.removeEventListener('abort', end)
  }
}

/** Kubernetes' time format with second precision, as conditions use it. */
export function timestamp(now: Temporal.Instant): string {
  return now.toString({ smallestUnit: 'second' })
}

/**
 * How long to wait after the n-th failure in a row (n from 1): doubling from `firstMs` to `capMs`, with ±10 % jitter.
 * The exponent is clamped, so the 1,000th failure still waits the cap.
 */
export function backoffMs(failures: number, firstMs: number, capMs: number, random: number): number {
  return Math.round(doubled(failures, firstMs, capMs) * (0.9 + 0.2 * random))
}

/** As `backoffMs` with full jitter: for many clients that fail at the same moment. */
export function spreadBackoffMs(failures: number, firstMs: number, capMs: number, random: number): number {
  return Math.round(doubled(failures, firstMs, capMs) * random)
}

function doubled(failures: number, firstMs: number, capMs: number): number {
  return Math.min(capMs, firstMs * 2 ** Math.min(Math.max(failures - 1, 0), 30))
}
