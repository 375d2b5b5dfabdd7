/**
 * Derives a report from the previous one: what stays true, its history, and the finding of a gateway that started without a commit. Pure.
 */
import { keptSyncs, reportLimits, startedWithoutCommitRule, type SyncReportStatus } from '../api/schema/report.ts'

const startedWithoutCommit = {
  rule: startedWithoutCommitRule,
  path: '',
  message: 'startDeadline has passed: the gateway started without a complete commit',
}

/** `isLate`: the gateway started without a commit and still has none. */
export function nextReport(
  last: SyncReportStatus | undefined,
  given: SyncReportStatus,
  { agentVersion, isLate }: { agentVersion: string; isLate: boolean },
): SyncReportStatus {
  const shown = isLate
    ? { ...given, findings: [startedWithoutCommit, ...(given.findings ?? [])].slice(0, reportLimits.findings) }
    : { ...given }
  // The API server would refuse the report.
  if (shown.message !== undefined) shown.message = shown.message.slice(0, reportLimits.messageCharacters)
  return { ...shown, agentVersion, history: nextHistory(last, shown) }
}

/** The part of an earlier report that stays true until a new sync completes: what is in place. */
export function kept(last: Partial<SyncReportStatus> | undefined): Partial<SyncReportStatus> {
  if (last === undefined) return {}
  const { commit, ref, syncHash, mode, scan, projects } = last
  return Object.fromEntries(Object.entries({ commit, ref, syncHash, mode, scan, projects }).filter(([, value]) => value !== undefined))
}

/** One entry per outcome, newest first; a repeated outcome adds none. */
function nextHistory(last: SyncReportStatus | undefined, status: SyncReportStatus): NonNullable<SyncReportStatus['history']> {
  const history = last?.history ?? []
  const { commit, phase, reason, finishedAt } = status
  if (commit === undefined || finishedAt === undefined || phase === 'Syncing' || phase === 'Pending') return history
  const [newest] = history
  if (newest?.commit === commit && newest.phase === phase && newest.reason === reason) return history
  const entry: (typeof history)[number] = { commit, phase, finishedAt }
  if (reason !== undefined) entry.reason = reason
  return [entry, ...history].slice(0, keptSyncs)
}
