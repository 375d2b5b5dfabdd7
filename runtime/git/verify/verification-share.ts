/**
 * Limits what the signatures of artifacts cost: a registry may offer twenty other ones at each poll, and a Secret 32 slow keys to try for each.
 */
import { LRUCache } from 'lru-cache'
import { FairLimiter } from '../../platform/async/fair-limiter.ts'
import type { LimiterClock } from '../../platform/async/limiter-options.ts'
import { Fault } from '../../platform/fault.ts'

/** Of the four threads that files and names of hosts need too; each namespace may use one. */
const threads = 2
/** After a verification, its namespace rests so many times as long: it uses a tenth of a thread, and a usual one rests a few milliseconds. */
const restTimes = 9
/** Less than a fetch may take. */
const maxWaitMs = 20_000

/** The share of each namespace, for all mirrors. */
export class VerificationShare {
  readonly #clock: LimiterClock
  readonly #threads: FairLimiter
  /** When a namespace may verify again. */
  readonly #restsUntilMs = new LRUCache<string, number>({ max: 10_000 })

  constructor(clock: LimiterClock) {
    this.#clock = clock
    this.#threads = new FairLimiter({ total: threads, perKey: 1, waitMs: maxWaitMs, clock })
  }

  /** Verifies when it is the turn of the namespace. Throws GitTimeout if that takes too long: then the signature is unknown. */
  async run<Result>(namespace: string, verify: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
    const endMs = this.#clock.monotonicMs() + maxWaitMs
    for (;;) {
      await this.#rest(namespace, endMs, signal)
      const hold = await this.#threads.acquire({ tenant: namespace }, signal)
      if (hold === undefined) throw late(namespace)
      try {
        // Another verification of the namespace may have ended meanwhile.
        if (this.#restMs(namespace) > 0) continue
        return await this.#timed(namespace, verify)
      } finally {
        hold.release()
      }
    }
  }

  async #rest(namespace: string, endMs: number, signal: AbortSignal): Promise<void> {
    const restMs = this.#restMs(namespace)
    if (this.#clock.monotonicMs() + restMs > endMs) throw late(namespace)
    if (restMs > 0) await this.#clock.wait(restMs, signal)
  }

  #restMs(namespace: string): number {
    return (this.#restsUntilMs.get(namespace) ?? 0) - this.#clock.monotonicMs()
  }

  async #timed<Result>(namespace: string, verify: () => Promise<Result>): Promise<Result> {
    const startedMs = this.#clock.monotonicMs()
    try {
      return await verify()
    } finally {
      const nowMs = this.#clock.monotonicMs()
      this.#restsUntilMs.set(namespace, nowMs + restTimes * (nowMs - startedMs))
    }
  }
}

function late(namespace: string): Fault {
  const message = `a signature was not verified within ${maxWaitMs / 1000} s, because namespace "${namespace}" has many to verify`
  return new Fault('GitTimeout', `${message}; remove keys and signatures that are not needed`)
}
