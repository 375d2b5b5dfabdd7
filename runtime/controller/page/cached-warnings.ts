/**
 * Rate-limits warnings that unauthenticated users can cause, such as failed logins: one per step and minute, with the number of suppressed
 * ones.
 */
import type { Clock } from '../../platform/clock.ts'
import type { Log } from '../../platform/log/log.ts'

const everyMs = 60_000

/** `subject`: what the warning is about, from a small set; warnings with the same subject share the limit. `message` is the log message. */
export function createSparingWarnings(
  message: string,
  { clock, log }: { clock: Pick<Clock, 'monotonicMs'>; log: Pick<Log, 'warn'> },
): (subject: string, detail: string) => void {
  const logged = new Map<string, { atMs: number; leftOut: number }>()
  return (subject, detail) => {
    const before = logged.get(subject)
    if (before !== undefined && clock.monotonicMs() - before.atMs < everyMs) {
      before.leftOut += 1
      return
    }
    logged.set(subject, { atMs: clock.monotonicMs(), leftOut: 0 })
    const count = before === undefined || before.leftOut === 0 ? {} : { count: before.leftOut }
    log.warn({ component: 'status-page', message: `${subject}: ${detail}`, ...count }, message)
  }
}
