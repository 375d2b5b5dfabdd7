/**
 * Patches a GatewaySync with the field manager of the CLI.
 */
import { Fault } from '../../platform/fault.ts'
import type { Change } from '../../fleet/request-patch.ts'
import { cliFieldManager } from '../../api/names.ts'
import { gatewaySyncType, type KubeObject } from '../../kube/types.ts'
import { type GatewaySyncRecord, projectGatewaySync } from '../../reconcile/store/records.ts'
import { workSignal } from '../stop.ts'
import { type Cluster, inCluster } from './cluster.ts'
import { exitUnknown } from './exit.ts'
import type { ClusterOptions } from './options.ts'

/** Other clients may write at the same time. */
const maxAttempts = 5

/** Applies one merge patch to the current object, or none if `change` returns none. Throws NotFound, Conflict, and what writing throws. */
export async function patchSync(
  { kube, namespace, signal }: Asking,
  name: string,
  change: (record: GatewaySyncRecord) => Change | undefined,
): Promise<GatewaySyncRecord> {
  for (let attempt = 1; ; attempt += 1) {
    const record = projectGatewaySync(await readSync({ kube, namespace, signal }, name))
    const patch = change(record)
    if (patch === undefined) return record
    const body = { ...patch, metadata: { ...patch.metadata, resourceVersion: record.resourceVersion } }
    try {
      return projectGatewaySync(
        await kube.mergePatch(gatewaySyncType, { namespace, name }, body, { fieldManager: cliFieldManager }, signal),
      )
    } catch (error) {
      if (!(error instanceof Fault) || error.reason !== 'Conflict' || attempt === maxAttempts) throw error
    }
  }
}

/** Throws NotFound, and what reading throws. */
export async function readSync({ kube, namespace, signal }: Omit<Asking, 'server'>, name: string): Promise<KubeObject> {
  const object = await kube.get(gatewaySyncType, { namespace, name }, signal)
  if (object === undefined) throw new Fault('NotFound', `there is no GatewaySync "${name}" in namespace "${namespace}"`)
  return object
}

/** The signal is aborted when the command is interrupted. */
export type Asking = Cluster & { signal: AbortSignal }

/**
 * Returns the exit code of `work`; after Ctrl-C or SIGTERM prints a note and ends by the signal. Throws what `work` throws, with API errors
 * translated.
 */
export async function asking(options: ClusterOptions, work: (cluster: Asking) => Promise<number>): Promise<number> {
  const signal = workSignal()
  try {
    return await inCluster(options, async (cluster) => await work({ ...cluster, signal }))
  } catch (error) {
    if (!signal.aborted) throw error
    process.stderr.write('cluster-sync: stopped before the outcome was known; "cluster-sync status" shows it\n')
    return exitUnknown
  }
}
