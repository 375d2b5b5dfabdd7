/**
 * Uploads the gateway's local changes to the controller before the next sync may overwrite them: on request, or once they are stable.
 */
import { deadline } from '../platform/clock.ts'
import type { Source } from '../content/protocol/protocol.ts'
import { asFault, Fault, isAbort } from '../platform/fault.ts'
import type { RequestIdentity } from '../reconcile/decide/capture.ts'
import type { ReportedChanges } from '../api/schema/report.ts'
import { type Log, logOf } from '../platform/log/log.ts'
import type { CycleResult, SyncTarget } from '../sync/cycle.ts'

/** The difference from the commit that syncs find. */
export type Drift = NonNullable<CycleResult['drift']>

/**
 * Functions that report and upload local changes; absent in the standalone runner. All throw the faults of reading and of the content
 * server.
 */
export type UploadDeps = {
  /** Lists local changes for the report; undefined: not possible now. */
  listChanges?(source: Source, target: SyncTarget, request: RequestIdentity, signal: AbortSignal): Promise<ReportedChanges | undefined>
  /** Timeout of one attempt; shorter in tests. */
  listTimeoutMs?: number
  /** Captures for a request; `again`: call again later. */
  capture?(source: Source, target: SyncTarget, request: RequestIdentity, signal: AbortSignal): Promise<'done' | 'again'>
  /** Captures changes that were stable for `quietMs`; returns in how many ms to call again, undefined: when there is drift. */
  captureQuiet?(
    source: Source,
    target: SyncTarget,
    quiet: { quietMs: number; subject: string; drift: Drift | undefined },
    signal: AbortSignal,
  ): Promise<number | undefined>
  log: Log
}

/**
 * Requests to report and to capture, with the uid of the GatewaySync; `quiet` is how long changes must be stable to be captured without a
 * request, with the GatewaySync and repository.
 */
export type ChangeRequests = {
  uid: string
  list: string | undefined
  capture: string | undefined
  quiet: { quietMs: number; subject: string } | undefined
}

/** `againMs`: in how many ms to call again; Infinity: not before the next sync. `reportFields` go into the report. */
export type UploadResult = { againMs: number | 'failed'; reportFields: { changes?: ReportedChanges } }

const againMs = 5_000
/** The requester waits a few minutes, and the sync waits for this. */
const defaultListTimeoutMs = 30_000

/** Reports and captures for requests, then captures stable changes. A failure does not prevent the sync. */
export async function uploadChanges(
  { listChanges, listTimeoutMs = defaultListTimeoutMs, capture, captureQuiet, log }: UploadDeps,
  source: Source,
  target: SyncTarget,
  requests: ChangeRequests & { drift: Drift | undefined },
  signal: AbortSignal,
): Promise<UploadResult> {
  const attempt = async <Result>(failure: string, work: () => Promise<Result>): Promise<Result | 'failed'> => {
    try {
      return await work()
    } catch (error) {
      if (isAbort(error, signal)) throw error
      const { reason, message } = asFault(error)
      logOf(log, target.requestId).warn({ commit: target.commit, reason, message }, failure)
      return 'failed'
    }
  }
  const { uid, list: listRequest, capture: request, quiet, drift } = requests
  const listing =
    listChanges === undefined || listRequest === undefined
      ? undefined
      : (own: AbortSignal) => listChanges(source, target, { request: listRequest, uid }, own)
  const changes =
    listing === undefined
      ? undefined
      : await attempt('listing local changes failed', async () => (await within(listing, listTimeoutMs, signal)) ?? 'again')
  const captureAgainMs = await attempt('upload of local changes failed', async () => {
    if (request !== undefined && (await capture?.(source, target, { request, uid }, signal)) === 'again') return againMs
    if (quiet === undefined) return Infinity
    return (await captureQuiet?.(source, target, { ...quiet, drift }, signal)) ?? Infinity
  })
  if (changes === 'failed' || captureAgainMs === 'failed') return { againMs: 'failed', reportFields: reportFieldsOf(changes) }
  return { againMs: changes === 'again' ? Math.min(captureAgainMs, againMs) : captureAgainMs, reportFields: reportFieldsOf(changes) }
}

/** Throws DeliveryFailed if the work does not finish in time. */
async function within<Result>(work: (own: AbortSignal) => Promise<Result>, ms: number, signal: AbortSignal): Promise<Result> {
  const own = deadline(ms, signal)
  try {
    return await work(own)
  } catch (error) {
    if (own.aborted && !signal.aborted)
      throw new Fault('DeliveryFailed', `listing local changes timed out after ${ms / 1000} s`, { cause: error })
    throw error
  }
}

function reportFieldsOf(changes: ReportedChanges | 'again' | 'failed' | undefined): UploadResult['reportFields'] {
  return typeof changes === 'object' ? { changes } : {}
}

/** The known drift after a sync; a sync that did not check for drift keeps the previous one. */
export function driftAfter(before: Drift | undefined, { phase, reason, drift }: CycleResult): Drift | undefined {
  if (drift !== undefined) return drift.count === 0 ? undefined : drift
  if (reason === 'LocalChanges') return before ?? { count: 1, paths: [] }
  return phase === 'Synced' ? undefined : before
}
