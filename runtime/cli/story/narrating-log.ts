/**
 * The log of a run where nobody asked for one: what somebody should know becomes a note of the story, and what the story tells in its own
 * words is left out.
 */
import { asFault } from '../../fault.ts'
import type { Log, LogFields } from '../../log.ts'
import type { StoryEvent } from './events.ts'

/** Messages of log lines that come with an event of the story: `narrate.ts` tells the fault behind them. */
const toldElsewhere: ReadonlySet<string> = new Set([
  'sync failed',
  'a sync ended with an error that is a bug',
  'a pass failed',
  'a cycle met a bug',
  'the push receiver asks for no proof: anyone who reaches it may push',
])

/** A log whose entries become events of the story; what tells people nothing is dropped. */
export function createNarratingLog(tell: (event: StoryEvent) => void): Log {
  const note = (fields: LogFields, message: string): void => {
    if (toldElsewhere.has(message)) return
    const detail = fields.message ?? (fields.err === undefined ? undefined : asFault(fields.err).message)
    const about = fields.gateway === undefined ? '' : `${fields.gateway}: `
    const why = detail === undefined ? '' : `: ${detail}`
    tell({ event: 'note', message: `${about}${message}${why}${fields.reason === undefined ? '' : ` (${fields.reason})`}` })
  }
  const log: Log = {
    debug() {},
    info() {},
    warn: note,
    error: note,
    child: (fields) => ({
      debug() {},
      info() {},
      warn: (more, message) => note({ ...fields, ...more }, message),
      error: (more, message) => note({ ...fields, ...more }, message),
      child: (more) => log.child({ ...fields, ...more }),
    }),
  }
  return log
}
