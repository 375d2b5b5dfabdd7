/**
 * Measures the steps of a cycle that may take long, and logs each in one line at level debug.
 */
import type { Clock } from '../platform/clock.ts'
import { asFault, type Reason } from '../platform/fault.ts'
import type { Log } from '../platform/log/log.ts'

/** In the order of a cycle: decide what to do, fetch contents, check rendered files, take the gateway's lock, rename, scan. */
export const cycleSteps = ['plan', 'stage', 'check', 'lock', 'publish', 'scan'] as const
/** The label of a step's duration in metrics. */
export type CycleStep = (typeof cycleSteps)[number]

export type StepDeps = {
  clock: Clock
  log: Log
  /** Called with the duration of each step and its result. */
  stepped?: (step: CycleStep, durationMs: number, reason: 'ok' | Reason) => void
}

/** Runs a step and reports its duration. Throws what `work` throws. */
export async function doStep<Result>(
  { clock, log, stepped }: StepDeps,
  step: CycleStep,
  commit: string,
  work: () => Result | Promise<Result>,
): Promise<Result> {
  const startedMs = clock.monotonicMs()
  let reason: 'ok' | Reason = 'ok'
  try {
    return await work()
  } catch (error) {
    ;({ reason } = asFault(error))
    throw error
  } finally {
    const durationMs = clock.monotonicMs() - startedMs
    stepped?.(step, durationMs, reason)
    log.debug({ step, commit, reason, durationMs: Math.round(durationMs) }, 'cycle step ended')
  }
}
