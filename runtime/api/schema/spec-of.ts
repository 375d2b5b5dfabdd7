/**
 * Parses the spec of each record once: reconciles and endpoints read it repeatedly, and the store replaces records instead of mutating
 * them.
 */
import * as v from 'valibot'
import { type GatewaySyncSpec, gatewaySyncSpec } from './spec.ts'

type WithSpec = { readonly spec: unknown }
/** `issues`: why the spec is invalid. */
type ParsedSpec = { spec: GatewaySyncSpec } | { issues: readonly v.BaseIssue<unknown>[] }

const anywhere = gatewaySyncSpec({ allowLocal: true })
/** Rejects some specs that `anywhere` accepts, and parses the others identically. */
const inCluster = gatewaySyncSpec({ allowLocal: false })
const parsed = new WeakMap<object, { spec: GatewaySyncSpec | undefined; fitsCluster?: boolean }>()

/** For endpoints, which any replica serves for objects it has not reconciled. Undefined without a record, and for an invalid spec. */
export function specOf(record: WithSpec | undefined): GatewaySyncSpec | undefined {
  return record === undefined ? undefined : entryOf(record).spec
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
