/**
 * What is worth knowing about a gateway beside its phase: findings, local changes, what the gateway complained of. Pure.
 */
import type { SyncReportStatus } from '../schema/report.ts'

/** One sentence each. Local changes are left out for a gateway whose phase tells of them. */
export function remarksOf({ phase, findings = [], drift, scan }: SyncReportStatus): string[] {
  const found = findings.map(({ rule, path, message }) => `${path === '' ? '' : `${path}: `}${message} (${rule})`)
  const complaints = (scan?.problems ?? []).map((problem) => `the gateway says: ${problem}`)
  if (drift === undefined || drift.count === 0 || phase === 'Drifted') return [...found, ...complaints]
  return [`${drift.count} of our files were changed or deleted locally: ${drift.paths.slice(0, 3).join(', ')}`, ...found, ...complaints]
}
