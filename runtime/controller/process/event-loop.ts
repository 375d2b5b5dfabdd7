/**
 * Whether the event loop turns. One that hangs answers no probe anyway; this notices one that is blocked for minutes and turns in between.
 */
import { type Clock, pause } from '../../clock.ts'

/** An event loop that has not turned for this long is taken for stuck. */
const stuckAfterMs = 60_000
const beatMs = 1_000

/**
 * Checks each second until the signal and reports how late each check was. The returned function says why the process should be restarted;
 * empty when it need not be.
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
