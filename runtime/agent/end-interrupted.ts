/**
 * What an agent does before anything else: it ends a publish in which an earlier process was killed, for until then the volume may hold a
 * mixture of two commits.
 */
import type { Clock } from '../clock.ts'
import { asFault } from '../fault.ts'
import type { Log } from '../log.ts'
import { longestRecoveryMs } from './follower-state.ts'
import { unknownStart } from './health.ts'

/** Between two tries. A disk that is full or away may be back soon. */
const againMs = 1_000
/** Within this the kubelet has asked whether the gateway may start. */
const probedWithinMs = 5_000

type Deps = { recover(signal: AbortSignal): Promise<void>; clock: Clock; log: Log }

/**
 * Settles when nothing is interrupted any more; after 30 s of tries in vain it throws what the last one threw, and the next sync tries again.
 * `recoveringMs`: for how long earlier processes have tried. Where that is too long, as when each of them died of it, the kubelet is let ask
 * first, so that the gateway starts all the same.
 */
export async function endInterrupted({ recover, clock, log }: Deps, recoveringMs: number, signal: AbortSignal): Promise<void> {
  const untilMs = clock.monotonicMs() + unknownStart.graceMs
  if (recoveringMs >= longestRecoveryMs) await clock.wait(probedWithinMs, signal)
  for (let tries = 1; ; tries += 1) {
    try {
      await recover(signal)
      return
    } catch (error) {
      if (signal.aborted || clock.monotonicMs() >= untilMs) throw error
      const { reason, message } = asFault(error)
      if (tries === 1) log.warn({ reason, message }, 'a publish that was interrupted could not be ended; it is tried again')
    }
    await clock.wait(againMs, signal)
  }
}
