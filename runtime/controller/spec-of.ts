/**
 * The spec of a GatewaySync as endpoints read it: any replica answers for objects that no reconcile pass of its own has checked.
 */
import * as v from 'valibot'
import { type GatewaySyncSpec, gatewaySyncSpec } from '../gatewaysync/schema/spec.ts'

const schema = gatewaySyncSpec({ allowLocal: true })
/** A call asks several times; the store replaces a record, it never changes one. */
const parsed = new WeakMap<object, { spec: GatewaySyncSpec | undefined }>()

/** Undefined for a spec that the reconcile pass reports as invalid. */
export function specOf(record: { readonly spec: unknown }): GatewaySyncSpec | undefined {
  const known = parsed.get(record)
  if (known !== undefined) return known.spec
  const result = v.safeParse(schema, record.spec)
  const spec = result.success ? result.output : undefined
  parsed.set(record, { spec })
  return spec
}
