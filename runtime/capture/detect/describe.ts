/**
 * Describes local changes of a gateway by folder and without secrets: for `cluster-sync drift` of a data directory, and for an agent's
 * report.
 */
import { parentOf, shortCommit, visible } from '../../api/values.ts'
import { counted } from '../../platform/text/counted.ts'
import { jsonOrUndefined } from '../../platform/text/json.ts'
import { type JsonDifference, differences } from '../../sync/plan/json-diff.ts'
import { lineDiff } from '../../sync/plan/line-diff.ts'
import { maskSecrets } from '../../sync/plan/mask.ts'
import type { SyncTarget } from '../../sync/model/desired.ts'
import { type LocalChange, type LocalChanges, presentContent } from './local-changes.ts'

/** `keys`: for JSON; `lines`: for other text. Neither for binary or too large content, or if one side is missing. */
export type DescribedChange = { path: string; op: LocalChange['op']; keys?: JsonDifference[]; lines?: string[]; why?: string }

/** Counts of users' changes; `ignored` counts the files that differ only in what a gateway writes on its own. */
export type Sum = Record<LocalChange['op'], number> & { ignored: number }

/** For a longer change only the number of lines is shown. */
const maxLines = 40
const maxLine = 400
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
  if (a !== undefined && b !== undefined) return { path, op, keys: differences(a, b) }
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
  return all.length > maxLines ? [...shown, `      … ${all.length - maxLines} more`] : shown
}

/** The summary in one line. */
export function sumLine({ changed, added, removed, ignored }: Sum, commit: string): string {
  const rest = ignored === 0 ? '' : `; ${ignored} more ${ignored === 1 ? 'differs' : 'differ'} only in what the gateway writes itself`
  return `${counted(changed, 'file')} changed, ${added} added, ${removed} removed since commit ${shortCommit(commit)}${rest}`
}
