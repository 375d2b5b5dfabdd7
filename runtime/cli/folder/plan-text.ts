/**
 * Formats the output of `cluster-sync plan`. Pure.
 */
import { counted } from '../../platform/text/counted.ts'
import type { StatusFinding } from '../../api/schema/status.ts'
import { driftMessage } from '../../api/drift-message.ts'
import { shortCommit, visible } from '../../api/values.ts'
import { type Mode, modeOriginWords } from '../../api/mode.ts'
import { nextStep } from '../output/next-steps.ts'
import { changeMarks, diffText, type FileDiff } from '../../sync/plan/preview.ts'
import { heading, painted, type Style } from '../../fleet/terminal.ts'
import { shownPlace } from '../../api/findings.ts'

/** The effect of a sync on a folder. `counts` counts files; `changes` are the same files with their differences. */
export type PlanReport = {
  commit: string
  ref: string
  /** `lastKnown`: as recorded by the last sync. */
  mode: Mode & { lastKnown?: true }
  counts: { added: number; changed: number; removed: number }
  changes: readonly FileDiff[]
  /** What would prevent the sync from writing: the first problem or all. */
  problems: readonly { reason: string; message: string }[]
  findings: readonly { rule: string; path: string; message: string }[]
  /** Local changes that a sync leaves unchanged. */
  drift: { count: number; paths: readonly string[] } | undefined
  /** The validation result of the commit, if it was validated. */
  checked: { errors: number; warnings: number; items: readonly StatusFinding[]; refused: boolean } | undefined
}

/** `full` lists every file, `grouped` lists folders if there are many files, `summary` only counts. */
export type PlanView = 'full' | 'grouped' | 'summary'

/** From this number of files on, their folders are listed instead. */
const maxNamed = 30
const shownPaths = 5
const driftStep = 'a sync keeps these changes in files that the commit does not change, or reverts them with `drift: Restore`'
const levels = { add: 'ok', change: 'warning', remove: 'error' } as const

/** Whether a sync would change nothing and would not be refused: exit code 0. */
export function isQuiet({ changes, problems, drift, checked }: PlanReport): boolean {
  return changes.length === 0 && problems.length === 0 && drift === undefined && checked?.refused !== true
}

/** Lines without line ends. */
export function planText(report: PlanReport, view: PlanView, style: Style): string[] {
  const { commit, ref, mode, counts, changes, problems, findings, drift, checked } = report
  const { added, changed, removed } = counts
  const remarks = findings.map(({ rule, path, message }) => `! ${path === '' ? '' : `${path}: `}${message} (${rule})`)
  const modeText =
    mode.name === ''
      ? 'no deployment mode'
      : `mode "${mode.name}" (from ${mode.lastKnown === true ? 'the last sync' : modeOriginWords[mode.from]})`
  const sums = `${added} to add, ${changed} to change, ${removed} to remove`
  return [
    ...changeLines(changes, view, style),
    ...(checked === undefined ? [] : checkedLines(checked, commit, style)),
    ...problems.flatMap(({ reason, message }) => [
      painted(visible(`! would be refused: ${message} (${reason})`), 'error', style),
      ...stepLines(reason),
    ]),
    ...(drift === undefined ? [] : [visible(`! ${driftMessage(drift, shownPaths)}; ${driftStep} (Drifted)`)]),
    ...remarks.map((line) => painted(visible(line), 'warning', style)),
    heading(`${sums}, with ${modeText}, at ${shortCommit(commit)} of ${ref}`, style),
  ]
}

/** The changed files with their lines, or their folders if there are many. */
export function changeLines(changes: readonly FileDiff[], view: PlanView, style: Style): string[] {
  if (view === 'summary' || changes.length === 0) return []
  if (view === 'full' || changes.length <= maxNamed) return fileLines(changes, style)
  return [...folderLines(changes, style), '  to list every file with its changes, use --full or --format json']
}

function fileLines(changes: readonly FileDiff[], style: Style): string[] {
  return changes.flatMap((change) =>
    diffText([change])
      .split('\n')
      .map((line, index) => {
        const mark = index === 0 ? changeMarks[change.op] : line.trimStart()[0]
        const level = mark === '+' ? 'ok' : mark === '-' ? 'error' : 'warning'
        return painted(line, level, style)
      }),
  )
}

/** The parent folders of the changed files, with counts by kind of change. */
function folderLines(changes: readonly FileDiff[], style: Style): string[] {
  const folders = Map.groupBy(changes, ({ path }) => path.split('/').slice(0, 4).slice(0, -1).join('/') || path)
  return [...folders].map(([folder, own]) => {
    const ops = [...new Set(own.map(({ op }) => op))]
    const counts = (['add', 'change', 'remove'] as const).flatMap((op) => {
      const count = own.filter((change) => change.op === op).length
      return count === 0 ? [] : [painted(`${changeMarks[op]}${count}`, levels[op], style)]
    })
    const [only] = ops
    const mark = ops.length === 1 && only !== undefined ? changeMarks[only] : '~'
    return `${mark} ${visible(JSON.stringify(`${folder}/`).slice(1, -1))}  ${counts.join(' ')}`
  })
}

function checkedLines({ errors, warnings, items, refused }: NonNullable<PlanReport['checked']>, commit: string, style: Style): string[] {
  const lines = items.map(({ path, line, severity, message, rule }) =>
    painted(visible(`! ${shownPlace({ path, line })}: ${severity}: ${message} (${rule})`), severity, style),
  )
  const more = errors + warnings - items.length
  if (more > 0) lines.push(`! and ${more} more: cluster-sync lint shows all`)
  if (!refused) return lines
  const refusal = `! would be refused: validation of ${shortCommit(commit)} found ${counted(errors, 'error')} (CollectionsInvalid)`
  return [...lines, painted(refusal, 'error', style), ...stepLines('CollectionsInvalid')]
}

function stepLines(reason: string): string[] {
  const step = nextStep(reason)
  return step === undefined ? [] : [`  next: ${step}`]
}
