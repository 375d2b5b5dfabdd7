/**
 * The specs of GatewaySyncs, parsed once for each record: passes, endpoints and looks at all of them ask again and again, and the store replaces
 * records, it never changes one.
 */
import * as v from 'valibot'
import { type GatewaySyncSpec, gatewaySyncSpec } from '../gatewaysync/schema/spec.ts'

type WithSpec = { readonly spec: unknown }
/** `issues`: why the spec is invalid. */
type ParsedSpec = { spec: GatewaySyncSpec } | { issues: readonly v.BaseIssue<unknown>[] }

const anywhere = gatewaySyncSpec({ allowLocal: true })
/** Refuses some specs that `anywhere` accepts, and makes nothing else of the others. */
const inCluster = gatewaySyncSpec({ allowLocal: false })
const parsed = new WeakMap<object, { spec: GatewaySyncSpec | undefined; fitsCluster?: boolean }>()

/** For endpoints, as any replica answers for objects that it has not reconciled itself. Undefined for a spec that a pass reports as invalid. */
export function specOf(record: WithSpec): GatewaySyncSpec | undefined {
  return entryOf(record).spec
}

/** `allowLocal`: a path or a `file:` URL is accepted as the repository. */
export function parseSpec(record: WithSpec, { allowLocal }: { allowLocal: boolean }): ParsedSpec {
  const entry = entryOf(record)
  if (entry.spec !== undefined && (allowLocal || (entry.fitsCluster ??= v.is(inCluster, record.spec)))) return { spec: entry.spec }
  return { issues: v.safeParse(allowLocal ? anywhere : inCluster, record.spec).issues ?? [] }
}

function entryOf(record: WithSpec): { spec: GatewaySyncSpec | undefined; fitsCluster?: boolean } {
  const known = parsed.get(record)
  if (known !== undefined) return known
  const result = v.safeParse(anywhere, record.spec)
  const entry = { spec: result.success ? result.output : undefined }
  parsed.set(record, entry)
  return entry
}
