/**
 * Wakes up a loop: any number of calls before it looks again count as one.
 */
import type { Clock } from '../clock.ts'

/** A wake-up call that is never lost. */
export type Wake = {
  /** Something changed: look again at once. */
  call(): void
  /**
   * Waits for a call, for `ms` to pass, or for the signal; a call that came since the last wait ends it at once. Returns whether there was
   * a call.
   */
  wait(ms: number | undefined, signal: AbortSignal): Promise<boolean>
}

/** For one loop: of two waits at a time only the later one would hear calls. */
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
