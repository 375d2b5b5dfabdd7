/**
 * How a controller ends: first it is not ready any more and leads no more, but goes on to answer, until all who send calls have heard of
 * that; then it closes.
 */
import type { Clock } from '../clock.ts'

export type Ending = {
  /** Fires with SIGTERM or SIGINT. */
  leaving: AbortSignal
  /** Fires when nothing more is to be answered. */
  closing: AbortSignal
  /** Ends at once, when there is nothing to answer yet, and for who waits at a terminal. */
  now(reason: string): void
  /** Ends after the delay. */
  begin(reason: string): void
}

/** `delayMs`: from the beginning of the end until nothing more is answered. */
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
