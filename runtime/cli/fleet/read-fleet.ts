/**
 * Reads the facts of a fleet: from the API server, or from the state folder of a standalone run.
 */
import path from 'node:path'
import { Fault } from '../../platform/fault.ts'
import type { FleetFacts, ReportFacts, SyncFacts } from '../../fleet/facts.ts'
import { parseReport } from '../../reconcile/decide/gateways.ts'
import { wholeReport } from '../../reconcile/decide/report-details.ts'
import type { Kube } from '../../kube/client.ts'
import { gatewaySyncType, type KubeObject, podType, type ResourceType, syncReportType } from '../../kube/types.ts'
import { projectGatewaySync, projectPod, projectReport } from '../../reconcile/store/records.ts'
import { readState, type RunnerState } from '../../standalone/state.ts'
import { inCluster } from './cluster.ts'
import type { ClusterOptions } from './options.ts'

const never = new AbortController().signal

/** `namespace` undefined: all namespaces. Throws Forbidden, NotFound, ApiUnavailable. */
export async function readCluster(
  { kube, namespace }: { kube: Pick<Kube, 'listPages'>; namespace: string | undefined },
  signal: AbortSignal,
): Promise<FleetFacts> {
  const notes: string[] = []
  const where = namespace === undefined ? 'of all namespaces' : `of namespace "${namespace}"`
  /** Returns undefined without permission, and adds a note for the reader. */
  const unlessForbidden = async <Item>(list: Promise<Item[]>, note: string): Promise<Item[] | undefined> => {
    try {
      return await list
    } catch (error) {
      if (!(error instanceof Fault) || error.reason !== 'Forbidden') throw error
      notes.push(note)
      return undefined
    }
  }
  const within = namespace === undefined ? {} : { namespace }
  const syncs = await listed(kube, gatewaySyncType, within, syncOf, signal)
  const reports = await unlessForbidden(
    listed<ReportFacts, KubeObject>(kube, syncReportType, within, (object) => projectReport(object, wholeReport), signal),
    `you may not list the SyncReports ${where}, so single gateways are not shown.`,
  )
  const pods = await unlessForbidden(
    listed(kube, podType, within, projectPod, signal),
    `you may not list the pods ${where}, so gateways without an agent are not shown.`,
  )
  return { from: 'cluster', syncs, pods: reports === undefined ? [] : pods, reports: reports ?? [], notes }
}

async function listed<Item, Kind extends KubeObject>(
  kube: Pick<Kube, 'listPages'>,
  type: ResourceType<Kind>,
  within: { namespace?: string },
  project: (object: Kind) => Item | undefined,
  signal: AbortSignal,
): Promise<Item[]> {
  const items: Item[] = []
  for await (const page of kube.listPages(type, within, signal)) {
    for (const object of page.items) {
      const item = project(object)
      if (item !== undefined) items.push(item)
    }
  }
  return items
}

function syncOf(object: KubeObject): SyncFacts {
  const { namespace, name, generation, annotations, spec, status } = projectGatewaySync(object)
  return { namespace, name, generation, annotations, spec, status }
}

/** The facts of one GatewaySync, of a cluster or of a standalone run. Throws NotFound and what reading throws. */
export async function readOne(name: string | undefined, options: ClusterOptions & { state?: string }): Promise<FleetFacts> {
  if (options.state !== undefined) return readStandalone(options.state)
  if (name === undefined) throw new Fault('InvalidConfiguration', 'specify the GatewaySync, or --state <dir> for a standalone run')
  return await inCluster(options, async ({ kube, namespace }) => onlyNamed(await readCluster({ kube, namespace }, never), name, namespace))
}

/** Filters late, because the other GatewaySyncs also determine which one a pod without an annotation follows. Throws NotFound. */
export function onlyNamed(facts: FleetFacts, name: string, namespace: string): FleetFacts {
  if (facts.syncs.some((sync) => sync.name === name)) return { ...facts, only: name }
  const known = facts.syncs.map((sync) => sync.name)
  const there = known.length === 0 ? 'it has none' : `it has ${known.join(', ')}`
  throw new Fault('NotFound', `there is no GatewaySync "${name}" in namespace "${namespace}"; ${there}`)
}

/** The parts of a run's state that the fleet view needs. */
type RunFacts = Pick<RunnerState, 'namespace' | 'name' | 'generation' | 'annotations' | 'spec' | 'status' | 'reports'>

/** Throws InvalidConfiguration if the folder holds no state of a run; StateUnreadable. */
export function readStandalone(folder: string): FleetFacts {
  const state = readState(path.resolve(folder))
  if (state === undefined)
    throw new Fault(
      'InvalidConfiguration',
      `--state: "${folder}" contains no state of a run; it is the folder that "cluster-sync run" keeps`,
    )
  return factsOfRun(state)
}

/** The facts of a standalone run, from its state. */
export function factsOfRun(state: RunFacts): FleetFacts {
  const { namespace, name, generation, annotations, spec, status, reports } = state
  return {
    from: 'standalone',
    syncs: [{ namespace, name, generation, annotations, spec, status }],
    pods: undefined,
    reports: Object.entries(reports).map(([target, report]) => ({
      namespace,
      pod: target,
      gatewaySync: name,
      ...parseReport(target, report, wholeReport),
    })),
    notes: [],
  }
}
