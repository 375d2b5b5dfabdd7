/**
 * Writes the SyncReport and retries until the API server accepts it. Nothing waits for a report; a newer status replaces one that is not
 * written yet.
 */
import { backoffMs, type Clock, pause } from '../platform/clock.ts'
import { asFault, isAbort } from '../platform/fault.ts'
import { canonicalJson } from '../api/canonical-json.ts'
import { apiVersion, syncReportKind } from '../api/names.ts'
import { syncReportColumns } from '../reconcile/decide/columns.ts'
import type { SyncReportStatus } from '../api/schema/report.ts'
import type { Kube } from '../kube/client.ts'
import { mergePatchBetween } from '../kube/merge-patch.ts'
import { syncReportType } from '../kube/types.ts'
import type { Log } from '../platform/log/log.ts'
import { createWake } from './wake.ts'

/** Writes the reports of one agent. */
export type Reporter = {
  /** Sets the status to write. */
  report(status: SyncReportStatus): void
  /** Call this for each observed GatewaySync: `isMissed` is whether its status lists this pod as one without a report. */
  missed(isMissed: boolean): void
  /** Writes until the signal aborts, then tries once more, within 3 s, to write what is left. Never throws. */
  run(signal: AbortSignal): Promise<void>
}

/** The pod that reports; the SyncReport has its name and is deleted with it. */
export type ReporterIdentity = {
  namespace: string
  podName: string
  podUid: string
  /** The GatewaySync that is followed now; undefined: none, so nothing is written. */
  gatewaySync(): string | undefined
}

type ReportSpec = { gatewaySync: string; podUid: string }

const lastWriteMs = 3_000
/** For this long after a write, a status that lists this pod as unreported is ignored: it may be older than the report. */
const believedMs = 10_000

/** The phase Syncing is written only for a sync that takes longer than this; most are shorter. */
const syncingAfterMs = 1_000

/** Whether two reports differ only in their times. */
function saysTheSame(one: Partial<SyncReportStatus>, other: Partial<SyncReportStatus>): boolean {
  const [a, b] = [one, other].map(({ startedAt: _startedAt, finishedAt: _finishedAt, ...fields }) => canonicalJson(fields))
  return a === b
}

/** Writes nothing before `run`. */
export function createReporter(deps: { kube: Kube; clock: Clock; log: Log }, identity: ReporterIdentity): Reporter {
  const { kube, clock, log } = deps
  const key = { namespace: identity.namespace, name: identity.podName }
  let latest: SyncReportStatus | undefined
  /** The last known object on the API server; undefined: read it first. `ours`: its spec names this pod. */
  let stored: { status: Record<string, unknown>; spec: ReportSpec; ours: boolean } | undefined
  let unwritten = false
  let latestSinceMs = 0
  let isMissed = false
  let writtenMs = 0
  const wake = createWake(clock)

  const ownerReferences = [{ apiVersion: 'v1', kind: 'Pod', name: identity.podName, uid: identity.podUid }]

  /** Creates the object, or takes ownership of the one that a predecessor with the same name left. */
  const ensureObject = async (spec: ReportSpec, signal: AbortSignal): Promise<NonNullable<typeof stored>> => {
    const present = await kube.get(syncReportType, key, signal)
    if (present === undefined) {
      const metadata = { name: identity.podName, namespace: identity.namespace, ownerReferences }
      await kube.create(syncReportType, { apiVersion, kind: syncReportKind.kind, metadata, spec }, signal)
      return { status: {}, spec, ours: true }
    }
    await kube.mergePatch(syncReportType, key, { metadata: { ownerReferences } }, {}, signal)
    const current = { spec: {}, status: {}, ...present } as { spec: Record<string, unknown>; status: Record<string, unknown> }
    return { status: current.status, spec, ours: mergePatchBetween(current.spec, spec) === undefined }
  }

  const write = async (fields: SyncReportStatus, gatewaySync: string, signal: AbortSignal): Promise<void> => {
    const status = { ...fields, columns: syncReportColumns(fields) }
    const spec = { gatewaySync, podUid: identity.podUid }
    if (stored?.spec.gatewaySync !== gatewaySync) stored = undefined
    try {
      stored ??= await ensureObject(spec, signal)
      // A delayed Syncing status may lie between two equal reports.
      const patch = saysTheSame(stored.status, status) ? undefined : mergePatchBetween(stored.status, status)
      if (patch !== undefined) await kube.mergePatch(syncReportType, key, { status: patch }, { subresource: 'status' }, signal)
      // Written last, so that a predecessor's status is never taken for that of this pod.
      if (!stored.ours) await kube.mergePatch(syncReportType, key, { spec }, {}, signal)
      stored = { status: patch === undefined ? stored.status : status, spec, ours: true }
      writtenMs = clock.monotonicMs()
    } catch (error) {
      // Deleted, or owned by an older pod with the same name: read it again on the next attempt.
      stored = undefined
      throw error
    }
  }

  /** Writes the latest status; a status that arrives meanwhile stays unwritten. */
  const writeNewest = async (signal: AbortSignal): Promise<void> => {
    const newest = latest
    const gatewaySync = identity.gatewaySync()
    if (newest !== undefined && gatewaySync !== undefined) await write(newest, gatewaySync, signal)
    unwritten = newest !== latest
  }

  /** Whether the report was deleted after it was written; an idle agent would not notice otherwise. */
  const isLost = (): boolean => isMissed && stored !== undefined

  /** Runs once per status that lists this pod: a stopped controller writes no new status, and its last one may be old. */
  const writeAgain = (): void => {
    stored = undefined
    isMissed = false
    unwritten = true
  }

  /** How many ms the latest status is still delayed. */
  const keptBackMs = (): number => (latest?.phase === 'Syncing' ? latestSinceMs + syncingAfterMs - clock.monotonicMs() : 0)

  return {
    report(status) {
      // A sync without changes is not reported, so that an idle gateway causes no writes.
      if (latest !== undefined && saysTheSame(latest, status)) return
      latest = status
      latestSinceMs = clock.monotonicMs()
      unwritten = true
      wake.call()
    },
    missed(next) {
      isMissed = next
      wake.call()
    },
    async run(signal) {
      let failures = 0
      while (!signal.aborted) {
        if (!unwritten) {
          const believedForMs = writtenMs + believedMs - clock.monotonicMs()
          if (isLost() && believedForMs <= 0) writeAgain()
          else await wake.wait(isLost() ? believedForMs : undefined, signal)
          continue
        }
        if (keptBackMs() > 0) {
          await wake.wait(keptBackMs(), signal)
          continue
        }
        try {
          await writeNewest(signal)
          failures = 0
        } catch (error) {
          if (isAbort(error, signal)) break
          failures += 1
          const fault = asFault(error)
          log.warn({ reason: fault.reason, message: fault.message }, 'could not write the SyncReport; trying again')
          await pause(clock, backoffMs(failures, 200, 30_000, clock.random()), signal)
        }
      }
      if (unwritten) {
        await writeNewest(AbortSignal.timeout(lastWriteMs)).catch((error: unknown) => {
          log.warn({ reason: asFault(error).reason }, 'the last SyncReport was not written')
        })
      }
    },
  }
}
