/**
 * Warnings that strangers can cause, such as a login that fails each time that somebody tries: those of one step of it are written once a
 * minute, whatever their cause, with how many were left out before.
 */
import type { Clock } from '../../clock.ts'
import type { Log } from '../../log.ts'

const everyMs = 60_000

/** `subject`: what the warning is about, of a few; those about one share the minute. `message` is the log's own, the same for all. */
export function createSparingWarnings(
  message: string,
  { clock, log }: { clock: Pick<Clock, 'monotonicMs'>; log: Pick<Log, 'warn'> },
): (subject: string, detail: string) => void {
  const told = new Map<string, { atMs: number; leftOut: number }>()
  return (subject, detail) => {
    const before = told.get(subject)
    if (before !== undefined && clock.monotonicMs() - before.atMs < everyMs) {
      before.leftOut += 1
      return
    }
    told.set(subject, { atMs: clock.monotonicMs(), leftOut: 0 })
    const count = before === undefined || before.leftOut === 0 ? {} : { count: before.leftOut }
    log.warn({ component: 'status-page', message: `${subject}: ${detail}`, ...count }, message)
  }
}
