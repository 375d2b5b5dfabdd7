/**
 * One GatewaySync as the API server holds it now: the store may not have heard yet of what a write ran into.
 */
import { Fault } from '../fault.ts'
import type { Kube } from '../kube/client.ts'
import { gatewaySyncType } from '../kube/types.ts'
import { type GatewaySyncRecord, projectGatewaySync } from '../reconcile/store.ts'

/** Throws NotFound, ApiUnavailable. */
export async function readAnew(
  kube: Pick<Kube, 'listPages'>,
  key: { namespace: string; name: string },
  signal: AbortSignal,
): Promise<GatewaySyncRecord> {
  // Whoever may watch may list; another verb would be another right.
  const options = { namespace: key.namespace, fieldSelector: `metadata.name=${key.name}`, limit: 1 }
  for await (const { items } of kube.listPages(gatewaySyncType, options, signal)) {
    const [object] = items
    if (object !== undefined) return projectGatewaySync(object)
  }
  throw new Fault('NotFound', `there is no GatewaySync "${key.name}" in namespace "${key.namespace}"`)
}
