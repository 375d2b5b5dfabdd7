/**
 * How a controller shuts down: first it becomes unready and stops leading but still answers, until everybody who sends calls has noticed; then
 * it closes its ports.
 */
import type { Clock } from '../../clock.ts'

/** The two signals of a shutdown. */
export type Ending = {
  /** Fires with SIGTERM or SIGINT. */
  leaving: AbortSignal
  /** Fires when no more calls are answered. */
  closing: AbortSignal
  /** Skips the delay: when nothing is served yet, and for somebody at a terminal. */
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
