/**
 * Writes the SyncReport and retries until the API server accepts it. Nothing waits for a report; a newer status replaces one that is not
 * written yet.
 */
import { backoffMs, type Clock, pause } from '../platform/clock.ts'
import { asFault, isAbort } from '../platform/fault.ts'
import { apiVersion, syncReportKind } from '../api/names.ts'
import { syncReportColumns } from '../reconcile/decide/columns.ts'
import type { SyncReportStatus } from '../api/schema/report.ts'
import type { Kube } from '../kube/client.ts'
import { mergePatchBetween } from '../kube/merge-patch.ts'
import { syncReportType } from '../kube/types.ts'
import type { Log } from '../platform/log/log.ts'
import { createWake, type Wake } from './wake.ts'
import { canonicalJson } from '../platform/text/json.ts'

/** The pod that reports; the SyncReport has its name and is deleted with it. */
export type ReporterIdentity = {
  namespace: string
  podName: string
  podUid: string
  /** The GatewaySync that is followed now; undefined: none, so nothing is written. */
  gatewaySync(): string | undefined
}

type ReportSpec = { gatewaySync: string; podUid: string }
/** `ours`: its spec names this pod. */
type StoredReport = { status: Record<string, unknown>; spec: ReportSpec; ours: boolean }

const lastWriteMs = 3_000
/** For this long after a write, a status that lists this pod as unreported is ignored: it may be older than the report. */
const believedMs = 10_000

/** The phase Syncing is written only for a sync that takes longer than this; most are shorter. */
const syncingAfterMs = 1_000

/** Whether two reports differ only in their times. */
function isSameReport(one: Partial<SyncReportStatus>, other: Partial<SyncReportStatus>): boolean {
  const [a, b] = [one, other].map(({ startedAt: _startedAt, finishedAt: _finishedAt, ...fields }) => canonicalJson(fields))
  return a === b
}

/** Writes the reports of one agent; nothing before `run`. */
export class Reporter {
  readonly #deps: { kube: Kube; clock: Clock; log: Log }
  readonly #identity: ReporterIdentity
  readonly #key: { namespace: string; name: string }
  readonly #ownerReferences: readonly object[]
  readonly #wake: Wake
  #latest: SyncReportStatus | undefined
  #latestSinceMs = 0
  /** The last known object on the API server; undefined: read it first. */
  #stored: StoredReport | undefined
  #unwritten = false
  #isMissed = false
  #writtenMs = 0

  constructor(deps: { kube: Kube; clock: Clock; log: Log }, identity: ReporterIdentity) {
    this.#deps = deps
    this.#identity = identity
    this.#key = { namespace: identity.namespace, name: identity.podName }
    this.#ownerReferences = [{ apiVersion: 'v1', kind: 'Pod', name: identity.podName, uid: identity.podUid }]
    this.#wake = createWake(deps.clock)
  }

  /** Sets the status to write. */
  report(status: SyncReportStatus): void {
    // A sync without changes is not reported, so that an idle gateway causes no writes.
    if (this.#latest !== undefined && isSameReport(this.#latest, status)) return
    this.#latest = status
    this.#latestSinceMs = this.#deps.clock.monotonicMs()
    this.#unwritten = true
    this.#wake.call()
  }

  /** Call this for each observed GatewaySync: `isMissed` is whether its status lists this pod as one without a report. */
  missed(isMissed: boolean): void {
    this.#isMissed = isMissed
    this.#wake.call()
  }

  /** Writes until the signal aborts, then tries once more, within 3 s, to write what is left. Never throws. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#deps
    let failures = 0
    while (!signal.aborted) {
      if (!this.#unwritten) {
        await this.#waitForChange(signal)
        continue
      }
      const keptBackMs = this.#keptBackMs()
      if (keptBackMs > 0) {
        await this.#wake.wait(keptBackMs, signal)
        continue
      }
      try {
        await this.#writeLatest(signal)
        failures = 0
      } catch (error) {
        if (isAbort(error, signal)) break
        failures += 1
        const fault = asFault(error)
        log.warn({ reason: fault.reason, message: fault.message }, 'the SyncReport was not written; the agent retries')
        await pause(clock, backoffMs(failures, 200, 30_000, clock.random()), signal)
      }
    }
    if (this.#unwritten) {
      await this.#writeLatest(AbortSignal.timeout(lastWriteMs)).catch((error: unknown) => {
        log.warn({ reason: asFault(error).reason }, 'the last SyncReport was not written')
      })
    }
  }

  /** Settles when something may have to be written. */
  async #waitForChange(signal: AbortSignal): Promise<void> {
    // An idle agent would not notice otherwise that the report was deleted after it was written.
    const isLost = this.#isMissed && this.#stored !== undefined
    const believedForMs = this.#writtenMs + believedMs - this.#deps.clock.monotonicMs()
    if (!isLost || believedForMs > 0) {
      await this.#wake.wait(isLost ? believedForMs : undefined, signal)
      return
    }
    // Written once per status that lists this pod: a stopped controller writes no new status, and its last one may be old.
    this.#stored = undefined
    this.#isMissed = false
    this.#unwritten = true
  }

  /** How many ms the latest status is still delayed. */
  #keptBackMs(): number {
    return this.#latest?.phase === 'Syncing' ? this.#latestSinceMs + syncingAfterMs - this.#deps.clock.monotonicMs() : 0
  }

  /** Writes the latest status; a status that arrives meanwhile stays unwritten. */
  async #writeLatest(signal: AbortSignal): Promise<void> {
    const latest = this.#latest
    const gatewaySync = this.#identity.gatewaySync()
    if (latest !== undefined && gatewaySync !== undefined) await this.#write(latest, gatewaySync, signal)
    this.#unwritten = latest !== this.#latest
  }

  async #write(fields: SyncReportStatus, gatewaySync: string, signal: AbortSignal): Promise<void> {
    const { kube, clock } = this.#deps
    const status = { ...fields, columns: syncReportColumns(fields) }
    const spec = { gatewaySync, podUid: this.#identity.podUid }
    if (this.#stored?.spec.gatewaySync !== gatewaySync) this.#stored = undefined
    try {
      const stored = (this.#stored ??= await this.#ensureObject(spec, signal))
      // A delayed Syncing status may be written between two equal reports.
      const patch = isSameReport(stored.status, status) ? undefined : mergePatchBetween(stored.status, status)
      if (patch !== undefined) await kube.mergePatch(syncReportType, this.#key, { status: patch }, { subresource: 'status' }, signal)
      // Written last, so that the status of a predecessor is never mistaken for that of this pod.
      if (!stored.ours) await kube.mergePatch(syncReportType, this.#key, { spec }, {}, signal)
      this.#stored = { status: patch === undefined ? stored.status : status, spec, ours: true }
      this.#writtenMs = clock.monotonicMs()
    } catch (error) {
      // Deleted, or owned by an older pod with the same name: read it again on the next attempt.
      this.#stored = undefined
      throw error
    }
  }

  /** Creates the object, or takes ownership of the one that a predecessor with the same name left. */
  async #ensureObject(spec: ReportSpec, signal: AbortSignal): Promise<StoredReport> {
    const { kube } = this.#deps
    const ownerReferences = this.#ownerReferences
    const present = await kube.get(syncReportType, this.#key, signal)
    if (present === undefined) {
      const metadata = { ...this.#key, ownerReferences }
      await kube.create(syncReportType, { apiVersion, kind: syncReportKind.kind, metadata, spec }, signal)
      return { status: {}, spec, ours: true }
    }
    await kube.mergePatch(syncReportType, this.#key, { metadata: { ownerReferences } }, {}, signal)
    const current = { spec: {}, status: {}, ...present } as { spec: Record<string, unknown>; status: Record<string, unknown> }
    return { status: current.status, spec, ours: mergePatchBetween(current.spec, spec) === undefined }
  }
}
