/**
 * How a fleet stands: facts in, rows and sentences out. A terminal prints it today and a page can show it as well. Pure.
 */
import { type GatewayPod, gatewaySyncOfPod, parseReport } from '../gatewaysync/decide/gateways.ts'
import { podAnnotations } from '../gatewaysync/names.ts'
import type { FleetFacts, ReportFacts } from './facts.ts'
import { readReport } from './gateway-view.ts'
import { worstOf } from './level.ts'
import { syncView } from './sync-view.ts'
import type { FleetView, SyncView } from './view.ts'

export function fleetView({ syncs, only, pods, reports, from, notes }: FleetFacts, now: Temporal.Instant): FleetView {
  const namesIn = new Map<string, string[]>()
  for (const { namespace, name } of syncs) namesIn.set(namespace, [...(namesIn.get(namespace) ?? []), name])
  const followers = pods ?? reports.filter(({ podUid }) => typeof podUid === 'string').map(podOfReport)
  const views = syncs
    .filter(({ name }) => only === undefined || name === only)
    .toSorted((a, b) => compare(a.namespace, b.namespace) || compare(a.name, b.name))
    .map((sync) => {
      const own = followers.filter(({ namespace, annotations }) => {
        const names = namesIn.get(namespace) ?? []
        return namespace === sync.namespace && gatewaySyncOfPod(annotations, names.length === 1 ? names[0] : undefined) === sync.name
      })
      const ownReports = reports.filter(({ namespace, gatewaySync }) => namespace === sync.namespace && gatewaySync === sync.name)
      return syncView(sync, own, ownReports, from)
    })
  return {
    at: now.toString({ smallestUnit: 'second' }),
    level: worstOf(views.map(({ level }) => level)),
    ready: views.every(({ ready }) => ready === 'True'),
    summary: summaryOf(views),
    syncs: views,
    notes: [...notes],
  }
}

/** A gateway whose pod nobody showed us, as its report tells of it. */
function podOfReport({ namespace, pod, gatewaySync, podUid, status }: ReportFacts): GatewayPod {
  const profile = parseReport(podUid, status).malformed ? undefined : readReport(status)?.profile
  return {
    namespace,
    name: pod,
    uid: String(podUid),
    annotations: { [podAnnotations.gatewaySync]: gatewaySync, ...(profile === undefined ? {} : { [podAnnotations.profile]: profile }) },
    injected: true,
    terminating: false,
    labels: {},
    agentDown: undefined,
  }
}

function summaryOf(views: readonly SyncView[]): string {
  if (views.length === 0) return 'There is no GatewaySync.'
  const ready = views.filter((view) => view.ready === 'True').length
  const total = views.reduce((sum, { counts }) => sum + (counts?.total ?? 0), 0)
  const inStep = views.reduce((sum, view) => sum + view.inStep, 0)
  const gateways = total === 0 ? 'no gateway follows them yet' : `${inStep} of ${total} gateways run the published commit`
  return `${ready} of ${views.length} ${views.length === 1 ? 'GatewaySync is' : 'GatewaySyncs are'} ready; ${gateways}.`
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
