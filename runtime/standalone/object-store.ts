/**
 * Stores the one GatewaySync of a standalone run in memory and in the state folder, as an API server would: a change is saved before it
 * takes effect.
 */
import { createHash } from 'node:crypto'
import type { Clock } from '../platform/clock.ts'
import { asFault } from '../platform/fault.ts'
import { type GatewayPod, parseReport } from '../reconcile/decide/gateways.ts'
import { podAnnotations } from '../api/names.ts'
import { canonicalJson } from '../api/canonical-json.ts'
import type { SyncReportStatus } from '../api/schema/report.ts'
import type { GatewaySyncStatus } from '../api/schema/status.ts'
import type { StandaloneSync, Target } from './settings.ts'
import type { Log } from '../platform/log/log.ts'
import { openState, type RunnerState, writeState } from './state.ts'

/** The object in the form that a reconcile expects. */
export type KeptObject = {
  namespace: string
  name: string
  uid: string
  resourceVersion: string
  generation: number
  annotations: Readonly<Record<string, string>>
  spec: unknown
  status: GatewaySyncStatus
}

/** A target of the run, used in place of a gateway pod. */
export type KeptPod = GatewayPod & { serviceAccount: string }

/** Receives each change: the part of the controller's store that a run needs. */
export type KeeperStore = {
  upsertSync(record: KeptObject): void
  upsertPod(pod: KeptPod): void
  upsertReport(report: { namespace: string; pod: string; gatewaySync: string } & ReturnType<typeof parseReport>): void
}

/** Takes the API server's place in a standalone run. */
export type ObjectStore = {
  record(): KeptObject
  /** The latest report of each target. */
  reports(): RunnerState['reports']
  /** Writes request annotations; null removes one. Throws DiskFull, NotWritable. */
  annotate(annotations: Readonly<Record<string, string | null>>): void
  setStatus(status: GatewaySyncStatus): KeptObject
  /** Never throws: a report takes effect even if it cannot be saved, and the next save includes it. */
  setReport(target: string, status: SyncReportStatus): void
}

/** Reads what an earlier run saved. Throws StateUnreadable. */
export function createObjectStore(
  { store, clock, log }: { store: KeeperStore; clock: Clock; log: Log },
  { sync, targets, stateDir }: { sync: StandaloneSync; targets: readonly Target[]; stateDir: string },
): ObjectStore {
  let state = initialState(openState(stateDir), sync, clock)
  let version = 0

  const record = (): KeptObject => ({
    namespace: sync.namespace,
    name: sync.name,
    uid: state.uid,
    resourceVersion: String(version),
    generation: state.generation,
    // Annotations in the file win over saved ones; requests are never in the file.
    annotations: { ...state.annotations, ...sync.annotations },
    spec: sync.raw,
    status: state.status,
  })
  const keep = (next: RunnerState): void => {
    writeState(stateDir, next)
    state = next
    version += 1
  }
  const storeReport = (target: string, status: SyncReportStatus): void => {
    store.upsertReport({ namespace: sync.namespace, pod: target, gatewaySync: sync.name, ...parseReport(uidOf(target), status) })
  }

  store.upsertSync(record())
  for (const { name, profile, labels } of targets) {
    const annotations = { [podAnnotations.gatewaySync]: sync.name, [podAnnotations.profile]: profile }
    store.upsertPod({
      namespace: sync.namespace,
      name,
      uid: uidOf(name),
      annotations,
      injected: true,
      terminating: false,
      labels,
      agentDown: undefined,
      serviceAccount: '',
    })
    const report = state.reports[name]
    if (report !== undefined) storeReport(name, report)
  }

  return {
    record,
    reports: () => state.reports,
    annotate(annotations) {
      const merged = Object.entries({ ...state.annotations, ...annotations })
      const kept = merged.filter((entry): entry is [string, string] => entry[1] !== null)
      keep({ ...state, annotations: Object.fromEntries(kept) })
      store.upsertSync(record())
    },
    setStatus(status) {
      keep({ ...state, status })
      return record()
    },
    setReport(target, status) {
      const next = { ...state, reports: { ...state.reports, [target]: status } }
      try {
        keep(next)
      } catch (error) {
        state = next
        const { reason, message } = asFault(error)
        log.warn({ reason, message }, 'a report could not be written to the state folder; the next one tries again')
      }
      storeReport(target, status)
    },
  }
}

function uidOf(target: string): string {
  return `target/${target}`
}

/**
 * A changed spec increments the generation, so that conditions show which one they are about. Saved state of another GatewaySync is
 * ignored.
 */
function initialState(kept: RunnerState | undefined, sync: StandaloneSync, clock: Clock): RunnerState {
  const { namespace, name } = sync
  const specHash = createHash('sha256').update(canonicalJson(sync.raw)).digest('hex')
  if (kept === undefined || kept.namespace !== namespace || kept.name !== name)
    return {
      version: 1,
      namespace,
      name,
      uid: clock.uuid(),
      generation: 1,
      specHash,
      spec: sync.raw,
      annotations: {},
      status: {},
      reports: {},
    }
  const generation = kept.specHash === specHash ? kept.generation : kept.generation + 1
  return { ...kept, generation, specHash, spec: sync.raw }
}
