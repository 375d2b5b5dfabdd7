/**
 * What was changed on the gateway goes to the controller before the next sync may overwrite it: for a request, or because it was left alone.
 */
import type { Source } from '../delivery/protocol.ts'
import { asFault, isAbort } from '../fault.ts'
import { type Log, logOf } from '../log.ts'
import type { CycleResult, Wanted } from '../sync/cycle.ts'

/** What syncs find to differ from the commit. */
export type Drift = NonNullable<CycleResult['drift']>

/** How changes are handed on; absent on one machine. Both throw what reading and delivery throw. */
export type HandOnDeps = {
  /** For a request; `again`: ask once more. */
  capture?(source: Source, wanted: Wanted, request: string, signal: AbortSignal): Promise<'done' | 'again'>
  /** Once they were left alone for `quietMs`; returns in how many ms to ask once more, undefined: once there is drift. */
  captureQuiet?(
    source: Source,
    wanted: Wanted,
    quiet: { quietMs: number; drift: Drift | undefined },
    signal: AbortSignal,
  ): Promise<number | undefined>
  log: Log
}

/** In how many ms to ask once more; Infinity: not before the next sync. */
export type Handed = number | 'failed'

const againMs = 5_000

/** Hands on what is asked for, and then what was left alone. A failure keeps no sync from being made. */
export async function handOn(
  { capture, captureQuiet, log }: HandOnDeps,
  source: Source,
  wanted: Wanted,
  { request, quietMs, drift }: { request: string | undefined; quietMs: number | undefined; drift: Drift | undefined },
  signal: AbortSignal,
): Promise<Handed> {
  try {
    if (request !== undefined && (await capture?.(source, wanted, request, signal)) === 'again') return againMs
    if (quietMs === undefined) return Infinity
    return (await captureQuiet?.(source, wanted, { quietMs, drift }, signal)) ?? Infinity
  } catch (error) {
    if (isAbort(error, signal)) throw error
    const { reason, message } = asFault(error)
    logOf(log, wanted.requestId).warn({ commit: wanted.commit, reason, message }, 'local changes could not be handed on')
    return 'failed'
  }
}

/** The drift that is known after a sync; one that could not look leaves what was known. */
export function driftAfter(before: Drift | undefined, { phase, reason, drift }: CycleResult): Drift | undefined {
  if (drift !== undefined) return drift.count === 0 ? undefined : drift
  if (reason === 'LocalChanges') return before ?? { count: 1, paths: [] }
  return phase === 'Synced' ? undefined : before
}
