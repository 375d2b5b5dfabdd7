/**
 * Wakes a loop: any number of calls before its next round count as one.
 */
import type { Clock } from '../platform/clock.ts'

/** A wake-up call that is never lost. */
export type Wake = {
  /** Something changed: start the next round immediately. */
  call(): void
  /** Waits for a call, for `ms`, or for the signal; a call since the last wait ends it immediately. Returns whether there was a call. */
  wait(ms: number | undefined, signal: AbortSignal): Promise<boolean>
}

/** Serves one loop: of two concurrent waits only the later one would be woken. */
export function createWake(clock: Clock): Wake {
  let called = false
  let end: (() => void) | undefined
  return {
    call() {
      called = true
      end?.()
    },
    async wait(ms, signal) {
      if (!called && !signal.aborted) {
        const timer = new AbortController()
        const over = new Promise<void>((resolve) => (end = resolve))
        signal.addEventListener('abort', () => end?.(), { once: true, signal: timer.signal })
        const timeUp = ms === undefined ? over : clock.wait(ms, timer.signal).catch(() => undefined)
        await Promise.race([over, timeUp])
        timer.abort()
        end = undefined
      }
      const wasCalled = called
      called = false
      return wasCalled
    },
  }
}
