/**
 * Waits for an API server that starts later than the controller, as after a restart of the whole cluster.
 */
import { backoffMs, type Clock } from '../../platform/clock.ts'
import { asFault } from '../../platform/fault.ts'
import type { Kube } from '../../kube/client.ts'
import type { Log } from '../../platform/log/log.ts'

const firstRetryMs = 500
const longestRetryMs = 5_000

/** Settles once the API server has returned its version. Throws UnsupportedKubernetes, and the signal's reason. */
export async function waitForApiServer(
  { kube, clock, log }: { kube: Pick<Kube, 'requireVersion'>; clock: Clock; log: Log },
  signal: AbortSignal,
): Promise<void> {
  for (let failures = 1; ; failures += 1) {
    try {
      await kube.requireVersion(signal)
      return
    } catch (error) {
      const fault = asFault(error)
      if (signal.aborted || fault.reason === 'UnsupportedKubernetes' || fault.reason === 'Unexpected') throw error
      log.warn({ reason: fault.reason, message: fault.message }, 'the API server is not available yet')
      await clock.wait(backoffMs(failures, firstRetryMs, longestRetryMs, clock.random()), signal)
    }
  }
}
