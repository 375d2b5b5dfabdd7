/** Whether a new status says enough that is new: each write of it wakes every agent. Pure. */
import type { GatewaySyncStatus } from '../schema/status.ts'

/** How often a status is written only to refresh `checkedAt`. The metric shows every lookup. */
const refreshCheckedAtMs = 3_600_000

/**
 * Whether a merge patch of a status is to be written. Columns alone are no reason: they repeat what stands elsewhere, and a CRD of an older
 * release drops them, so they would be missing again at once. Nor are the times of a lookup, until `checkedAt` is an hour old.
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
