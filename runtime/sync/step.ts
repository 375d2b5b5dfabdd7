/**
 * The steps of a cycle that may take long: each is timed, and told in one line for whoever looks closely.
 */
import type { Clock } from '../clock.ts'
import { asFault } from '../fault.ts'
import type { Log } from '../log.ts'

/** In the order of a cycle: what to do, its contents, the checks of what was rendered, the gateway's lock, the renames, its scan. */
export const cycleSteps = ['plan', 'stage', 'check', 'lock', 'publish', 'scan'] as const
export type CycleStep = (typeof cycleSteps)[number]

export type StepDeps = {
  clock: Clock
  log: Log
  /** Told how long each step took, however it ended. */
  stepped?: (step: CycleStep, durationMs: number) => void
}

/** Does a step; what it throws is thrown on. */
export async function doStep<Result>(
  { clock, log, stepped }: StepDeps,
  step: CycleStep,
  commit: string,
  work: () => Result | Promise<Result>,
): Promise<Result> {
  const startedMs = clock.monotonicMs()
  let reason: string = 'ok'
  try {
    return await work()
  } catch (error) {
    ;({ reason } = asFault(error))
    throw error
  } finally {
    const durationMs = clock.monotonicMs() - startedMs
    stepped?.(step, durationMs)
    log.debug({ component: step, commit, reason, durationMs: Math.round(durationMs) }, 'step of a cycle ended')
  }
}
