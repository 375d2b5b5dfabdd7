/**
 * Prints the local changes that the agents of a cluster, or a standalone run, have reported.
 */
import { systemClock } from '../../platform/clock.ts'
import { Fault } from '../../platform/fault.ts'
import { driftText, fleetDrift } from '../../fleet/drift.ts'
import type { FleetFacts } from '../../fleet/facts.ts'
import { inCluster } from './cluster.ts'
import { exitNo, exitUnknown, exitYes } from './exit.ts'
import type { HistoryOptions } from './options.ts'
import { type Output, print } from './output.ts'
import { readCluster, readOne } from './read-fleet.ts'

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
