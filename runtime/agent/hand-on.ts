/**
 * What was changed on the gateway goes to the controller before the next sync may overwrite it: for a request, or because it was left alone.
 */
import type { Source } from '../delivery/protocol.ts'
import { asFault, isAbort } from '../fault.ts'
import type { ToldChanges } from '../gatewaysync/schema/report.ts'
import { type Log, logOf } from '../log.ts'
import type { CycleResult, Wanted } from '../sync/cycle.ts'

/** What syncs find to differ from the commit. */
export type Drift = NonNullable<CycleResult['drift']>

/** How changes are told and handed on; absent on one machine. All throw what reading and delivery throw. */
export type HandOnDeps = {
  /** For the report; undefined: they cannot be told now. */
  tell?(source: Source, wanted: Wanted, request: string, signal: AbortSignal): Promise<ToldChanges | undefined>
  /** For a request; `again`: ask once more. */
  capture?(source: Source, wanted: Wanted, request: string, signal: AbortSignal): Promise<'done' | 'again'>
  /** Once they were left alone for `quietMs`; returns in how many ms to ask once more, undefined: once there is drift. */
  captureQuiet?(
    source: Source,
    wanted: Wanted,
    quiet: { quietMs: number; subject: string; drift: Drift | undefined },
    signal: AbortSignal,
  ): Promise<number | undefined>
  log: Log
}

/** Requests to tell and to capture, and for how long changes are left alone before they are captured without one, of which GatewaySync and repository. */
export type AskedOfChanges = {
  tell: string | undefined
  capture: string | undefined
  quiet: { quietMs: number; subject: string } | undefined
}

/** `againMs`: in how many ms to ask once more; Infinity: not before the next sync. `told` is for the report. */
export type Handed = { againMs: number | 'failed'; told: { changes?: ToldChanges } }

const againMs = 5_000

/** Tells and hands on what is asked for, and then what was left alone. A failure keeps no sync from being made. */
export async function handOn(
  { tell, capture, captureQuiet, log }: HandOnDeps,
  source: Source,
  wanted: Wanted,
  asked: AskedOfChanges & { drift: Drift | undefined },
  signal: AbortSignal,
): Promise<Handed> {
  const attempt = async <Result>(work: () => Promise<Result>): Promise<Result | 'failed'> => {
    try {
      return await work()
    } catch (error) {
      if (isAbort(error, signal)) throw error
      const { reason, message } = asFault(error)
      logOf(log, wanted.requestId).warn({ commit: wanted.commit, reason, message }, 'local changes could not be handed on')
      return 'failed'
    }
  }
  const { tell: toTell, capture: request, quiet, drift } = asked
  const changes = toTell === undefined ? undefined : await attempt(async () => (await tell?.(source, wanted, toTell, signal)) ?? 'again')
  const captureAgainMs = await attempt(async () => {
    if (request !== undefined && (await capture?.(source, wanted, request, signal)) === 'again') return againMs
    if (quiet === undefined) return Infinity
    return (await captureQuiet?.(source, wanted, { ...quiet, drift }, signal)) ?? Infinity
  })
  if (changes === 'failed' || captureAgainMs === 'failed') return { againMs: 'failed', told: toldOf(changes) }
  return { againMs: changes === 'again' ? Math.min(captureAgainMs, againMs) : captureAgainMs, told: toldOf(changes) }
}

function toldOf(changes: ToldChanges | 'again' | 'failed' | undefined): Handed['told'] {
  return typeof changes === 'object' ? { changes } : {}
}

/** The drift that is known after a sync; one that could not look leaves what was known. */
export function driftAfter(before: Drift | undefined, { phase, reason, drift }: CycleResult): Drift | undefined {
  if (drift !== undefined) return drift.count === 0 ? undefined : drift
  if (reason === 'LocalChanges') return before ?? { count: 1, paths: [] }
  return phase === 'Synced' ? undefined : before
}
