/**
 * What was changed on the gateway goes to the controller before the next sync may overwrite it: for a request, or because it was left alone.
 */
import { deadline } from '../clock.ts'
import type { Source } from '../delivery/protocol.ts'
import { asFault, Fault, isAbort } from '../fault.ts'
import type { AskedBy } from '../gatewaysync/decide/capture.ts'
import type { ToldChanges } from '../gatewaysync/schema/report.ts'
import { type Log, logOf } from '../log.ts'
import type { CycleResult, Wanted } from '../sync/cycle.ts'

/** What syncs find to differ from the commit. */
export type Drift = NonNullable<CycleResult['drift']>

/** How changes are told and handed on; absent on one machine. All throw what reading and delivery throw. */
export type HandOnDeps = {
  /** For the report; undefined: they cannot be told now. */
  tell?(source: Source, wanted: Wanted, asked: AskedBy, signal: AbortSignal): Promise<ToldChanges | undefined>
  /** After how many ms it is given up until later; shorter in tests. */
  tellWithinMs?: number
  /** For a request; `again`: ask once more. */
  capture?(source: Source, wanted: Wanted, asked: AskedBy, signal: AbortSignal): Promise<'done' | 'again'>
  /** Once they were left alone for `quietMs`; returns in how many ms to ask once more, undefined: once there is drift. */
  captureQuiet?(
    source: Source,
    wanted: Wanted,
    quiet: { quietMs: number; subject: string; drift: Drift | undefined },
    signal: AbortSignal,
  ): Promise<number | undefined>
  log: Log
}

/** Requests to tell and to capture, of which GatewaySync; and for how long changes are left alone before they are captured without one, of which GatewaySync and repository. */
export type AskedOfChanges = {
  uid: string
  tell: string | undefined
  capture: string | undefined
  quiet: { quietMs: number; subject: string } | undefined
}

/** `againMs`: in how many ms to ask once more; Infinity: not before the next sync. `told` is for the report. */
export type Handed = { againMs: number | 'failed'; told: { changes?: ToldChanges } }

const againMs = 5_000
/** Whoever asks waits a few minutes, and the sync waits for this. */
const usualTellMs = 30_000

/** Tells and hands on what is asked for, and then what was left alone. A failure keeps no sync from being made. */
export async function handOn(
  { tell, tellWithinMs = usualTellMs, capture, captureQuiet, log }: HandOnDeps,
  source: Source,
  wanted: Wanted,
  asked: AskedOfChanges & { drift: Drift | undefined },
  signal: AbortSignal,
): Promise<Handed> {
  const attempt = async <Result>(failure: string, work: () => Promise<Result>): Promise<Result | 'failed'> => {
    try {
      return await work()
    } catch (error) {
      if (isAbort(error, signal)) throw error
      const { reason, message } = asFault(error)
      logOf(log, wanted.requestId).warn({ commit: wanted.commit, reason, message }, failure)
      return 'failed'
    }
  }
  const { uid, tell: toTell, capture: request, quiet, drift } = asked
  const telling =
    tell === undefined || toTell === undefined ? undefined : (own: AbortSignal) => tell(source, wanted, { request: toTell, uid }, own)
  const changes =
    telling === undefined
      ? undefined
      : await attempt('local changes could not be told', async () => (await within(telling, tellWithinMs, signal)) ?? 'again')
  const captureAgainMs = await attempt('local changes could not be handed on', async () => {
    if (request !== undefined && (await capture?.(source, wanted, { request, uid }, signal)) === 'again') return againMs
    if (quiet === undefined) return Infinity
    return (await captureQuiet?.(source, wanted, { ...quiet, drift }, signal)) ?? Infinity
  })
  if (changes === 'failed' || captureAgainMs === 'failed') return { againMs: 'failed', told: toldOf(changes) }
  return { againMs: changes === 'again' ? Math.min(captureAgainMs, againMs) : captureAgainMs, told: toldOf(changes) }
}

/** Throws DeliveryFailed where the work does not end in time. */
async function within<Result>(work: (own: AbortSignal) => Promise<Result>, ms: number, signal: AbortSignal): Promise<Result> {
  const own = deadline(ms, signal)
  try {
    return await work(own)
  } catch (error) {
    if (own.aborted && !signal.aborted) throw new Fault('DeliveryFailed', `they were not known within ${ms / 1000} s`, { cause: error })
    throw error
  }
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
