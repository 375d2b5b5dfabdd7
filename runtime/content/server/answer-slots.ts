/**
 * Limits how many responses run at the same time. A call that gets no slot receives a retry time.
 */
import type { Clock } from '../../platform/clock.ts'
import { FairLimiter } from '../../platform/async/fair-limiter.ts'

/** Concurrent answers: in total, per namespace, and per pod, which may have left one running when it restarted. */
export type SlotLimits = { total: number; reserve?: number; perTenant: number; perKey: number; slowAfterMs?: number }

/** `release` may be called more than once. */
type Slot = { kind: 'slot'; release(): void } | { kind: 'full'; retryAfterSeconds: number }

/** Each answer buffers what its reader has not read; equal answers share one git process. */
const defaultLimits: SlotLimits = { total: 64, reserve: 8, perTenant: 40, perKey: 4, slowAfterMs: 30_000 }
/** How long a call waits for a slot: shorter than its agent would otherwise stay away. As many calls may wait as may run. */
const slotWaitMs = 1_000
/** The minimum number of returning agents served per second. */
const servedPerSecond = 50
const maxRetrySeconds = 15

export class AnswerSlots {
  readonly #clock: Clock
  readonly #changed: (used: number) => void
  readonly #limiter: FairLimiter
  #used = 0
  #refused = 0
  #refusedAtMs: number

  /** `changed` is called with the number of used slots on each change. */
  constructor(clock: Clock, limits: SlotLimits = defaultLimits, changed: (used: number) => void = () => undefined) {
    this.#clock = clock
    this.#changed = changed
    const waiting = { waitMs: slotWaitMs, maxWaiting: limits.perTenant, maxWaitingInAll: limits.total }
    this.#limiter = new FairLimiter({ ...limits, ...waiting, clock })
    this.#refusedAtMs = clock.monotonicMs()
  }

  /** Throws the signal's reason. */
  async take(namespace: string, pod: string, signal: AbortSignal): Promise<Slot> {
    const hold = await this.#limiter.acquire({ tenant: namespace, key: pod }, signal)
    if (hold === undefined) return { kind: 'full', retryAfterSeconds: this.#retryAfterSeconds() }
    this.#changed((this.#used += 1))
    let isHeld = true
    const release = (): void => {
      if (!isHeld) return
      isHeld = false
      hold.release()
      this.#changed((this.#used -= 1))
    }
    return { kind: 'slot', release }
  }

  /** Grows with the number of recently rejected agents. */
  #retryAfterSeconds(): number {
    const nowMs = this.#clock.monotonicMs()
    // Agents that were rejected earlier have returned meanwhile.
    const left = Math.max(0, this.#refused - ((nowMs - this.#refusedAtMs) / 1_000) * servedPerSecond)
    this.#refused = left + 1
    this.#refusedAtMs = nowMs
    return Math.min(maxRetrySeconds, 1 + Math.floor(left / servedPerSecond))
  }
}
