/**
 * Recovers, before anything else, an apply that a killed process left: until then the volume may hold a mixture of two commits.
 */
import type { Clock } from '../platform/clock.ts'
import { asFault, type Fault } from '../platform/fault.ts'
import type { Log } from '../platform/log/log.ts'
import { forgetRecovery } from '../sync/disk/first-start.ts'
import { isInterrupted } from '../sync/apply/journal.ts'
import { maxRecoveryMs } from './follower-state.ts'
import { unknownStart } from './health.ts'

/** Interval between attempts. A full or missing disk may be back soon. */
const againMs = 1_000
/** Within this time the kubelet has probed whether the gateway may start. */
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
