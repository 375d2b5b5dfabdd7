/**
 * Tells the cluster what this gateway runs: keeps the newest status and writes it until the API server took it. Nothing waits for a
 * report, and a newer one replaces an older that was not written yet.
 */
import { backoffMs, type Clock, pause } from '../clock.ts'
import { asFault, isAbort } from '../fault.ts'
import { canonicalJson } from '../gatewaysync/canonical-json.ts'
import { apiVersion, syncReportKind } from '../gatewaysync/names.ts'
import type { SyncReportStatus } from '../gatewaysync/schema/report.ts'
import type { Kube } from '../kube/client.ts'
import { mergePatchBetween } from '../kube/merge-patch.ts'
import { syncReportType } from '../kube/types.ts'
import type { Log } from '../log.ts'
import { createWake } from './wake.ts'

export type Reporter = {
  /** Replaces what is to be reported. */
  report(status: SyncReportStatus): void
  /** What the status of the GatewaySync says each time that it is seen: whether the controller knows of no report of this pod. */
  missed(isMissed: boolean): void
  /** Writes until the signal; then tries once more to write what is left, within `lastWriteMs`. */
  run(signal: AbortSignal): Promise<void>
}

export type ReporterIdentity = {
  namespace: string
  podName: string
  podUid: string
  /** The GatewaySync that is followed now; undefined: none, and then nobody would read a report. */
  gatewaySync(): string | undefined
}

type ReportSpec = { gatewaySync: string; podUid: string }

const lastWriteMs = 3_000
/** A status that was written before our report arrived may say for a moment that there is none. */
const believedMs = 10_000

/** Most syncs end sooner, and say so themselves: that one has begun is written only where it takes longer. */
const syncingAfterMs = 1_000

/** Whether two reports differ in when they were made alone. */
function saysTheSame(one: SyncReportStatus, other: SyncReportStatus): boolean {
  const [a, b] = [one, other].map(({ startedAt: _startedAt, finishedAt: _finishedAt, ...told }) => canonicalJson(told))
  return a === b
}

/** Writes nothing before `run`; a report that comes while another is written takes the place of the one that waits. */
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

  const write = async (status: SyncReportStatus, gatewaySync: string, signal: AbortSignal): Promise<void> => {
    const spec = { gatewaySync, podUid: identity.podUid }
    if (stored?.spec.gatewaySync !== gatewaySync) stored = undefined
    try {
      stored ??= await ensureObject(spec, signal)
      const patch = mergePatchBetween(stored.status, status)
      if (patch !== undefined) await kube.mergePatch(syncReportType, key, { status: patch }, { subresource: 'status' }, signal)
      // Last, so that a predecessor's status is never taken for ours.
      if (!stored.ours) await kube.mergePatch(syncReportType, key, { spec }, {}, signal)
      stored = { status: { ...status }, spec, ours: true }
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

  /** Somebody has removed a report that was written: nothing else would tell an agent whose gateway rests. */
  const isLost = (): boolean => isMissed && stored !== undefined

  /** Once for each status that says so: a controller that is away repeats nothing, and its last word may be old. */
  const writeAnew = (): void => {
    stored = undefined
    isMissed = false
    unwritten = true
  }

  /** For how long what is newest is kept back, in ms. */
  const keptBackMs = (): number => (wanted?.phase === 'Syncing' ? wantedSinceMs + syncingAfterMs - clock.monotonicMs() : 0)

  return {
    report(status) {
      // A look that found everything as it was is no news: an idle gateway writes nothing.
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
