/**
 * Lists a gateway's local changes for the agent's report, on request: by folder, without secrets, up to the size limit of a report. Reads
 * nothing without a request.
 */
import type { Source } from '../../content/protocol/protocol.ts'
import { type AskedBy, isSameRequest } from '../../reconcile/decide/capture.ts'
import { type ReportedChanges, reportLimits } from '../../api/schema/report.ts'
import type { SyncTarget } from '../../sync/model/desired.ts'
import { changeLines, sumLine, sumOf, describeChange, type DescribedChange } from './describe.ts'
import { changesInPlace, type LocalChange } from './local-changes.ts'

/** The answer to one request; undefined while the folder is between two commits, or has none. Throws what reading and the source throw. */
export type ReportChanges = (
  source: Source,
  target: SyncTarget,
  asked: AskedBy,
  signal: AbortSignal,
) => Promise<ReportedChanges | undefined>

/** Length reserved for the last lines, which count what is omitted. */
const endLength = 300
/** After this many changed files that exceed the limit, the remaining ones are only named. */
const maxTooLong = 20

/** Reads the changes once per request: the answer stays as of that time. */
export function createChangesReporter(): ReportChanges {
  let lastReport: { of: AskedBy; changes: ReportedChanges } | undefined
  return async (source, target, asked, signal) => {
    if (lastReport !== undefined && isSameRequest(lastReport.of, asked)) return lastReport.changes
    lastReport = undefined
    const seen = await changesInPlace(source, target, signal)
    if (seen === undefined) return undefined
    const { at, found } = seen
    const lines: string[] = []
    let room = reportLimits.diffCharacters - endLength
    let before: LocalChange | undefined
    let [tooLong, notShown] = [0, 0]
    for (const change of found.changes) {
      if (change.kind !== 'change') continue
      const whole = tooLong < maxTooLong ? changeLines(describeChange(change, found, at), before) : undefined
      const isWhole = whole !== undefined && lengthOf(whole) <= room
      if (!isWhole && change.op === 'changed') tooLong += 1
      const own = isWhole ? whole : changeLines(nameOf(change), before)
      const length = lengthOf(own)
      if (length > room) {
        notShown += 1
        continue
      }
      room -= length
      before = change
      lines.push(...own)
    }
    if (notShown > 0) lines.push(`… ${notShown} more files`)
    const sum = sumOf(found)
    const text = [...lines, sumLine(sum, at.commit)].join('\n')
    lastReport = { of: asked, changes: { request: asked.request, commit: at.commit, ...sum, text } }
    return lastReport.changes
  }
}

function nameOf({ path, op, obstacle }: LocalChange): DescribedChange {
  const why = obstacle ?? (op === 'changed' ? 'differences not shown' : undefined)
  return { path, op, ...(why === undefined ? {} : { why }) }
}

function lengthOf(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + line.length + 1, 0)
}
