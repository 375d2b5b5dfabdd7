/**
 * What `cluster-sync plan` prints. Pure.
 */
import { counted } from '../../counted.ts'
import { heading, painted, type Style } from '../../fleet/paint.ts'
import type { StatusFinding } from '../../gatewaysync/schema/status.ts'
import { shortCommit, visible } from '../../gatewaysync/values.ts'
import type { Mode } from '../../collections/model/mode.ts'
import { nextStep } from '../story/next-steps.ts'
import { diffText, type FileDiff } from '../../sync/plan/preview.ts'

/** What a sync would do with a folder. `counts` are of files; `changes` are the same files with their differences. */
export type PlanReport = {
  commit: string
  ref: string
  mode: Mode
  counts: { added: number; changed: number; removed: number }
  changes: readonly FileDiff[]
  /** What would keep the sync from writing, the first of them or all. */
  problems: readonly { reason: string; message: string }[]
  findings: readonly { rule: string; path: string; message: string }[]
  /** Local changes that a sync leaves as they are. */
  drift: { count: number; paths: readonly string[] } | undefined
  /** What the checks of resource collections say of the commit, where they were made. */
  checked: { errors: number; warnings: number; items: readonly StatusFinding[]; refused: boolean } | undefined
}

/** `full` names every file, `grouped` the folders where there are many, `summary` only counts. */
export type PlanView = 'full' | 'grouped' | 'summary'

/** From so many files on, the folders that they stand in are named instead. */
const mostNamed = 30
const shownPaths = 5
const marks = { add: '+', change: '~', remove: '-' } as const
const levels = { add: 'ok', change: 'warning', remove: 'error' } as const

/** Whether a sync would change nothing and would not be refused: exit code 0. */
export function isQuiet({ changes, problems, drift, checked }: PlanReport): boolean {
  return changes.length === 0 && problems.length === 0 && drift === undefined && checked?.refused !== true
}

/** Lines without their ends. */
export function planText(report: PlanReport, view: PlanView, style: Style): string[] {
  const { commit, ref, mode, counts, changes, problems, findings, drift, checked } = report
  const { added, changed, removed } = counts
  const remarks = findings.map(({ rule, path, message }) => `! ${path === '' ? '' : `${path}: `}${message} (${rule})`)
  const modeText = mode.name === '' ? 'no deployment mode' : `mode "${mode.name}" (from ${origins[mode.from] ?? mode.from})`
  const sums = `${added} to add, ${changed} to change, ${removed} to remove`
  return [
    ...changeLines(changes, view, style),
    ...(checked === undefined ? [] : checkedLines(checked, commit, style)),
    ...problems.flatMap(({ reason, message }) => [
      painted(visible(`! would be refused: ${message} (${reason})`), 'error', style),
      ...stepLines(reason),
    ]),
    ...(drift === undefined ? [] : driftLines(drift).map(visible)),
    ...remarks.map((line) => painted(visible(line), 'warning', style)),
    heading(`${sums}, with ${modeText}, at ${shortCommit(commit)} of ${ref}`, style),
  ]
}

/** The changed files with their lines, or their folders where there are many. */
export function changeLines(changes: readonly FileDiff[], view: PlanView, style: Style): string[] {
  if (view === 'summary' || changes.length === 0) return []
  if (view === 'full' || changes.length <= mostNamed) return fileLines(changes, style)
  return [...folderLines(changes, style), '  each file and its lines: --full, or --format json']
}

const origins: Readonly<Partial<Record<Mode['from'], string>>> = { target: '--mode', gateway: 'the running gateway' }

function fileLines(changes: readonly FileDiff[], style: Style): string[] {
  return changes.flatMap((change) =>
    diffText([change])
      .split('\n')
      .map((line, index) => {
        const mark = index === 0 ? marks[change.op] : line.trimStart()[0]
        const level = mark === '+' ? 'ok' : mark === '-' ? 'error' : 'warning'
        return painted(line, level, style)
      }),
  )
}

/** The folders right above the changed files, each with how many of each kind. */
function folderLines(changes: readonly FileDiff[], style: Style): string[] {
  const folders = Map.groupBy(changes, ({ path }) => path.split('/').slice(0, 4).slice(0, -1).join('/') || path)
  return [...folders].map(([folder, own]) => {
    const ops = [...new Set(own.map(({ op }) => op))]
    const counts = (['add', 'change', 'remove'] as const).flatMap((op) => {
      const count = own.filter((change) => change.op === op).length
      return count === 0 ? [] : [painted(`${marks[op]}${count}`, levels[op], style)]
    })
    const [only] = ops
    const mark = ops.length === 1 && only !== undefined ? marks[only] : '~'
    return `${mark} ${visible(JSON.stringify(`${folder}/`).slice(1, -1))}  ${counts.join(' ')}`
  })
}

function checkedLines({ errors, warnings, items, refused }: NonNullable<PlanReport['checked']>, commit: string, style: Style): string[] {
  const lines = items.map(({ path, severity, message, rule }) =>
    painted(visible(`! ${path}: ${severity}: ${message} (${rule})`), severity, style),
  )
  const more = errors + warnings - items.length
  if (more > 0) lines.push(`! and ${more} more: cluster-sync lint shows all`)
  if (!refused) return lines
  const refusal = `! would be refused: the checks of ${shortCommit(commit)} found ${counted(errors, 'error')} (CollectionsInvalid)`
  return [...lines, painted(refusal, 'error', style), ...stepLines('CollectionsInvalid')]
}

function driftLines({ count, paths }: NonNullable<PlanReport['drift']>): string[] {
  const shown = paths.slice(0, shownPaths)
  const more = count - shown.length
  const files = count === 1 ? '1 of our files was' : `${count} of our files were`
  const named = `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
  return [
    `! ${files} changed or deleted locally: ${named}; a sync leaves that as it is, with \`drift: restore\` it takes it back (Drifted)`,
  ]
}

function stepLines(reason: string): string[] {
  const step = nextStep(reason)
  return step === undefined ? [] : [`  next: ${step}`]
}
