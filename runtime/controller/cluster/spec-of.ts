/**
 * The parsed spec of a GatewaySync for endpoints: any replica answers for objects that it has not reconciled itself.
 */
import * as v from 'valibot'
import { type GatewaySyncSpec, gatewaySyncSpec } from '../../gatewaysync/schema/spec.ts'

const schema = gatewaySyncSpec({ allowLocal: true })
/** Parsed once for each record: a call asks several times, and the store replaces records, it never changes one. */
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
