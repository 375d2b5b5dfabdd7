/**
 * Writes what somebody asks for on a GatewaySync, in the name of the command line.
 */
import { Fault } from '../../fault.ts'
import type { Change } from '../../fleet/ask.ts'
import { cliFieldManager } from '../../gatewaysync/names.ts'
import { gatewaySyncType, type KubeObject } from '../../kube/types.ts'
import { type GatewaySyncRecord, projectGatewaySync } from '../../reconcile/records.ts'
import type { Asking } from './asking.ts'

/** Somebody else may write at the same time. */
const maxAttempts = 5

/** One merge patch on the object as it is now, or none where `change` finds nothing to do. Throws NotFound, Conflict, and what writing throws. */
export async function patchSync(
  { kube, namespace, signal }: Asking,
  name: string,
  change: (record: GatewaySyncRecord) => Change | undefined,
): Promise<GatewaySyncRecord> {
  for (let attempt = 1; ; attempt += 1) {
    const record = projectGatewaySync(await readSync({ kube, namespace, signal }, name))
    const wanted = change(record)
    if (wanted === undefined) return record
    const body = { ...wanted, metadata: { ...wanted.metadata, resourceVersion: record.resourceVersion } }
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
