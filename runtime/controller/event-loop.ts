/**
 * Whether the event loop turns. One that hangs answers no probe either; one that is blocked for minutes and then turns for a moment would.
 */
import { type Clock, pause } from '../clock.ts'

/** A loop of the process that did not turn for so long will not turn again. */
const stuckAfterMs = 60_000
const beatMs = 1_000

/**
 * Looks each second until the signal, and tells how late each look was. The answer says why the process had better be started anew, and is
 * empty where it need not.
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
