/**
 * Builds the fleet view, with rows and sentences, from facts. The CLI and the status page render it. Pure.
 */
import { type GatewayPod, gatewaySyncOfPod } from '../reconcile/decide/gateways.ts'
import { podAnnotations } from '../api/names.ts'
import type { Temporal } from '../platform/temporal.ts'
import type { FleetFacts, ReportFacts } from './facts.ts'
import { syncView } from './sync-view.ts'
import { type ClusterSync, type FleetView, type SyncView, worstOf, type ClusterFailure } from './view.ts'

/** The model of `status`, the status page and its JSON: GatewaySyncs by namespace and name, each with its gateways. */
export function fleetView(facts: FleetFacts, now: Temporal.Instant): FleetView {
  const { syncs, others = [], only, pods, reports, notes, warnings } = facts
  const namesIn = Map.groupBy([...syncs, ...others], ({ namespace }) => namespace)
  const followers = pods ?? reports.filter(({ podUid }) => podUid !== '').map(podOfReport)
  const bySync = Map.groupBy(followers, ({ namespace, annotations }) => {
    const [first, ...more] = namesIn.get(namespace) ?? []
    return keyOf(namespace, gatewaySyncOfPod(annotations, more.length === 0 ? first?.name : undefined))
  })
  const reportsBySync = Map.groupBy(reports, ({ namespace, gatewaySync }) => keyOf(namespace, gatewaySync))
  const views = syncs
    .filter(({ name }) => only === undefined || name === only)
    .toSorted((a, b) => compare(a.namespace, b.namespace) || compare(a.name, b.name))
    .map((sync) => {
      const key = keyOf(sync.namespace, sync.name)
      return syncView(sync, bySync.get(key) ?? [], reportsBySync.get(key) ?? [], facts)
    })
  return fleetViewOf(views, { at: now.toString({ smallestUnit: 'second' }), notes, warnings })
}

/** The view of some GatewaySyncs. */
export function fleetViewOf(
  syncs: SyncView[],
  {
    at,
    notes,
    warnings = [],
    seesNothing = false,
  }: Pick<FleetView, 'at'> & { notes: readonly string[]; warnings?: FleetFacts['warnings'] | undefined; seesNothing?: boolean },
): FleetView {
  return {
    at,
    level: worstOf(syncs.map(({ level }) => level)),
    allReady: syncs.every(({ ready }) => ready === 'True'),
    summary: summaryOf(fleetCounts(syncs)),
    syncs,
    notes: [...notes],
    ...(warnings.length === 0 ? {} : { warnings }),
    ...(seesNothing ? { seesNothing } : {}),
  }
}

/** A gateway without a listed pod, from its report. */
function podOfReport({ namespace, pod, gatewaySync, podUid, details }: ReportFacts): GatewayPod {
  const profile = details?.profile
  return {
    namespace,
    name: pod,
    uid: podUid,
    annotations: { [podAnnotations.gatewaySync]: gatewaySync, ...(profile === undefined ? {} : { [podAnnotations.profile]: profile }) },
    injected: true,
    terminating: false,
    labels: {},
    agentDown: undefined,
  }
}

/** Numbers of GatewaySyncs, ready GatewaySyncs, gateways that follow them, and gateways that run the published commit. */
export type FleetCounts = { syncs: number; ready: number; gateways: number; upToDate: number }

/** Counts each gateway under the one GatewaySync that it follows. */
export function fleetCounts(views: readonly Pick<ClusterSync, 'ready' | 'counts' | 'upToDate'>[]): FleetCounts {
  return {
    syncs: views.length,
    ready: views.filter((view) => view.ready === 'True').length,
    gateways: views.reduce((sum, { counts }) => sum + (counts?.total ?? 0), 0),
    upToDate: views.reduce((sum, view) => sum + view.upToDate, 0),
  }
}

/** Summarizes the counts in one sentence. */
export function summaryOf({ syncs, ready, gateways, upToDate }: FleetCounts): string {
  if (syncs === 0) return 'There is no GatewaySync.'
  const follow = gateways === 0 ? 'no gateway follows them yet' : `${upToDate} of ${gateways} gateways run the published commit`
  return `${ready} of ${syncs} ${syncs === 1 ? 'GatewaySync is' : 'GatewaySyncs are'} ready; ${follow}.`
}

/** The slash is unambiguous: neither part can contain one. */
function keyOf(namespace: string, name: string | undefined): string {
  return `${namespace}/${name ?? ''}`
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** `context`: the name of the cluster in the kubeconfig. */
export type ClusterAnswer = { context: string; view: FleetView } | ClusterFailure

/** In the order of the answers. With a failure nothing is known to be ready. */
export function clustersView(answers: readonly ClusterAnswer[], now: Temporal.Instant): FleetView {
  const read = answers.filter((answer) => 'view' in answer)
  const failures = answers.flatMap((answer) => ('view' in answer ? [] : [answer]))
  const view = fleetViewOf(
    read.flatMap(({ view }) => view.syncs),
    {
      at: now.toString({ smallestUnit: 'second' }),
      notes: read.flatMap(({ context, view }) => view.notes.map((note) => `${context}: ${note}`)),
    },
  )
  if (failures.length === 0) return view
  const failed = `${failures.length} of ${answers.length} clusters cannot be read.`
  return { ...view, level: 'error', allReady: false, summary: read.length === 0 ? failed : `${view.summary} ${failed}`, failures }
}
