/**
 * Writes the output of a run: events on standard output; in a single run, failures on standard error. On a terminal the last line shows temporary
 * state: the progress of a first sync, or a poll without changes.
 */
import type { Clock } from '../../platform/clock.ts'
import type { Temporal } from '../../platform/temporal.ts'
import { escapeControls } from '../../platform/text/controls.ts'
import { nextStep } from './next-steps.ts'
import { isFailure, levelOf, renderEvent, renderPassing, type RunStyle } from './render.ts'
import type { RunEvent } from './narrate.ts'

export type RunOutput = {
  emit(event: RunEvent): void
  /** Whether a failure has been printed. */
  hasFailed(): boolean
  /** Removes the temporary line. */
  end(): void
}

/** `out` and `err` write to standard output and standard error. */
export type RunOutputOptions = {
  format: 'text' | 'json'
  style: RunStyle
  /** Whether a line can be overwritten: a terminal. */
  isTerminal: boolean
  /** Whether failures go to standard error: in a single run, whose exit code depends on them. */
  splits: boolean
  out(text: string): void
  err(text: string): void
}

/** Minimum interval between updates of the temporary line, in milliseconds. Without a terminal each progress update is a separate line. */
const passingMs = 100
const progressMs = 10_000
const clearLine = '\r\u001b[2K'

/** Formats events of a run as lines with a time; omits repetitions. */
export function createRunOutput(clock: Pick<Clock, 'now' | 'monotonicMs'>, options: RunOutputOptions): RunOutput {
  const { format, style, isTerminal, splits, out, err } = options
  let failed = false
  let isPassing = false
  let lastMs = Number.NEGATIVE_INFINITY
  const clear = (): void => {
    if (isPassing) out(clearLine)
    isPassing = false
  }
  /** Whether enough time has passed since the last progress update; the last one is always printed. */
  const isDue = (event: RunEvent, everyMs: number): boolean => {
    const nowMs = clock.monotonicMs()
    const isWhole = event.event === 'progress' && event.done === event.total
    // Without a terminal the first update is delayed too: most syncs have ended by then.
    if (event.event === 'progress' && event.done === 1 && !isTerminal) lastMs = nowMs
    if (event.event === 'progress' && !(isTerminal && isWhole) && nowMs - lastMs < everyMs) return false
    lastMs = nowMs
    return true
  }
  return {
    emit(event) {
      const fails = isFailure(event)
      failed ||= fails
      const passing = renderPassing(event, clock.now(), style)
      if (passing !== undefined && isTerminal && format === 'text') {
        if (isDue(event, passingMs)) out(`${clearLine}${escapeControls(passing, style)}`)
        isPassing = true
        return
      }
      if (event.event === 'unchanged' || (event.event === 'progress' && !isDue(event, progressMs))) return
      clear()
      const write = splits && fails ? err : out
      const lines = format === 'json' ? [jsonLine(event, clock.now())] : renderEvent(event, clock.now(), style)
      write(escapeControls(lines.map((line) => `${line}\n`).join(''), style))
    },
    hasFailed: () => failed,
    end: clear,
  }
}

/** `time` and `event` come first; `next` is the next step after a failure. */
function jsonLine(event: RunEvent, now: Temporal.Instant): string {
  const next = 'reason' in event ? nextStep(event.reason) : undefined
  const { event: name, ...members } = event
  const time = now.toString({ smallestUnit: 'millisecond' })
  return JSON.stringify({ time, event: name, level: levelOf(event), ...members, ...(next === undefined ? {} : { next }) })
}
