/**
 * A clock that stands still until the test moves it; waits end when the test ends them.
 */
import { type Clock, systemClock } from '../../runtime/platform/clock.ts'
import { Temporal } from '../../runtime/platform/temporal.ts'

export type SteppedClock = {
  clock: Clock
  /** Sets the wall clock. */
  set(now: Temporal.Instant): void
  /** Advances time, ends the current wait and resolves when the next one has begun, so the waiting code has finished its work. */
  step(ms?: number): Promise<void>
}

/** For one waiter at a time. */
export function steppedClock(start: Temporal.Instant = Temporal.Now.instant()): SteppedClock {
  let now = start
  let monotonicMs = 0
  let waiting: (() => void) | undefined
  let arrived: (() => void) | undefined
  const clock: Clock = {
    ...systemClock,
    now: () => now,
    monotonicMs: () => monotonicMs,
    wait: (_ms, signal) =>
      new Promise((resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
        waiting = resolve
        arrived?.()
      }),
  }
  return {
    clock,
    set: (instant) => (now = instant),
    async step(ms = 0) {
      if (waiting === undefined) await new Promise<void>((resolve) => (arrived = resolve))
      monotonicMs += ms
      now = now.add({ milliseconds: ms })
      const end = waiting
      waiting = undefined
      const next = new Promise<void>((resolve) => (arrived = resolve))
      end?.()
      await next
    },
  }
}
