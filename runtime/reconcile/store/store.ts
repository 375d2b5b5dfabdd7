/**
 * Caches GatewaySyncs, gateway pods and SyncReports, kept current by three watches. Only what decisions need is kept, indexed by namespace,
 * so that thousands of pods stay small.
 */
import { isDeepStrictEqual } from 'node:util'
import { type Clock, systemClock } from '../../platform/clock.ts'
import { gatewaySyncOfPod } from '../decide/gateways.ts'
import type { Annotations } from '../decide/request.ts'
import { createPodModes, type GatewayMode, modeOf } from './modes-in-use.ts'
import { type GatewaySyncRecord, type PodRecord, type ReportRecord, type SyncKey, syncKey, withinShare } from './records.ts'
import { createSharing } from './share-strings.ts'

/** The objects of one namespace. `others`: names of GatewaySyncs that belong to another installation. */
type Namespace = {
  syncs: Map<string, GatewaySyncRecord>
  others: Set<string>
  pods: Map<string, PodRecord>
  reports: Map<string, ReportRecord>
  modes: ReturnType<typeof createPodModes>
}

/** Read by every endpoint; written by the watches, and by the leader with the results of its writes. */
export type Store = ReturnType<typeof createStore>

/** The kind of a change. Pods and reports are many, so a reconcile for them waits briefly to batch more. */
export type ChangeKind = 'pod' | 'report' | 'other'

/** `changed` is called with each GatewaySync that a change may concern. */
export function createStore(changed: (key: SyncKey, kind: ChangeKind) => void, { monotonicMs }: Pick<Clock, 'monotonicMs'> = systemClock) {
  const namespaces = new Map<string, Namespace>()
  const share = createSharing()
  const watchers = new Set<() => void>()
  const seen = (): void => {
    for (const watcher of watchers) watcher()
  }
  const answers = answersFrom(namespaces, monotonicMs)

  const inNamespace = (namespace: string): Namespace => {
    const own = namespaces.get(namespace) ?? emptyNamespace()
    namespaces.set(namespace, own)
    return own
  }
  /** Pods that name no GatewaySync follow the only one of their namespace, so the first two of a namespace concern each other. */
  const onlyOneChanged = (namespace: string, count: 1 | 2, except = ''): void => {
    const { syncs, others } = inNamespace(namespace)
    if (syncs.size + others.size !== count) return
    for (const name of syncs.keys()) if (name !== except) changed(syncKey(namespace, name), 'other')
  }
  const podChanged = (pod: PodRecord | undefined): void => {
    const name = pod === undefined ? undefined : answers.syncOfPod(pod)
    if (pod !== undefined && name !== undefined && !answers.isOther(pod.namespace, name)) changed(syncKey(pod.namespace, name), 'pod')
  }

  /** Called for watch events. */
  const upsertSync = (observed: GatewaySyncRecord): void => {
    const { syncs, others } = inNamespace(observed.namespace)
    others.delete(observed.name)
    const before = syncs.get(observed.name)
    const rest = [...syncs.values()].filter(({ name }) => name !== observed.name)
    const record = withinShare(observed, rest)
    // The result of a write and the watch event may arrive in either order.
    if (before?.uid === record.uid && isNewer(before.resourceVersion, record.resourceVersion)) return
    share(record)
    syncs.set(record.name, record)
    seen()
    if (!isSameWish(before, record)) changed(syncKey(record.namespace, record.name), 'other')
    if (before === undefined) onlyOneChanged(record.namespace, 2, record.name)
  }

  return {
    ...answers,
    upsertSync,
    /** Calls `watcher` on every change, including those that trigger no reconcile; returns a function that unsubscribes. */
    watch(watcher: () => void): () => void {
      watchers.add(watcher)
      return () => void watchers.delete(watcher)
    },
    /** Stores the result of a write, unless a watch has reported the deletion meanwhile. */
    updateSync(record: GatewaySyncRecord): void {
      if (namespaces.get(record.namespace)?.syncs.get(record.name)?.uid === record.uid) upsertSync(record)
    },
    /** Records a GatewaySync of another installation. It only counts for pods that name none. */
    upsertOther(namespace: string, name: string): void {
      const { syncs, others } = inNamespace(namespace)
      if (others.has(name)) return
      others.add(name)
      seen()
      if (syncs.delete(name)) changed(syncKey(namespace, name), 'other')
      onlyOneChanged(namespace, 2)
    },
    removeSync(namespace: string, name: string): void {
      const { syncs, others } = inNamespace(namespace)
      others.delete(name)
      if (syncs.delete(name)) changed(syncKey(namespace, name), 'other')
      seen()
      onlyOneChanged(namespace, 1)
    },
    upsertPod(pod: PodRecord): void {
      const { pods, reports, modes } = inNamespace(pod.namespace)
      const before = pods.get(pod.name)
      // Most pod changes are irrelevant.
      if (isDeepStrictEqual(before, pod)) return
      if (before?.uid !== pod.uid) modes.appears(pod.name, before, reports.get(pod.name), monotonicMs())
      podChanged(before)
      share(pod)
      pods.set(pod.name, pod)
      seen()
      podChanged(pod)
    },
    removePod(namespace: string, name: string): void {
      const { pods, reports, modes } = inNamespace(namespace)
      podChanged(pods.get(name))
      modes.goes(pods.get(name), reports.get(name), monotonicMs())
      pods.delete(name)
      seen()
    },
    upsertReport(report: ReportRecord): void {
      const { reports } = inNamespace(report.namespace)
      const before = reports.get(report.pod)
      if (isDeepStrictEqual(before, report)) return
      share(report)
      reports.set(report.pod, report)
      seen()
      // Display details trigger no reconcile.
      if (isDeepStrictEqual(decisive(before), decisive(report))) return
      if (report.gatewaySync !== '' && !answers.isOther(report.namespace, report.gatewaySync))
        changed(syncKey(report.namespace, report.gatewaySync), 'report')
    },
    removeReport(namespace: string, pod: string): void {
      const { pods, reports, modes } = inNamespace(namespace)
      const before = reports.get(pod)
      modes.keep(pods.get(pod), before, monotonicMs())
      reports.delete(pod)
      seen()
      if (before !== undefined && before.gatewaySync !== '') changed(syncKey(namespace, before.gatewaySync), 'report')
    },
  }
}

function emptyNamespace(): Namespace {
  return { syncs: new Map(), others: new Set(), pods: new Map(), reports: new Map(), modes: createPodModes() }
}

/** The controller's own status writes come back through the watch and trigger no reconcile. */
function isSameWish(before: GatewaySyncRecord | undefined, after: GatewaySyncRecord): boolean {
  return before?.uid === after.uid && before.generation === after.generation && sameAnnotations(before.annotations, after.annotations)
}

/** The queries of the store. */
function answersFrom(namespaces: ReadonlyMap<string, Namespace>, monotonicMs: () => number) {
  const syncOfPod = (pod: PodRecord): string | undefined => {
    const { syncs, others } = namespaces.get(pod.namespace) ?? { syncs: new Map<string, GatewaySyncRecord>(), others: new Set<string>() }
    const [first] = syncs.size === 0 ? others : syncs.keys()
    return gatewaySyncOfPod(pod.annotations, syncs.size + others.size === 1 ? first : undefined)
  }
  const podsOf = (namespace: string, name: string): PodRecord[] =>
    [...(namespaces.get(namespace)?.pods.values() ?? [])].filter((pod) => syncOfPod(pod) === name)

  return {
    /** Returns all objects. */
    all(): { syncs: GatewaySyncRecord[]; others: { namespace: string; name: string }[]; pods: PodRecord[]; reports: ReportRecord[] } {
      const every = [...namespaces]
      return {
        syncs: every.flatMap(([, { syncs }]) => [...syncs.values()]),
        others: every.flatMap(([namespace, { others }]) => [...others].map((name) => ({ namespace, name }))),
        pods: every.flatMap(([, { pods }]) => [...pods.values()]),
        reports: every.flatMap(([, { reports }]) => [...reports.values()]),
      }
    },
    isOther: (namespace: string, name: string): boolean => namespaces.get(namespace)?.others.has(name) === true,
    othersIn(namespace: string): ReadonlySet<string> {
      return namespaces.get(namespace)?.others ?? new Set<string>()
    },
    sync(namespace: string, name: string): GatewaySyncRecord | undefined {
      return namespaces.get(namespace)?.syncs.get(name)
    },
    namesIn(namespace: string): string[] {
      return [...(namespaces.get(namespace)?.syncs.keys() ?? [])]
    },
    /** Returns those of one namespace, or all. */
    syncs(of?: string): GatewaySyncRecord[] {
      const chosen = of === undefined ? [...namespaces.values()] : [namespaces.get(of) ?? []].flat()
      return chosen.flatMap(({ syncs }) => [...syncs.values()])
    },
    pod(namespace: string, name: string): PodRecord | undefined {
      return namespaces.get(namespace)?.pods.get(name)
    },
    syncOfPod,
    /** The pods that follow a GatewaySync. */
    podsOf,
    /**
     * Returns the reports of a GatewaySync: each names it, and belongs to a live pod of the same uid that follows it. Anyone with
     * permission to write a SyncReport can name any GatewaySync of the namespace, so the name alone proves nothing.
     */
    reportsOf(namespace: string, name: string): ReportRecord[] {
      const reports = namespaces.get(namespace)?.reports
      return podsOf(namespace, name)
        .map((pod) => ({ pod, report: reports?.get(pod.name) }))
        .flatMap(({ pod, report }) =>
          report !== undefined && report.gatewaySync === name && report.podUid === pod.uid && !pod.terminating ? [report] : [],
        )
    },
    /** Returns the mode of each gateway of a GatewaySync, as far as known; includes pods deleted within the last hour. */
    gatewayModes(namespace: string, name: string): GatewayMode[] {
      const nowMs = monotonicMs()
      const { pods, reports, modes } = namespaces.get(namespace) ?? {}
      const former = modes?.formerOf(name, nowMs) ?? new Map<string, string>()
      const present = podsOf(namespace, name).map((pod) => {
        const report = reports?.get(pod.name)
        const reported = report?.gatewaySync === name && report.podUid === pod.uid ? modeOf(report) : undefined
        return { pod, mode: reported ?? former.get(pod.name), seenForMs: modes?.seenForMs(pod.name, nowMs) ?? 0 }
      })
      const gone = [...former].filter(([pod]) => pods?.has(pod) !== true).map(([, mode]) => ({ pod: undefined, mode, seenForMs: 0 }))
      return [...present, ...gone]
    },
    /** Returns the version that each agent reports; undefined if absent. */
    *agentVersions(): Generator<string | undefined> {
      for (const { reports } of namespaces.values()) for (const { status } of reports.values()) yield status?.agentVersion
    },
    /** Returns the namespaces with pods that request an agent. */
    podNamespaces(): string[] {
      return [...namespaces].filter(([, { pods }]) => pods.size > 0).map(([namespace]) => namespace)
    },
    podsIn(namespace: string): PodRecord[] {
      return [...(namespaces.get(namespace)?.pods.values() ?? [])]
    },
    reportsIn(namespace: string): ReadonlyMap<string, ReportRecord> {
      return namespaces.get(namespace)?.reports ?? new Map<string, ReportRecord>()
    },
  }
}

function decisive(report: ReportRecord | undefined): Partial<ReportRecord> {
  const { details: _, ...rest } = report ?? {}
  return rest
}

function sameAnnotations(a: Annotations, b: Annotations): boolean {
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key])
}

/** Kubernetes 1.35 made resource versions comparable as whole numbers; with etcd they always were. */
function isNewer(a: string, b: string): boolean {
  return a.length === b.length ? a > b : a.length > b.length
}
