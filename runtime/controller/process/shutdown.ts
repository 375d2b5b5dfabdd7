/**
 * Shuts a controller down: first it becomes unready and stops leading but still answers, until all callers have noticed; then it closes its
 * ports.
 */
import type { Clock } from '../../platform/clock.ts'

/** The two signals of a shutdown. */
export type Ending = {
  /** Aborts on SIGTERM or SIGINT. */
  leaving: AbortSignal
  /** Aborts when no more calls are answered. */
  closing: AbortSignal
  /** Skips the delay: when nothing is served yet, or at a terminal. */
  now(reason: string): void
  /** Starts the shutdown, with the delay. */
  begin(reason: string): void
}

/** `delayMs`: from `leaving` to `closing`. */
export function createEnding(clock: Pick<Clock, 'wait'>, delayMs: number): Ending {
  const [leaving, closing] = [new AbortController(), new AbortController()]
  const now = (reason: string): void => {
    leaving.abort(new Error(reason))
    closing.abort(new Error(reason))
  }
  return {
    leaving: leaving.signal,
    closing: closing.signal,
    now,
    begin(reason) {
      leaving.abort(new Error(reason))
      clock.wait(delayMs, closing.signal).then(
        () => closing.abort(new Error(reason)),
        () => undefined,
      )
    },
  }
}
