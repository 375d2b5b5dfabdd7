/**
 * Caches GatewaySyncs, gateway pods and SyncReports, kept current by three watches. Only what decisions need is kept, indexed by namespace,
 * so that thousands of pods stay small.
 */
import { isDeepStrictEqual } from 'node:util'
import { type Clock, systemClock } from '../../platform/clock.ts'
import { gatewaySyncOfPod } from '../decide/gateways.ts'
import { type GatewayMode, modeOf } from './modes-in-use.ts'
import {
  type BoundedObjects,
  maxKeptSyncs,
  reportsOfNamespace,
  type Namespace,
  type StoredKind,
  emptyNamespace,
  hasSpaceFor,
} from './namespace.ts'
import {
  type GatewaySyncRecord,
  type PodRecord,
  type ReportRecord,
  type SyncKey,
  syncKey,
  withinShare,
  isSameDesired,
  withoutDetails,
  isNewer,
} from './records.ts'
import { createSharing } from './share-strings.ts'
/** The kind of a change. Pods and reports are many, so a reconcile for them waits briefly to batch more. */
export type ChangeKind = 'pod' | 'report' | 'other'

/** Read by every endpoint; written by the watches, and by the leader with the results of its writes. */
export class Store {
  readonly #changed: (key: SyncKey, kind: ChangeKind) => void
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #overflowed: (namespace: string, kind: StoredKind) => void
  readonly #namespaces = new Map<string, Namespace>()
  readonly #share = createSharing()
  readonly #watchers = new Set<(sync?: SyncKey) => void>()

  /**
   * `changed` is called with each GatewaySync that a change may concern. `overflowed` is called once for each namespace and kind with more
   * objects than are kept.
   */
  constructor(
    changed: (key: SyncKey, kind: ChangeKind) => void,
    clock: Pick<Clock, 'monotonicMs'> = systemClock,
    overflowed: (namespace: string, kind: StoredKind) => void = () => undefined,
  ) {
    this.#changed = changed
    this.#clock = clock
    this.#overflowed = overflowed
  }

  /** Returns all objects. */
  all(): { syncs: GatewaySyncRecord[]; others: { namespace: string; name: string }[]; pods: PodRecord[]; reports: ReportRecord[] } {
    const every = [...this.#namespaces]
    return {
      syncs: every.flatMap(([, { syncs }]) => [...syncs.values()]),
      others: every.flatMap(([namespace, { others }]) => [...others].map((name) => ({ namespace, name }))),
      pods: every.flatMap(([, { pods }]) => [...pods.values()]),
      reports: every.flatMap(([, { reports }]) => [...reports.values()]),
    }
  }

  isOther(namespace: string, name: string): boolean {
    return this.#namespaces.get(namespace)?.others.has(name) === true
  }

  othersIn(namespace: string): ReadonlySet<string> {
    return this.#namespaces.get(namespace)?.others ?? new Set<string>()
  }

  sync(namespace: string, name: string): GatewaySyncRecord | undefined {
    return this.#namespaces.get(namespace)?.syncs.get(name)
  }

  /** Returns those of one namespace, or all. */
  syncs(of?: string): GatewaySyncRecord[] {
    const chosen = of === undefined ? [...this.#namespaces.values()] : [this.#namespaces.get(of) ?? []].flat()
    return chosen.flatMap(({ syncs }) => [...syncs.values()])
  }

  pod(namespace: string, name: string): PodRecord | undefined {
    return this.#namespaces.get(namespace)?.pods.get(name)
  }

  syncOfPod(pod: PodRecord): string | undefined {
    return gatewaySyncOfPod(pod.annotations, this.#onlySync(pod.namespace))
  }

  /** The pods that follow a GatewaySync. */
  podsOf(namespace: string, name: string): PodRecord[] {
    const { pods } = this.#namespaces.get(namespace) ?? emptyNamespace()
    return [...pods.naming(name), ...(this.#onlySync(namespace) === name ? pods.naming() : [])]
  }

  /**
   * Returns the reports of a GatewaySync: each names it, and belongs to a live pod of the same uid that follows it. Anyone with permission
   * to write a SyncReport can name any GatewaySync of the namespace, so the name proves nothing.
   */
  reportsOf(namespace: string, name: string): ReportRecord[] {
    const reports = this.#namespaces.get(namespace)?.reports
    return this.podsOf(namespace, name)
      .map((pod) => ({ pod, report: reports?.get(pod.name) }))
      .flatMap(({ pod, report }) =>
        report !== undefined && report.gatewaySync === name && report.podUid === pod.uid && !pod.terminating ? [report] : [],
      )
  }

  /** Returns the mode of each gateway of a GatewaySync, as far as known; includes pods deleted within the last hour. */
  gatewayModes(namespace: string, name: string): GatewayMode[] {
    const nowMs = this.#clock.monotonicMs()
    const { pods, reports, modes } = this.#namespaces.get(namespace) ?? {}
    const former = modes?.formerOf(name, nowMs) ?? new Map<string, string>()
    const present = this.podsOf(namespace, name).map((pod) => {
      const report = reports?.get(pod.name)
      const reported = report?.gatewaySync === name && report.podUid === pod.uid ? modeOf(report) : undefined
      return { pod, mode: reported ?? former.get(pod.name), seenForMs: modes?.seenForMs(pod.name, nowMs) ?? 0 }
    })
    const gone = [...former].filter(([pod]) => pods?.has(pod) !== true).map(([, mode]) => ({ pod: undefined, mode, seenForMs: 0 }))
    return [...present, ...gone]
  }

  /** Returns the version that each agent reports; undefined if absent. */
  *agentVersions(): Generator<string | undefined> {
    for (const { reports } of this.#namespaces.values()) for (const { status } of reports.values()) yield status?.agentVersion
  }

  /** Returns the namespaces with pods that request an agent. */
  podNamespaces(): string[] {
    return [...this.#namespaces].filter(([, { pods }]) => pods.size > 0).map(([namespace]) => namespace)
  }

  podsIn(namespace: string): PodRecord[] {
    return [...(this.#namespaces.get(namespace)?.pods.values() ?? [])]
  }

  reportsIn(namespace: string): Pick<BoundedObjects<ReportRecord>, 'get'> {
    return this.#namespaces.get(namespace)?.reports ?? reportsOfNamespace()
  }

  /**
   * Calls `watcher` on every change, including those that trigger no reconcile, with the GatewaySync if one changed; returns a function that
   * unsubscribes.
   */
  watch(watcher: (sync?: SyncKey) => void): () => void {
    this.#watchers.add(watcher)
    return () => void this.#watchers.delete(watcher)
  }

  /** Returns false if the namespace has too many, so that this one is not kept. So do the other `upsert` methods. */
  upsertSync(observed: GatewaySyncRecord): boolean {
    const own = this.#inNamespace(observed.namespace)
    own.others.delete(observed.name)
    const before = own.syncs.get(observed.name)
    const record = withinShare(observed, own.syncs.beside(observed.name))
    // The result of a write and the watch event may arrive in either order.
    if (before?.uid === record.uid && isNewer(before.resourceVersion, record.resourceVersion)) return true
    if (!hasSpaceFor(record, own)) {
      this.#overflow(record.namespace, 'GatewaySync')
      return false
    }
    this.#share(record)
    own.syncs.set(record.name, record)
    this.#seen(syncKey(record.namespace, record.name))
    if (!isSameDesired(before, record)) this.#changed(syncKey(record.namespace, record.name), 'other')
    if (before === undefined) this.#onlyOneChanged(record.namespace, 2, record.name)
    return true
  }

  /** Stores the result of a write, unless a watch has reported the deletion meanwhile. */
  updateSync(record: GatewaySyncRecord): void {
    if (this.sync(record.namespace, record.name)?.uid === record.uid) this.upsertSync(record)
  }

  /** Records a GatewaySync of another installation. It only counts for pods that name none. */
  upsertOther(namespace: string, name: string): boolean {
    const { syncs, others } = this.#inNamespace(namespace)
    if (others.has(name)) return true
    if (!syncs.has(name) && syncs.size + others.size >= maxKeptSyncs) {
      this.#overflow(namespace, 'GatewaySync')
      return false
    }
    others.add(name)
    if (syncs.delete(name)) this.#changed(syncKey(namespace, name), 'other')
    this.#seen(syncKey(namespace, name))
    this.#onlyOneChanged(namespace, 2)
    return true
  }

  removeSync(namespace: string, name: string): void {
    const { syncs, others } = this.#inNamespace(namespace)
    others.delete(name)
    if (syncs.delete(name)) this.#changed(syncKey(namespace, name), 'other')
    this.#seen(syncKey(namespace, name))
    this.#onlyOneChanged(namespace, 1)
  }

  upsertPod(pod: PodRecord): boolean {
    const { pods, reports, modes } = this.#inNamespace(pod.namespace)
    const nowMs = this.#clock.monotonicMs()
    const before = pods.get(pod.name)
    // Most pod changes are irrelevant.
    if (isDeepStrictEqual(before, pod)) return true
    if (before?.uid !== pod.uid) modes.added(pod.name, before, reports.get(pod.name), nowMs)
    this.#podChanged(before)
    this.#share(pod)
    const isKept = pods.set(pod.name, pod)
    if (!isKept) {
      modes.removed(pod, reports.get(pod.name), nowMs)
      this.#overflow(pod.namespace, 'Pod')
    }
    this.#seen()
    this.#podChanged(pods.get(pod.name))
    return isKept
  }

  removePod(namespace: string, name: string): void {
    const { pods, reports, modes } = this.#inNamespace(namespace)
    this.#podChanged(pods.get(name))
    modes.removed(pods.get(name), reports.get(name), this.#clock.monotonicMs())
    pods.delete(name)
    this.#seen()
  }

  upsertReport(report: ReportRecord): boolean {
    const { reports } = this.#inNamespace(report.namespace)
    const before = reports.get(report.pod)
    if (isDeepStrictEqual(before, report)) return true
    this.#share(report)
    const isKept = reports.set(report.pod, report)
    if (!isKept) this.#overflow(report.namespace, 'SyncReport')
    this.#seen()
    // Display details trigger no reconcile.
    if (isDeepStrictEqual(withoutDetails(before), withoutDetails(report))) return isKept
    if (report.gatewaySync !== '' && !this.isOther(report.namespace, report.gatewaySync))
      this.#changed(syncKey(report.namespace, report.gatewaySync), 'report')
    return isKept
  }

  removeReport(namespace: string, pod: string): void {
    const { pods, reports, modes } = this.#inNamespace(namespace)
    const before = reports.get(pod)
    modes.keep(pods.get(pod), before, this.#clock.monotonicMs())
    reports.delete(pod)
    this.#seen()
    if (before !== undefined && before.gatewaySync !== '') this.#changed(syncKey(namespace, before.gatewaySync), 'report')
  }

  /** The only GatewaySync of a namespace, which pods follow that name none. */
  #onlySync(namespace: string): string | undefined {
    const { syncs, others } = this.#namespaces.get(namespace) ?? emptyNamespace()
    const [first] = syncs.size === 0 ? others : syncs.keys()
    return syncs.size + others.size === 1 ? first : undefined
  }

  #inNamespace(namespace: string): Namespace {
    const own = this.#namespaces.get(namespace) ?? emptyNamespace()
    this.#namespaces.set(namespace, own)
    return own
  }

  #seen(sync?: SyncKey): void {
    for (const watcher of this.#watchers) watcher(sync)
  }

  #overflow(namespace: string, kind: StoredKind): void {
    const { full } = this.#inNamespace(namespace)
    if (!full.has(kind)) this.#overflowed(namespace, kind)
    full.add(kind)
  }

  /** Pods that name no GatewaySync follow the only one of their namespace, so the first two of a namespace concern each other. */
  #onlyOneChanged(namespace: string, count: 1 | 2, except = ''): void {
    const { syncs, others } = this.#inNamespace(namespace)
    if (syncs.size + others.size !== count) return
    for (const name of syncs.keys()) if (name !== except) this.#changed(syncKey(namespace, name), 'other')
  }

  #podChanged(pod: PodRecord | undefined): void {
    const name = pod === undefined ? undefined : this.syncOfPod(pod)
    if (pod !== undefined && name !== undefined && !this.isOther(pod.namespace, name)) this.#changed(syncKey(pod.namespace, name), 'pod')
  }
}
