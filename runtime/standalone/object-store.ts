/**
 * Stores the one GatewaySync of a standalone run in memory and in the state folder, as an API server would: a change is saved before it
 * takes effect.
 */
import { createHash } from 'node:crypto'
import type { Clock } from '../platform/clock.ts'
import { asFault } from '../platform/fault.ts'
import { type GatewayPod, parseReport } from '../reconcile/decide/gateways.ts'
import { podAnnotations } from '../api/names.ts'
import type { SyncReportStatus } from '../api/schema/report.ts'
import type { GatewaySyncStatus } from '../api/schema/status.ts'
import type { StandaloneSync, Target } from './settings.ts'
import type { Log } from '../platform/log/log.ts'
import { openState, type RunnerState, writeState } from './state.ts'
import { canonicalJson } from '../platform/text/json.ts'

/** The object in the form that a reconcile expects. */
export type StoredObject = {
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
export type StoredPod = GatewayPod & { serviceAccount: string }

/** Receives each change: the part of the controller's store that a run needs. */
export type ObjectListener = {
  upsertSync(record: StoredObject): void
  upsertPod(pod: StoredPod): void
  upsertReport(report: { namespace: string; pod: string; gatewaySync: string } & ReturnType<typeof parseReport>): void
}

type Deps = { store: ObjectListener; clock: Clock; log: Log }
type Settings = { sync: StandaloneSync; targets: readonly Target[]; stateDir: string }

/** Takes the API server's place in a standalone run. */
export class ObjectStore {
  readonly #deps: Deps
  readonly #sync: StandaloneSync
  readonly #stateDir: string
  #state: RunnerState
  #version = 0

  /** Reads what an earlier run saved. Throws StateUnreadable. */
  constructor(deps: Deps, { sync, targets, stateDir }: Settings) {
    this.#deps = deps
    this.#sync = sync
    this.#stateDir = stateDir
    this.#state = initialState(openState(stateDir), sync, deps.clock)
    deps.store.upsertSync(this.record())
    for (const target of targets) {
      deps.store.upsertPod(podOf(sync, target))
      const report = this.#state.reports[target.name]
      if (report !== undefined) this.#storeReport(target.name, report)
    }
  }

  record(): StoredObject {
    const { uid, generation, annotations, status } = this.#state
    return {
      namespace: this.#sync.namespace,
      name: this.#sync.name,
      uid,
      resourceVersion: String(this.#version),
      generation,
      // Annotations in the file win over saved ones; requests are never in the file.
      annotations: { ...annotations, ...this.#sync.annotations },
      spec: this.#sync.raw,
      status,
    }
  }

  /** The latest report of each target. */
  reports(): RunnerState['reports'] {
    return this.#state.reports
  }

  /** Writes request annotations; null removes one. Throws DiskFull, NotWritable. */
  annotate(annotations: Readonly<Record<string, string | null>>): void {
    const merged = Object.entries({ ...this.#state.annotations, ...annotations })
    const kept = merged.filter((entry): entry is [string, string] => entry[1] !== null)
    this.#keep({ ...this.#state, annotations: Object.fromEntries(kept) })
    this.#deps.store.upsertSync(this.record())
  }

  setStatus(status: GatewaySyncStatus): StoredObject {
    this.#keep({ ...this.#state, status })
    return this.record()
  }

  /** Never throws: a report takes effect even if it cannot be saved, and the next save includes it. */
  setReport(target: string, status: SyncReportStatus): void {
    const next = { ...this.#state, reports: { ...this.#state.reports, [target]: status } }
    try {
      this.#keep(next)
    } catch (error) {
      this.#state = next
      const { reason, message } = asFault(error)
      this.#deps.log.warn({ reason, message }, 'a report could not be written to the state folder; it is retried with the next one')
    }
    this.#storeReport(target, status)
  }

  #keep(next: RunnerState): void {
    writeState(this.#stateDir, next)
    this.#state = next
    this.#version += 1
  }

  #storeReport(target: string, status: SyncReportStatus): void {
    const { namespace, name } = this.#sync
    this.#deps.store.upsertReport({ namespace, pod: target, gatewaySync: name, ...parseReport(uidOf(target), status) })
  }
}

function podOf(sync: StandaloneSync, { name, profile, labels }: Target): StoredPod {
  return {
    namespace: sync.namespace,
    name,
    uid: uidOf(name),
    annotations: { [podAnnotations.gatewaySync]: sync.name, [podAnnotations.profile]: profile },
    injected: true,
    terminating: false,
    labels,
    agentDown: undefined,
    serviceAccount: '',
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
