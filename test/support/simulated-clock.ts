/**
 * A clock that advances only when no other work is pending, or computes, so that hours of waiting take a moment. For programs without I/O.
 */
import { setImmediate as settle } from 'node:timers/promises'

type Timer = { atMs: number; wake(): void }

export class SimulatedClock {
  #nowMs = 0
  readonly #timers = new Set<Timer>()

  readonly monotonicMs = (): number => this.#nowMs

  readonly wait = (ms: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason as Error)
      const leave = (): void => {
        this.#timers.delete(timer)
        reject(signal?.reason as Error)
      }
      const timer: Timer = {
        atMs: this.#nowMs + Math.max(0, ms),
        wake() {
          signal?.removeEventListener('abort', leave)
          resolve()
        },
      }
      signal?.addEventListener('abort', leave, { once: true })
      this.#timers.add(timer)
      return undefined
    })

  /** Advances time by that of a computation, during which nothing else runs. */
  readonly compute = (ms: number): void => {
    this.#nowMs += ms
  }

  /** Advances time until `done` has settled; throws if it is still pending and nothing waits for time. */
  async runUntil<Value>(done: Promise<Value>): Promise<Value> {
    let isDone = false
    const end = (): void => void (isDone = true)
    done.then(end, end)
    for (;;) {
      const beforeMs = this.#nowMs
      await settle()
      if (isDone) return await done
      const next = Math.min(...[...this.#timers].map(({ atMs }) => atMs))
      // A computation may continue before the time advances further.
      if (this.#nowMs > beforeMs && next > this.#nowMs) continue
      if (next === Infinity) throw new Error('nothing waits for time any more')
      this.#nowMs = Math.max(this.#nowMs, next)
      for (const timer of [...this.#timers].filter(({ atMs }) => atMs === next)) {
        this.#timers.delete(timer)
        timer.wake()
      }
    }
  }
}
