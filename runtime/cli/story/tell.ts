/**
 * Writes the story of a run: lines on standard output, and where a run that ends by itself fails, the failure on standard error. On a
 * terminal one line below the others tells what passes: the progress of a first sync, a poll that found nothing new.
 */
import type { Clock } from '../../clock.ts'
import type { StoryEvent } from './events.ts'
import { nextStep } from './next-steps.ts'
import { isFailure, levelOf, renderEvent, renderPassing, type StoryStyle } from './render.ts'

export type Story = {
  tell(event: StoryEvent): void
  /** Whether a failure has been told. */
  hasFailed(): boolean
  /** Takes the passing line away. */
  end(): void
}

/** `out` and `err` write to standard output and standard error. */
export type StoryOptions = {
  format: 'text' | 'json'
  style: StoryStyle
  /** Whether a line can be written over: a terminal. */
  isTerminal: boolean
  /** Whether failures belong to standard error: what the exit code of a single run is about. */
  splits: boolean
  out(text: string): void
  err(text: string): void
}

/** On a terminal a line is written over at most so often; elsewhere progress is a line of its own. In ms. */
const passingMs = 100
const progressMs = 10_000
const clearLine = '\r\u001b[2K'

/** Turns events of a run into lines, each with its time; says nothing twice. */
export function createStory(clock: Pick<Clock, 'now' | 'monotonicMs'>, options: StoryOptions): Story {
  const { format, style, isTerminal, splits, out, err } = options
  let failed = false
  let isPassing = false
  let lastMs = Number.NEGATIVE_INFINITY
  const clear = (): void => {
    if (isPassing) out(clearLine)
    isPassing = false
  }
  /** Whether enough time has passed since the last progress; the end of it is always told. */
  const isDue = (event: StoryEvent, everyMs: number): boolean => {
    const nowMs = clock.monotonicMs()
    const isWhole = event.event === 'progress' && event.done === event.total
    // Without a terminal the first line is due after the wait too: most syncs have ended by then.
    if (event.event === 'progress' && event.done === 1 && !isTerminal) lastMs = nowMs
    if (event.event === 'progress' && !(isTerminal && isWhole) && nowMs - lastMs < everyMs) return false
    lastMs = nowMs
    return true
  }
  return {
    tell(event) {
      const fails = isFailure(event)
      failed ||= fails
      const passing = renderPassing(event, clock.now(), style)
      if (passing !== undefined && isTerminal && format === 'text') {
        if (isDue(event, passingMs)) out(`${clearLine}${passing}`)
        isPassing = true
        return
      }
      if (event.event === 'unchanged' || (event.event === 'progress' && !isDue(event, progressMs))) return
      clear()
      const write = splits && fails ? err : out
      write(
        format === 'json'
          ? `${jsonLine(event, clock.now())}\n`
          : renderEvent(event, clock.now(), style)
              .map((line) => `${line}\n`)
              .join(''),
      )
    },
    hasFailed: () => failed,
    end: clear,
  }
}

/** `time` and `event` come first; `next` is what to do about a failure. */
function jsonLine(event: StoryEvent, now: Temporal.Instant): string {
  const next = 'reason' in event ? nextStep(event.reason) : undefined
  const { event: name, ...members } = event
  const time = now.toString({ smallestUnit: 'millisecond' })
  return JSON.stringify({ time, event: name, level: levelOf(event), ...members, ...(next === undefined ? {} : { next }) })
}
