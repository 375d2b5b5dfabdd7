/**
 * Reads the facts, builds the view and prints it: once, or again at each change.
 */
import { isDeepStrictEqual } from 'node:util'
import { deadline, systemClock, unlessAborted } from '../../platform/clock.ts'
import { Fault } from '../../platform/fault.ts'
import type { FleetFacts } from '../../fleet/facts.ts'
import { fleetView, type ClusterAnswer, clustersView } from '../../fleet/fleet-view.ts'
import { fleetText, syncText } from '../../fleet/status-text.ts'
import type { FleetView } from '../../fleet/view.ts'
import { stopSignal } from '../stop.ts'
import { type Cluster, explainApiError, inClusters, type Clusters } from './cluster.ts'
import type { StatusOptions } from './options.ts'
import { type Output, print, printError, exitNo, exitUnknown, exitYes, explained } from '../output/output.ts'
import { onlyNamed, readCluster, readStandalone } from './read-fleet.ts'

/** Polling interval; three lists of a namespace are a small load for an API server. */
const pollEveryMs = 2_000
/** For one of several clusters: the others are not shown before. */
const clusterTimeoutMs = 15_000
/** Clears the terminal and goes to its first line. */
const clear = '\u001b[2J\u001b[H'

/** Returns the exit code. Throws InvalidConfiguration, NotFound, Forbidden, ApiUnavailable, StateUnreadable. */
export async function statusCommand(name: string | undefined, options: StatusOptions, output: Output): Promise<number> {
  const { state, allNamespaces, format } = options
  const watch = options.watch === true
  const signal = watch ? stopSignal() : new AbortController().signal
  if (state !== undefined) {
    if (name !== undefined || allNamespaces === true || options.namespace !== undefined)
      throw new Fault('InvalidConfiguration', 'a standalone run has one GatewaySync: omit the name with --state')
    return await show(async () => fleetView(readStandalone(state), systemClock.now()), true, { format, watch, output }, signal)
  }
  if (name !== undefined && allNamespaces === true)
    throw new Fault('InvalidConfiguration', 'a name belongs to one namespace: omit --all-namespaces or the name')
  const [first, ...more] = new Set(options.context)
  return await inClusters(options, [first, ...more], async (clusters) => {
    const read: Read = async ({ kube, namespace, context }, signal) => {
      const facts = await readCluster({ kube, namespace: allNamespaces === true ? undefined : namespace }, signal)
      return { ...(name === undefined ? facts : onlyNamed(facts, name, namespace)), context }
    }
    return await show(() => viewOf(clusters, read, signal), name !== undefined, { format, watch, output }, signal)
  })
}

type Read = (cluster: Cluster, signal: AbortSignal) => Promise<FleetFacts>

/** One cluster: throws what reading throws. Of several, those that cannot be read become failures of the view. */
async function viewOf(clusters: Clusters, read: Read, signal: AbortSignal): Promise<FleetView> {
  const viewOfOne = async (cluster: Cluster, signal: AbortSignal): Promise<FleetView> => {
    try {
      return fleetView(await read(cluster, signal), systemClock.now())
    } catch (error) {
      throw explainApiError(error, cluster.server)
    }
  }
  if (clusters.length === 1) return await viewOfOne(clusters[0], signal)
  const answers = clusters.map(async (cluster): Promise<ClusterAnswer> => {
    const { context = '', server } = cluster
    const stop = deadline(clusterTimeoutMs, signal)
    try {
      return { context, view: await unlessAborted(viewOfOne(cluster, stop), stop) }
    } catch (error) {
      signal.throwIfAborted()
      const late = `the cluster at ${server} did not answer within ${clusterTimeoutMs / 1000} s`
      const fault = stop.aborted ? new Fault('ApiUnavailable', late, { cause: error }) : error
      if (!(fault instanceof Fault)) throw fault
      return { context, ...explained(fault) }
    }
  })
  return clustersView(await Promise.all(answers), systemClock.now())
}

type Showing = Pick<StatusOptions, 'format'> & { watch: boolean; output: Output }

async function show(
  read: () => Promise<FleetView>,
  detailed: boolean,
  { format, watch, output }: Showing,
  signal: AbortSignal,
): Promise<number> {
  let shown: FleetView | undefined
  const poll = async (): Promise<void> => {
    const view = await read()
    if (shown === undefined || output.isTerminal || !sameBut(shown, view)) write(view, detailed, { format, watch, output })
    shown = view
  }
  await poll().catch((error: unknown) => {
    if (!signal.aborted) throw error
  })
  while (watch && !signal.aborted) {
    await systemClock.wait(pollEveryMs, signal).catch(() => undefined)
    if (signal.aborted) break
    try {
      await poll()
    } catch (error) {
      if (signal.aborted) break
      if (!(error instanceof Fault)) throw error
      printError(`${error.message} (${error.reason}); retrying`)
    }
  }
  if (watch || shown?.allReady === true) return exitYes
  return shown?.failures === undefined ? exitNo : exitUnknown
}

/** Ignores ages. A terminal is repainted in any case, because they change. */
function sameBut(shown: FleetView, view: FleetView): boolean {
  return isDeepStrictEqual({ ...shown, at: '' }, { ...view, at: '' })
}

function write(view: FleetView, detailed: boolean, { format, watch, output }: Showing): void {
  if (format === 'json') return print(output, [watch ? JSON.stringify(view) : JSON.stringify(view, undefined, 2)])
  const now = systemClock.now()
  if (watch && output.isTerminal) output.write(clear)
  print(output, (detailed ? syncText : fleetText)(view, now, output.style))
}
