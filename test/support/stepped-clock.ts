/**
 * A clock that stands still until the test moves it; waits end when the test says so.
 */
import { type Clock, systemClock } from '../../runtime/clock.ts'

export type SteppedClock = {
  clock: Clock
  /** Sets the wall clock. */
  set(now: Temporal.Instant): void
  /** Moves time, ends the present wait and settles when the next one has begun: whoever waited has done its work. */
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
