/**
 * Handles Ctrl-C (SIGINT) and SIGTERM. A command that runs until it is stopped, such as `status --watch`, exits with 0. One whose exit code is a
 * result, such as `lint` or `request --wait`, cleans up and ends by the signal: 0 would report success.
 */
import { systemClock } from '../platform/clock.ts'

type Name = 'SIGINT' | 'SIGTERM'

/** Longer than the grace period of git. */
const graceMs = 3_000

let stop: AbortController | undefined
let isWork = false
let endsBy: Name | undefined

/** Fires at the first signal; later ones are ignored, because a terminal and the parent process may both send it. */
export function stopSignal(): AbortSignal {
  if (stop === undefined) for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => onSignal(name))
  stop ??= new AbortController()
  return stop.signal
}

/**
 * For work whose result is the exit code: aborts at a signal; the process then ends, after three seconds at the latest; and after `ms`, for
 * work without its own deadline.
 */
export function workSignal(ms?: number): AbortSignal {
  isWork = true
  return ms === undefined ? stopSignal() : AbortSignal.any([stopSignal(), AbortSignal.timeout(ms)])
}

function onSignal(name: Name): void {
  stop?.abort(new Error(name))
  if (!isWork || endsBy !== undefined) return
  endsBy = name
  void systemClock.wait(graceMs).then(() => {
    endAsStopped()
    setImmediate(() => process.exit())
  })
}

/** Whether work was stopped, so that its error is not reported as a failure. */
export function isStopped(): boolean {
  return endsBy !== undefined
}

/** Ends the process by the signal that stopped its work, if one did. */
export function endAsStopped(): void {
  if (endsBy === undefined) return
  // Signals have no default action in the first process of a container: it continues, and exits with this code.
  process.exitCode = endsBy === 'SIGINT' ? 130 : 143
  process.removeAllListeners(endsBy)
  process.kill(process.pid, endsBy)
}
