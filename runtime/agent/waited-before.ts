/**
 * For how long the agents of a pod have held back its gateway before this one, as they left it in the data directory.
 */
import { asFault } from '../fault.ts'
import type { Log } from '../log.ts'
import { sinceFirstRecovery, sinceFirstStart } from '../sync/disk/first-start.ts'
import { interruptedPublish } from '../sync/publish/journal.ts'

/**
 * In ms, from the first agent (`waitedMs`) and from the first try to end the publish that is interrupted (`recoveringMs`); 0 when that cannot be
 * recorded, and the cycle will report why.
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
      log.warn({ reason, message }, 'since when the gateway waits cannot be kept')
      return 0
    }
  }
  return {
    waitedMs: recorded(() => sinceFirstStart(dataDir, podUid)),
    recoveringMs: recorded(() => {
      const publish = interruptedPublish(dataDir)
      return publish === undefined ? 0 : sinceFirstRecovery(dataDir, `${podUid} ${publish}`)
    }),
  }
}
