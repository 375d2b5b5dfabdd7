/**
 * What an agent does before anything else: it ends a publish in which an earlier process was killed, for until then the volume may hold a
 * mixture of two commits.
 */
import type { Clock } from '../clock.ts'
import { asFault, isAbort } from '../fault.ts'
import type { Log } from '../log.ts'
import { type FollowerEvent, longestRecoveryMs } from './follower-state.ts'
import { unknownStart } from './health.ts'

/** Between two tries. A disk that is full or away may be back soon. */
const againMs = 1_000
/** Within this the kubelet has asked whether the gateway may start. */
const probedWithinMs = 5_000

type Deps = { recover(signal: AbortSignal): Promise<void>; clock: Clock; log: Log }

/**
 * Settles when nothing is interrupted any more, and after 30 s of tries in vain: then the next sync tries again. `recoveringMs`: for how long
 * earlier processes have tried. Where that is too long, as when each of them died of it, the kubelet is let ask first, so that the gateway
 * starts all the same. Never throws.
 */
export async function endInterrupted({ recover, clock, log }: Deps, recoveringMs: number, signal: AbortSignal): Promise<FollowerEvent> {
  const untilMs = clock.monotonicMs() + unknownStart.graceMs
  try {
    if (recoveringMs >= longestRecoveryMs) await clock.wait(probedWithinMs, signal)
    for (let tries = 1; ; tries += 1) {
      try {
        await recover(signal)
        break
      } catch (error) {
        signal.throwIfAborted()
        const { reason, message } = asFault(error)
        if (tries === 1) log.warn({ reason, message }, 'a publish that was interrupted could not be ended; it is tried again')
        if (clock.monotonicMs() >= untilMs) break
      }
      await clock.wait(againMs, signal)
    }
  } catch (error) {
    if (!isAbort(error, signal)) throw error
  }
  return { kind: 'recovered' }
}
