/**
 * Extracts the details of a report that are only displayed, within bounds. No decision needs them. Pure.
 */
import { driftMessage } from '../../api/drift-message.ts'
import type { SyncReportStatus } from '../../api/schema/report.ts'

export type ReportDetails = Pick<SyncReportStatus, 'gateway' | 'profile' | 'finishedAt' | 'history' | 'drift' | 'designers' | 'changes'> & {
  /** Findings, local changes and problems of the gateway, one sentence each. */
  remarks: string[]
}

/** Maximum number of remarks, of changed paths and of Designer names, maximum characters of each, and whether to keep changed lines. */
export type ReportBounds = { remarks: number; paths: number; characters: number; changes: boolean }

/** For a single read of a fleet. */
export const wholeReport: ReportBounds = {
  remarks: Number.POSITIVE_INFINITY,
  paths: Number.POSITIVE_INFINITY,
  characters: Number.POSITIVE_INFINITY,
  changes: true,
}

/** For a long-lived copy: under 1 KB of a typical report, about 3 KB of the longest, which has hundreds. */
export const keptReport: ReportBounds = { remarks: 4, paths: 3, characters: 240, changes: false }

/** The last remark counts what is left out. Texts are cut with three dots: an ellipsis would make each character take two bytes. */
export function reportDetails(status: SyncReportStatus, bounds: ReportBounds): ReportDetails {
  const { gateway, profile, finishedAt, history, drift, designers = [], changes } = status
  const all = remarksOf(status)
  const more = all.length - bounds.remarks
  const cut = (text: string): string => (text.length > bounds.characters ? `${text.slice(0, bounds.characters)}...` : text)
  const remarks = all.slice(0, bounds.remarks).map(cut)
  return {
    ...(gateway === undefined ? {} : { gateway }),
    ...(profile === undefined ? {} : { profile }),
    ...(finishedAt === undefined ? {} : { finishedAt }),
    ...(history === undefined ? {} : { history }),
    ...(drift === undefined ? {} : { drift: { count: drift.count, paths: drift.paths.slice(0, bounds.paths).map(cut) } }),
    ...(changes === undefined || !bounds.changes ? {} : { changes }),
    // Usually there are none.
    ...(designers.length === 0 ? {} : { designers: designers.slice(0, bounds.paths).map(cut) }),
    remarks: more > 0 ? [...remarks, `and ${more} more in its SyncReport`] : remarks,
  }
}

/** One sentence each. Local changes are omitted in phase Drifted, which implies them. */
export function remarksOf({ phase, findings = [], drift, scan }: SyncReportStatus): string[] {
  const found = findings.map(({ rule, path, message }) => `${path === '' ? '' : `${path}: `}${message} (${rule})`)
  const complaints = (scan?.problems ?? []).map((problem) => `the gateway reports: ${problem}`)
  if (drift === undefined || drift.count === 0 || phase === 'Drifted') return [...found, ...complaints]
  return [driftMessage(drift), ...found, ...complaints]
}
