/**
 * Detects a blocked event loop. One that hangs answers no probe anyway; this detects one that is blocked for minutes at a time.
 */
import { type Clock, pause } from '../../platform/clock.ts'

/** An event loop that has not run for this long counts as stuck. */
const stuckAfterMs = 60_000
const beatMs = 1_000

/**
 * Checks each second until `signal` aborts and reports how late each check was. The returned function returns why the process should be
 * restarted; empty when it need not be.
 */
export function watchEventLoop(
  clock: Pick<Clock, 'monotonicMs' | 'wait'>,
  delayed: (ms: number) => void,
  signal: AbortSignal,
): () => string[] {
  let lastMs = clock.monotonicMs()
  const beat = async (): Promise<void> => {
    while (!signal.aborted) {
      lastMs = clock.monotonicMs()
      await pause(clock, beatMs, signal)
      if (!signal.aborted) delayed(clock.monotonicMs() - lastMs - beatMs)
    }
  }
  void beat()
  return () => (clock.monotonicMs() - lastMs > stuckAfterMs ? ['the event loop does not turn'] : [])
}
