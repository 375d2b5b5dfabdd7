/**
 * Prints the local changes on the gateways of a cluster or a standalone run: those that agents have reported, or those that they list on
 * request.
 */
import { systemClock, timestamp } from '../../platform/clock.ts'
import { asFault, Fault } from '../../platform/fault.ts'
import type { FleetFacts } from '../../fleet/facts.ts'
import { changesRequest } from '../../reconcile/decide/capture.ts'
import { changesAnnotations } from '../../api/names.ts'
import type { ChangesOptions, HistoryOptions } from './options.ts'
import { type Output, print, printError, exitNo, exitUnknown, exitYes } from '../output/output.ts'
import { onlyNamed, readCluster, readOne } from './read-fleet.ts'
import {
  driftText,
  fleetDrift,
  repeatedChangesPatch,
  changesRequestPatch,
  changesText,
  countOf,
  forgetChanges,
  type GatewayChanges,
  isAwaited,
  answeredChanges,
} from '../../fleet/drift.ts'
import { inCluster, type ClusterCommand, runInCluster, patchSync } from './cluster.ts'

const pollEveryMs = 500
const forgetWithinMs = 5_000

/** Returns the exit code: 0 no changes, 1 changes, 2 an agent has not answered in time. Throws NotFound, Forbidden, ApiUnavailable. */
export async function changesCommand(name: string, options: ChangesOptions, output: Output): Promise<number> {
  return await runInCluster(options, async (cluster) => {
    const own = new Set<string>()
    let answers: Awaited<ReturnType<typeof untilAnswered>>
    try {
      const id = newId(own)
      await patchSync(cluster, name, () => changesRequestPatch({ id, gateway: options.only }))
      answers = await untilAnswered(cluster, name, { own, ...options })
    } finally {
      await forget(cluster, name, own)
    }
    const { rows, facts } = answers
    if (options.format === 'json') print(output, [JSON.stringify({ gateways: rows, notes: facts.notes }, undefined, 2)])
    else print(output, [...changesText(rows, output.style), ...facts.notes])
    if (rows.some(({ changes }) => changes !== undefined && countOf(changes) > 0)) return exitNo
    return rows.some(({ changes }) => changes === undefined) ? exitUnknown : exitYes
  })
}

/** The options of the request, and the ids of all requests that this command made. */
type WaitOptions = Pick<ChangesOptions, 'only' | 'timeout'> & { own: Set<string> }

/** Creates a new request id and records it. */
function newId(own: Set<string>): string {
  const id = `${timestamp(systemClock.now())}/${systemClock.uuid().slice(0, 8)}`
  own.add(id)
  return id
}

/** Another client may request at the same time: the answer to a later request counts too. */
async function untilAnswered(
  cluster: ClusterCommand,
  name: string,
  { own, only: gateway, timeout }: WaitOptions,
): Promise<{ rows: GatewayChanges[]; facts: FleetFacts }> {
  const { kube, namespace, signal } = cluster
  const endMs = systemClock.monotonicMs() + timeout
  const others = new Set<string>()
  let rows: GatewayChanges[] = []
  for (;;) {
    const facts = onlyNamed(await readCluster({ kube, namespace }, signal), name, namespace)
    const annotations = facts.syncs.find((sync) => sync.name === name)?.annotations ?? {}
    const latest = changesRequest(annotations)
    if (latest !== undefined) others.add(latest.id)
    rows = answeredChanges(facts, { ids: own.union(others), gateway, before: rows }, systemClock.now())
    if (gateway !== undefined && rows.length === 0)
      throw new Fault('NotFound', `no gateway or pod "${gateway}" follows GatewaySync "${name}" in namespace "${namespace}"`)
    if (!rows.some(isAwaited) || systemClock.monotonicMs() >= endMs) return { rows, facts }
    if (repeatedChangesPatch(rows, annotations, { id: '', gateway }) !== undefined) {
      const [id, awaited] = [newId(own), rows]
      await patchSync(cluster, name, (present) => repeatedChangesPatch(awaited, present.annotations, { id, gateway }))
    }
    await systemClock.wait(pollEveryMs, signal)
  }
}

/** Also runs after Ctrl-C. If it fails, the answers remain in the reports, whose readers may see them anyway. */
async function forget(cluster: ClusterCommand, name: string, own: ReadonlySet<string>): Promise<void> {
  try {
    await patchSync({ ...cluster, signal: AbortSignal.timeout(forgetWithinMs) }, name, ({ annotations }) => forgetChanges(annotations, own))
  } catch (error) {
    const { reason, message } = asFault(error)
    // Without the GatewaySync the request does not exist either.
    if (reason === 'NotFound') return
    printError(`reports keep the listed changes for ten minutes, or until annotation ${changesAnnotations.at} is removed: ${message}`)
  }
}

/** Returns the exit code: 0 no changes, 1 changes, 2 an agent has not reported. Throws what reading a fleet throws. */
export async function driftCommand(name: string | undefined, options: HistoryOptions, output: Output): Promise<number> {
  const facts = await read(name, options)
  const gateways = fleetDrift(facts, systemClock.now())
  if (options.format === 'json') print(output, [JSON.stringify({ gateways, notes: facts.notes }, undefined, 2)])
  else print(output, [...driftText(gateways, output.style), ...facts.notes])
  if (gateways.some(({ count }) => (count ?? 0) > 0)) return exitNo
  return gateways.some(({ count }) => count === undefined) ? exitUnknown : exitYes
}

async function read(name: string | undefined, options: HistoryOptions): Promise<FleetFacts> {
  if (name !== undefined && options.state !== undefined)
    throw new Fault('InvalidConfiguration', 'a standalone run has one GatewaySync: omit the name with --state')
  if (name !== undefined || options.state !== undefined) return await readOne(name, options)
  const never = new AbortController().signal
  return await inCluster(options, async ({ kube, namespace }) => await readCluster({ kube, namespace }, never))
}
