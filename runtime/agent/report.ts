/**
 * Writes the SyncReport: keeps the newest status and writes it until the API server has accepted it. Nothing waits for a report, and a newer
 * status replaces an older one that was not written yet.
 */
import { backoffMs, type Clock, pause } from '../clock.ts'
import { asFault, isAbort } from '../fault.ts'
import { canonicalJson } from '../gatewaysync/canonical-json.ts'
import { apiVersion, syncReportKind } from '../gatewaysync/names.ts'
import { syncReportColumns } from '../gatewaysync/decide/columns.ts'
import type { SyncReportStatus } from '../gatewaysync/schema/report.ts'
import type { Kube } from '../kube/client.ts'
import { mergePatchBetween } from '../kube/merge-patch.ts'
import { syncReportType } from '../kube/types.ts'
import type { Log } from '../log.ts'
import { createWake } from './wake.ts'

/** One for each agent. */
export type Reporter = {
  /** Replaces what is to be reported. */
  report(status: SyncReportStatus): void
  /** To be called each time that the GatewaySync is seen: whether its status names this pod as one without a report. */
  missed(isMissed: boolean): void
  /** Writes until the signal, then tries once more, within 3 s, to write what is left. Never throws. */
  run(signal: AbortSignal): Promise<void>
}

/** Whose report it is; the object has the pod's name, and is removed with the pod. */
export type ReporterIdentity = {
  namespace: string
  podName: string
  podUid: string
  /** The GatewaySync that is followed now; undefined: none, so nothing is written. */
  gatewaySync(): string | undefined
}

type ReportSpec = { gatewaySync: string; podUid: string }

const lastWriteMs = 3_000
/** For this long after writing, a status that names us as unreported is ignored: it may have been written before our report arrived. */
const believedMs = 10_000

/** The phase Syncing is written only for a sync that takes longer than this; most end sooner. */
const syncingAfterMs = 1_000

/** Whether two reports differ only in their times. */
function saysTheSame(one: Partial<SyncReportStatus>, other: Partial<SyncReportStatus>): boolean {
  const [a, b] = [one, other].map(({ startedAt: _startedAt, finishedAt: _finishedAt, ...told }) => canonicalJson(told))
  return a === b
}

/** Writes nothing before `run`. */
export function createReporter(deps: { kube: Kube; clock: Clock; log: Log }, identity: ReporterIdentity): Reporter {
  const { kube, clock, log } = deps
  const key = { namespace: identity.namespace, name: identity.podName }
  let wanted: SyncReportStatus | undefined
  /** What the API server holds as far as we know; undefined: look first. `ours`: its spec names this pod. */
  let stored: { status: Record<string, unknown>; spec: ReportSpec; ours: boolean } | undefined
  let unwritten = false
  let wantedSinceMs = 0
  let isMissed = false
  let writtenMs = 0
  const wake = createWake(clock)

  const ownerReferences = [{ apiVersion: 'v1', kind: 'Pod', name: identity.podName, uid: identity.podUid }]

  /** Creates the object, or becomes the owner of the one that a predecessor of the same name left. */
  const ensureObject = async (spec: ReportSpec, signal: AbortSignal): Promise<NonNullable<typeof stored>> => {
    const present = await kube.get(syncReportType, key, signal)
    if (present === undefined) {
      const metadata = { name: identity.podName, namespace: identity.namespace, ownerReferences }
      await kube.create(syncReportType, { apiVersion, kind: syncReportKind.kind, metadata, spec }, signal)
      return { status: {}, spec, ours: true }
    }
    await kube.mergePatch(syncReportType, key, { metadata: { ownerReferences } }, {}, signal)
    const held = { spec: {}, status: {}, ...present } as { spec: Record<string, unknown>; status: Record<string, unknown> }
    return { status: held.status, spec, ours: mergePatchBetween(held.spec, spec) === undefined }
  }

  const write = async (told: SyncReportStatus, gatewaySync: string, signal: AbortSignal): Promise<void> => {
    const status = { ...told, columns: syncReportColumns(told) }
    const spec = { gatewaySync, podUid: identity.podUid }
    if (stored?.spec.gatewaySync !== gatewaySync) stored = undefined
    try {
      stored ??= await ensureObject(spec, signal)
      // Syncing, which is kept back, may stand between two reports that say the same.
      const patch = saysTheSame(stored.status, status) ? undefined : mergePatchBetween(stored.status, status)
      if (patch !== undefined) await kube.mergePatch(syncReportType, key, { status: patch }, { subresource: 'status' }, signal)
      // Last, so that a predecessor's status is never taken for ours.
      if (!stored.ours) await kube.mergePatch(syncReportType, key, { spec }, {}, signal)
      stored = { status: patch === undefined ? stored.status : status, spec, ours: true }
      writtenMs = clock.monotonicMs()
    } catch (error) {
      // Deleted, or owned by an older pod of the name: the next try looks again.
      stored = undefined
      throw error
    }
  }

  /** Writes what is newest; something newer may come meanwhile and is then left to write. */
  const writeNewest = async (signal: AbortSignal): Promise<void> => {
    const newest = wanted
    const gatewaySync = identity.gatewaySync()
    if (newest !== undefined && gatewaySync !== undefined) await write(newest, gatewaySync, signal)
    unwritten = newest !== wanted
  }

  /** Whether our report was deleted after it was written; an agent with nothing to do would not notice otherwise. */
  const isLost = (): boolean => isMissed && stored !== undefined

  /** Done once for each status that names us: a controller that is away repeats nothing, and its last status may be old. */
  const writeAnew = (): void => {
    stored = undefined
    isMissed = false
    unwritten = true
  }

  /** For how many ms the newest status is held back. */
  const keptBackMs = (): number => (wanted?.phase === 'Syncing' ? wantedSinceMs + syncingAfterMs - clock.monotonicMs() : 0)

  return {
    report(status) {
      // A look without changes is not reported, so that an idle gateway causes no writes.
      if (wanted !== undefined && saysTheSame(wanted, status)) return
      wanted = status
      wantedSinceMs = clock.monotonicMs()
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
          if (isLost() && believedForMs <= 0) writeAnew()
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
