/**
 * Decides whether a new status is worth writing, and computes the columns that `kubectl get` prints for both kinds. A printer column can
 * only repeat a field, so shortened or combined values are fields of their own; lines stay within 120 characters. Pure.
 */
import type { SyncReportColumns, SyncReportStatus } from '../../api/schema/report.ts'
import type { GatewaySyncColumns, GatewaySyncStatus } from '../../api/schema/status.ts'
import { shortRevision } from '../../api/artifact-revision.ts'
import { shortHashes } from '../../api/values.ts'
import type { Temporal } from '../../platform/temporal.ts'

/** Characters. With a 23-character name and ages of up to a year, a line of `kubectl get gatewaysyncs` has 120. */
const maxSyncMessage = 45
/** Characters. With 18-character names, a 7-character mode and ages of up to a year, a line of `kubectl get syncreports` has 120. */
const maxReportMessage = 35

/** The columns of a GatewaySync. A gateway with local changes counts as synced because it runs the published commit. */
export function gatewaySyncColumns({ gateways, published, conditions }: GatewaySyncStatus): GatewaySyncColumns {
  const columns: GatewaySyncColumns = {}
  if (gateways !== undefined) columns.gateways = `${gateways.synced + gateways.drifted}/${gateways.total}`
  if (published !== undefined) columns.commit = shortRevision(published.commit, published.ref)
  const ready = conditions?.find(({ type }) => type === 'Ready')
  if (ready !== undefined) columns.message = oneLine(ready.message || ready.reason, maxSyncMessage)
  return columns
}

/** The columns of a SyncReport. */
export function syncReportColumns({ commit, ref, findings, reason, message }: SyncReportStatus): SyncReportColumns {
  const columns: SyncReportColumns = {}
  if (commit !== undefined) columns.commit = shortRevision(commit, ref)
  if (findings !== undefined && findings.length > 0) columns.findings = findings.length
  const why = message ?? reason
  if (why !== undefined) columns.message = oneLine(why, maxReportMessage)
  return columns
}

/** One line of at most `width` UTF-16 units, as the schema counts them, with short commit hashes. */
function oneLine(text: string, width: number): string {
  const line = shortHashes(text).replace(/\s+/g, ' ').trim()
  // Truncation may split a surrogate pair, which the API server rejects.
  return line.length > width ? `${line.slice(0, width - 1).toWellFormed()}…` : line.toWellFormed()
}

/** How often a status is written only to refresh `checkedAt`. The metric shows every resolution. */
const refreshCheckedAtMs = 3_600_000

/**
 * Whether to write a merge patch of a status. Changed columns alone are not written: they repeat other fields, and a CRD of an older
 * release drops them, so they would be missing again at once. Nor are the times of a resolution until `checkedAt` is an hour old.
 */
export function isWorthWriting(patch: Record<string, unknown>, before: GatewaySyncStatus, now: Temporal.Instant): boolean {
  const { source, columns: _printed, ...others } = patch
  if (Object.keys(others).length > 0) return true
  if (source === undefined) return false
  if (typeof source !== 'object' || source === null) return true
  if (Object.keys(source).some((member) => member !== 'checkedAt' && member !== 'fetchedAt')) return true
  const checkedAt = before.source?.checkedAt
  return checkedAt === undefined || now.since(checkedAt).total('milliseconds') >= refreshCheckedAtMs
}
