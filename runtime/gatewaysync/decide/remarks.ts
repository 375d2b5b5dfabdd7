/**
 * What is worth knowing about a gateway besides its phase: findings, local changes, problems that the gateway reported. Pure.
 */
import type { SyncReportStatus } from '../schema/report.ts'

/** One sentence each. Local changes are left out when the phase is Drifted, which says it already. */
export function remarksOf({ phase, findings = [], drift, scan }: SyncReportStatus): string[] {
  const found = findings.map(({ rule, path, message }) => `${path === '' ? '' : `${path}: `}${message} (${rule})`)
  const complaints = (scan?.problems ?? []).map((problem) => `the gateway says: ${problem}`)
  if (drift === undefined || drift.count === 0 || phase === 'Drifted') return [...found, ...complaints]
  return [`${drift.count} of our files were changed or deleted locally: ${drift.paths.slice(0, 3).join(', ')}`, ...found, ...complaints]
}
