/**
 * At the start of an agent, before anything else: recovers an apply that a killed process left, because until then the volume may hold a
 * mixture of two commits, and reads how long earlier agents of the pod have held the gateway's start.
 */
import type { Clock } from '../platform/clock.ts'
import { asFault, type Fault } from '../platform/fault.ts'
import type { Log } from '../platform/log/log.ts'
import { forgetRecovery, sinceFirstRecovery, sinceFirstStart } from '../sync/disk/first-start.ts'
import { isInterrupted, interruptedApply } from '../sync/apply/journal.ts'
import { maxRecoveryMs } from './follower-state.ts'
import { unknownStart } from './health.ts'

/** Interval between attempts. A full or missing disk may be back soon. */
const againMs = 1_000
/** The kubelet probes at least once within this time. */
const probedWithinMs = 5_000

type Deps = {
  /** Recovers the interrupted apply; throws if it cannot. */
  recover(signal: AbortSignal): Promise<unknown>
  /** Receives the fault of a failed attempt immediately; again only if the reason changes. */
  failed(fault: Fault): void
  clock: Clock
  log: Log
}

/** `recoveringMs`: how long earlier processes have tried to recover this data directory. */
type Interrupted = { dataDir: string; recoveringMs: number }

/**
 * Settles when nothing is interrupted anymore; after 30 s of failed attempts it throws the last fault, and the next sync tries again. A
 * data directory that cannot be read is retried too. If earlier processes have tried for too long, for example because each of them was
 * killed meanwhile, it waits for a probe first, so that the gateway starts anyway.
 */
export async function endInterrupted(
  { recover, failed, clock, log }: Deps,
  { dataDir, recoveringMs }: Interrupted,
  signal: AbortSignal,
): Promise<void> {
  const untilMs = clock.monotonicMs() + unknownStart.graceMs
  if (recoveringMs >= maxRecoveryMs) await clock.wait(probedWithinMs, signal)
  let reported = ''
  for (;;) {
    try {
      // Evaluated at each attempt: a disk that could not be read before may hold an interrupted apply.
      if (!isInterrupted(dataDir)) return
      await recover(signal)
      forgetRecovery(dataDir)
      return
    } catch (error) {
      if (signal.aborted || clock.monotonicMs() >= untilMs) throw error
      const fault = asFault(error)
      const { reason, message } = fault
      if (reported !== message) {
        log.warn({ reason, message }, 'an interrupted apply could not be recovered; the agent retries')
        failed(fault)
      }
      reported = message
    }
    await clock.wait(againMs, signal)
  }
}

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
