/**
 * What `kubectl get` prints of both kinds. Its columns can only repeat a field, so what has to be short there, or is put together from
 * several fields, is written as a field of its own: lines stay within 120 characters. Pure.
 */
import type { SyncReportColumns, SyncReportStatus } from '../schema/report.ts'
import type { GatewaySyncColumns, GatewaySyncStatus } from '../schema/status.ts'
import { shortCommit, shortHashes } from '../values.ts'

/** In characters. With a name of 23 and the age of a week, a line of `kubectl get gatewaysyncs` has 120. */
const maxSyncMessage = 52
/** In characters. With names of 18 and a mode of 7, a line of `kubectl get syncreports` has 120. */
const maxReportMessage = 42

/** The columns of a GatewaySync; a gateway with local changes counts, as it runs the published commit. */
export function gatewaySyncColumns({ gateways, published, conditions }: GatewaySyncStatus): GatewaySyncColumns {
  const columns: GatewaySyncColumns = {}
  if (gateways !== undefined) columns.gateways = `${gateways.synced + gateways.drifted}/${gateways.total}`
  if (published !== undefined) columns.commit = shortCommit(published.commit)
  const ready = conditions?.find(({ type }) => type === 'Ready')
  if (ready !== undefined) columns.message = oneLine(ready.message || ready.reason, maxSyncMessage)
  return columns
}

/** The columns of a SyncReport. */
export function syncReportColumns({ commit, findings, reason, message }: SyncReportStatus): SyncReportColumns {
  const columns: SyncReportColumns = {}
  if (commit !== undefined) columns.commit = shortCommit(commit)
  if (findings !== undefined && findings.length > 0) columns.findings = findings.length
  const why = message ?? reason
  if (why !== undefined) columns.message = oneLine(why, maxReportMessage)
  return columns
}

/** One line of at most so many UTF-16 units, as the schema counts them, with the hashes of commits as people read them. */
function oneLine(text: string, width: number): string {
  const line = shortHashes(text).replace(/\s+/g, ' ').trim()
  // A cut may leave half of a character, which no API server takes as it is.
  return line.length > width ? `${line.slice(0, width - 1).toWellFormed()}…` : line.toWellFormed()
}
