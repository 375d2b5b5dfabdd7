/**
 * Reads from the data directory how long earlier agents of the pod have held the gateway's start.
 */
import { asFault } from '../platform/fault.ts'
import type { Log } from '../platform/log/log.ts'
import { sinceFirstRecovery, sinceFirstStart } from '../sync/disk/first-start.ts'
import { interruptedApply } from '../sync/apply/journal.ts'

/**
 * Returns the time in ms since the first agent started (`waitedMs`) and since the first attempt to recover the interrupted apply
 * (`recoveringMs`); 0 if it cannot be recorded, in which case the cycle reports the cause.
 */
export function waitedBefore(
  { log }: { log: Log },
  { dataDir, podUid }: { dataDir: string; podUid: string },
): { waitedMs: number; recoveringMs: number } {
  const recorded = (since: () => number): number => {
    try {
      return since()
    } catch (error) {
      const { reason, message } = asFault(error)
      log.warn({ reason, message }, 'the start time of the startup hold was not saved')
      return 0
    }
  }
  return {
    waitedMs: recorded(() => sinceFirstStart(dataDir, podUid)),
    recoveringMs: recorded(() => {
      const apply = interruptedApply(dataDir)
      return apply === undefined ? 0 : sinceFirstRecovery(dataDir, `${podUid} ${apply}`)
    }),
  }
}
