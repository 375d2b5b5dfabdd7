/**
 * Lists a gateway's local changes for the agent's report, on request: by folder, without secrets, up to the size limit of a report. Reads
 * nothing without a request.
 */
import type { Source } from '../../content/protocol/protocol.ts'
import { type RequestIdentity, isSameRequest } from '../../reconcile/decide/capture.ts'
import { type ReportedChanges, reportLimits } from '../../api/schema/report.ts'
import type { SyncTarget } from '../../sync/model/desired.ts'
import { changesInPlace, type LocalChange, type LocalChanges, presentContent } from './local-changes.ts'
import { parentOf, shortCommit, visible } from '../../api/values.ts'
import { counted } from '../../platform/text/counted.ts'
import { jsonOrUndefined } from '../../platform/text/json.ts'
import { lineDiff, type JsonDifference, differences } from '../../sync/plan/shown-diff.ts'
import { maskSecrets } from '../../sync/plan/mask.ts'

/** The answer to one request; undefined while the folder is between two commits, or has none. Throws what reading and the source throw. */
export type ReportChanges = (
  source: Source,
  target: SyncTarget,
  request: RequestIdentity,
  signal: AbortSignal,
) => Promise<ReportedChanges | undefined>

/** Length reserved for the last lines, which count what is omitted. */
const endLength = 300
/** After this many changed files that exceed the limit, the remaining ones are only named. */
const maxTooLong = 20

/** Reads the changes once per request: the answer stays as of that time. */
export function createChangesReporter(): ReportChanges {
  let lastReport: { of: RequestIdentity; changes: ReportedChanges } | undefined
  return async (source, target, request, signal) => {
    if (lastReport !== undefined && isSameRequest(lastReport.of, request)) return lastReport.changes
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
    lastReport = { of: request, changes: { request: request.request, commit: at.commit, ...sum, text } }
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

/** `keys`: for JSON; `lines`: for other text. Neither for binary or too large content, or if one side is missing. */
type DescribedChange = { path: string; op: LocalChange['op']; keys?: JsonDifference[]; lines?: string[]; why?: string }

/** Counts of users' changes; `ignored` counts the files that differ only in what a gateway writes on its own. */
type Sum = Record<LocalChange['op'], number> & { ignored: number }

/** For a longer change only the number of lines is shown. */
const maxLines = 40
const maxLine = 400
/** A file of a megabyte may differ in half a million. */
const maxDifferences = 1_000
const maxComparedBytes = 1024 * 1024

/** Counts the files of a gateway that differ from its commit. */
export function sumOf({ changes }: Pick<LocalChanges, 'changes'>): Sum {
  const sum: Sum = { changed: 0, added: 0, removed: 0, ignored: 0 }
  for (const { kind, op } of changes) sum[kind === 'change' ? op : 'ignored'] += 1
  return sum
}

/** Reads a changed file and compares it with what the last sync wrote. */
export function describeChange(
  { path, op, obstacle }: LocalChange,
  { written }: Pick<LocalChanges, 'written'>,
  target: SyncTarget,
): DescribedChange {
  if (obstacle !== undefined) return { path, op, why: obstacle }
  if (op !== 'changed') return { path, op }
  const [before, after] = [written(path), presentContent(target, path, maxComparedBytes)]
  if (before === undefined || after === undefined) return { path, op }
  const [a, b] = [jsonOf(before), jsonOf(after)]
  if (a !== undefined && b !== undefined) return { path, op, keys: differences(a, b, maxDifferences) }
  const sides = maskSecrets(before, after)
  const lines = sides === undefined ? undefined : lineDiff(sides.before, sides.after)?.split('\n').filter(Boolean)
  return lines === undefined ? { path, op } : { path, op, lines }
}

function jsonOf(content: Uint8Array): unknown {
  return jsonOrUndefined(Buffer.from(content).toString('utf8'))
}

const marks = { added: '+', changed: '~', removed: '-' } as const

/** The lines of one change, preceded by its folder if that differs from the previous change's. */
export function changeLines(change: DescribedChange, before: { path: string } | undefined): string[] {
  const folder = parentOf(change.path)
  const isSame = before !== undefined && parentOf(before.path) === folder
  const name = change.path.slice(folder === '' ? 0 : folder.length + 1)
  const why = change.why === undefined ? '' : ` (${change.why})`
  const lines = [...(isSame ? [] : [folder === '' ? '.' : folder]), `  ${marks[change.op]} ${name}${why}`, ...details(change)]
  return lines.map((line) => visible(line.replaceAll('\n', '\uFFFD')))
}

function details({ keys, lines }: DescribedChange): string[] {
  const all = keys === undefined ? (lines ?? []) : keys.map(({ at, a, b }) => `${at}: ${a ?? '(absent)'} -> ${b ?? '(absent)'}`)
  const shown = all.slice(0, maxLines).map((line) => `      ${line.length > maxLine ? `${line.slice(0, maxLine)}…` : line}`)
  const rest = (keys?.length ?? 0) > maxDifferences ? `more than ${maxDifferences - maxLines}` : all.length - maxLines
  return all.length > maxLines ? [...shown, `      … ${rest} more`] : shown
}

/** The summary in one line. */
export function sumLine({ changed, added, removed, ignored }: Sum, commit: string): string {
  const rest = ignored === 0 ? '' : `; ${ignored} more ${ignored === 1 ? 'differs' : 'differ'} only in what the gateway writes itself`
  return `${counted(changed, 'file')} changed, ${added} added, ${removed} removed since commit ${shortCommit(commit)}${rest}`
}
