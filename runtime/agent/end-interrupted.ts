/**
 * What an agent does before anything else: it ends a publish in which an earlier process was killed, for until then the volume may hold a
 * mixture of two commits.
 */
import type { Clock } from '../clock.ts'
import { asFault, type Fault } from '../fault.ts'
import type { Log } from '../log.ts'
import { forgetRecovery } from '../sync/disk/first-start.ts'
import { isInterrupted } from '../sync/publish/journal.ts'
import { longestRecoveryMs } from './follower-state.ts'
import { unknownStart } from './health.ts'

/** Between two tries. A disk that is full or away may be back soon. */
const againMs = 1_000
/** Within this the kubelet has asked whether the gateway may start. */
const probedWithinMs = 5_000

type Deps = {
  /** Ends the publish that is interrupted; throws where it cannot. */
  recover(signal: AbortSignal): Promise<unknown>
  /** Told why a try was in vain, at once; again only where another one has another reason. */
  failed(fault: Fault): void
  clock: Clock
  log: Log
}

/** `recoveringMs`: for how long earlier processes have tried to end what is interrupted in the data directory. */
type Interrupted = { dataDir: string; recoveringMs: number }

/**
 * Settles when nothing is interrupted any more; after 30 s of tries in vain it throws what the last one threw, and the next sync tries again.
 * A data directory that does not tell whether something is interrupted is tried again too. Where earlier processes have tried for too long, as
 * when each of them died of it, the kubelet is let ask first, so that the gateway starts all the same.
 */
export async function endInterrupted(
  { recover, failed, clock, log }: Deps,
  { dataDir, recoveringMs }: Interrupted,
  signal: AbortSignal,
): Promise<void> {
  const untilMs = clock.monotonicMs() + unknownStart.graceMs
  if (recoveringMs >= longestRecoveryMs) await clock.wait(probedWithinMs, signal)
  let told = ''
  for (;;) {
    try {
      // Asked at each try: a disk that could not be read may have something to end.
      if (!isInterrupted(dataDir)) return
      await recover(signal)
      forgetRecovery(dataDir)
      return
    } catch (error) {
      if (signal.aborted || clock.monotonicMs() >= untilMs) throw error
      const fault = asFault(error)
      const { reason, message } = fault
      if (told !== message) {
        log.warn({ reason, message }, 'a publish that may be interrupted could not be looked at or ended; it is tried again')
        failed(fault)
      }
      told = message
    }
    await clock.wait(againMs, signal)
  }
}
