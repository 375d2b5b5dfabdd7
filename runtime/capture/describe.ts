/**
 * What was changed on a gateway since its last sync, told by folder and without secrets: by `cluster-sync drift` of a data directory, and by
 * an agent in its report.
 */
import { parentOf, shortCommit, visible } from '../gatewaysync/values.ts'
import { jsonOrUndefined } from '../json.ts'
import { type JsonDifference, differences } from '../sync/plan/json-diff.ts'
import { lineDiff } from '../sync/plan/line-diff.ts'
import { maskSecrets } from '../sync/plan/mask.ts'
import type { Wanted } from '../sync/model/wanted.ts'
import { type LocalChange, type LocalChanges, presentContent } from './local-changes.ts'

/** `keys`: of JSON; `lines`: of other text. Neither for what is no text, too large, or there on one side only. */
export type ToldChange = { path: string; op: LocalChange['op']; keys?: JsonDifference[]; lines?: string[]; why?: string }

/** Somebody's changes; `ignored` counts the files that differ only in what a gateway writes by itself. */
export type Sum = Record<LocalChange['op'], number> & { ignored: number }

/** A change that is longer is told by its number of lines. */
const maxLines = 40
const maxLine = 400
const maxComparedBytes = 1024 * 1024

/** Counts the files of a gateway that differ from its commit. */
export function sumOf({ changes }: Pick<LocalChanges, 'changes'>): Sum {
  const sum: Sum = { changed: 0, added: 0, removed: 0, ignored: 0 }
  for (const { kind, op } of changes) sum[kind === 'change' ? op : 'ignored'] += 1
  return sum
}

/** Reads a changed file, and compares it with what the last sync wrote. */
export function tellChange({ path, op, obstacle }: LocalChange, { written }: Pick<LocalChanges, 'written'>, wanted: Wanted): ToldChange {
  if (obstacle !== undefined) return { path, op, why: obstacle }
  if (op !== 'changed') return { path, op }
  const [before, after] = [written(path), presentContent(wanted, path, maxComparedBytes)]
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

/** The lines of one change, with its folder before them where that is another one than of the change before. */
export function changeLines(change: ToldChange, before: { path: string } | undefined): string[] {
  const folder = parentOf(change.path)
  const isSame = before !== undefined && parentOf(before.path) === folder
  const name = change.path.slice(folder === '' ? 0 : folder.length + 1)
  const why = change.why === undefined ? '' : ` (${change.why})`
  const lines = [...(isSame ? [] : [folder === '' ? '.' : folder]), `  ${marks[change.op]} ${name}${why}`, ...details(change)]
  return lines.map((line) => visible(line.replaceAll('\n', '\uFFFD')))
}

function details({ keys, lines }: ToldChange): string[] {
  const all = keys === undefined ? (lines ?? []) : keys.map(({ at, a, b }) => `${at}: ${a ?? '(absent)'} -> ${b ?? '(absent)'}`)
  const shown = all.slice(0, maxLines).map((line) => `      ${line.length > maxLine ? `${line.slice(0, maxLine)}…` : line}`)
  return all.length > maxLines ? [...shown, `      … ${all.length - maxLines} more`] : shown
}

/** The whole in one line. */
export function sumLine({ changed, added, removed, ignored }: Sum, commit: string): string {
  const rest = ignored === 0 ? '' : `; ${ignored} more differ in what a gateway writes by itself`
  return `${changed} changed, ${added} added, ${removed} removed since commit ${shortCommit(commit)}${rest}`
}
