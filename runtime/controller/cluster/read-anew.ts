/**
 * Reads one GatewaySync from the API server: after a conflict the store may not have its latest version yet.
 */
import { Fault } from '../../fault.ts'
import type { Kube } from '../../kube/client.ts'
import { gatewaySyncType } from '../../kube/types.ts'
import { type GatewaySyncRecord, projectGatewaySync } from '../../reconcile/records.ts'

/** Throws NotFound, ApiUnavailable. */
export async function readAnew(
  kube: Pick<Kube, 'listPages'>,
  key: { namespace: string; name: string },
  signal: AbortSignal,
): Promise<GatewaySyncRecord> {
  // A list with a selector, because `get` would need another right.
  const options = { namespace: key.namespace, fieldSelector: `metadata.name=${key.name}`, limit: 1 }
  for await (const { items } of kube.listPages(gatewaySyncType, options, signal)) {
    const [object] = items
    if (object !== undefined) return projectGatewaySync(object)
  }
  throw new Fault('NotFound', `there is no GatewaySync "${key.name}" in namespace "${key.namespace}"`)
}
