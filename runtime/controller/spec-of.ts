/**
 * The spec of a GatewaySync as endpoints read it: any replica answers for objects that no reconcile pass of its own has checked.
 */
import * as v from 'valibot'
import { type GatewaySyncSpec, gatewaySyncSpec } from '../gatewaysync/spec.ts'

const schema = gatewaySyncSpec({ allowLocal: true })

/** Undefined for a spec that the reconcile pass reports as invalid. */
export function specOf({ spec }: { spec: unknown }): GatewaySyncSpec | undefined {
  const parsed = v.safeParse(schema, spec)
  return parsed.success ? parsed.output : undefined
}
