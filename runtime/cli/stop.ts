/**
 * Ctrl-C (SIGINT) and SIGTERM on the command line. A command that goes on until it is stopped, such as `status --watch`, ends with 0. One whose
 * exit code is an answer, such as `lint` or `request --wait`, takes back what it opened and ends by the signal: 0 would say that all is well.
 */
import { systemClock } from '../clock.ts'

type Name = 'SIGINT' | 'SIGTERM'

/** Longer than git gets to end. */
const graceMs = 3_000

let stop: AbortController | undefined
let isWork = false
let endsBy: Name | undefined

/** Fires at the first signal; later ones change nothing, because a terminal and the process that started this one may both send it. */
export function stopSignal(): AbortSignal {
  if (stop === undefined) for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => onSignal(name))
  stop ??= new AbortController()
  return stop.signal
}

/**
 * For work whose outcome is the exit code: fires at a signal, by which the process then ends, at the latest after three seconds; and after `ms`,
 * for work that has no deadline of its own.
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

/** Whether work was stopped, so that what it says of its failure is no failure. */
export function isStopped(): boolean {
  return endsBy !== undefined
}

/** Ends the process by the signal that stopped its work, if one did. */
export function endAsStopped(): void {
  if (endsBy === undefined) return
  // The first process of a container is ended by no signal of its own: it goes on, and ends with this.
  process.exitCode = endsBy === 'SIGINT' ? 130 : 143
  process.removeAllListeners(endsBy)
  process.kill(process.pid, endsBy)
}
