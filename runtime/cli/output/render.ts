/**
 * Formats the events of a run as lines: for a terminal, folded to its width and in color; otherwise plain, one line for each fact. Pure.
 */
import { counted } from '../../platform/text/counted.ts'
import { folded, heading, markOf, painted, type Style } from '../../fleet/terminal.ts'
import type { StatusFinding } from '../../api/schema/status.ts'
import { shortCommit } from '../../api/values.ts'
import type { Level } from '../../fleet/view.ts'
import type { CommitSummary } from '../../git/content/commit-summary.ts'
import type { Temporal } from '../../platform/temporal.ts'
import { nextStep } from './next-steps.ts'
import type { ChangeCounts, ChangedPaths, Failure, RunEvent } from './narrate.ts'
import { shownPlace } from '../../api/findings.ts'

export type RunStyle = Style & {
  /** Name of the time zone in which hours are shown, with seconds and without a date; undefined: RFC 3339 in UTC, for logs. */
  timeZone: string | undefined
  /** Whether the names of changed files are shown. */
  verbose: boolean
}

/** Maximum number of findings and paths of a kind; `lint`, `plan` and JSON have all. */
const shownFindings = 5
const indent = '    '

/** The level of an event. */
export function levelOf(event: RunEvent): Level {
  switch (event.event) {
    case 'published':
    case 'pushHandled':
    case 'ready':
    case 'specChanged':
      return 'ok'
    case 'target':
      return levelOfPhase(event.phase, event.reason)
    case 'remark':
    case 'findings':
    case 'note':
      return 'warning'
    case 'listening':
      return event.open ? 'warning' : 'working'
    case 'serving':
    case 'following':
    case 'unchanged':
    case 'progress':
    case 'pushSuperseded':
    case 'stopping':
      return 'working'
    default:
      return 'error'
  }
}

/** Whether a single run fails after this event. */
export function isFailure(event: RunEvent): boolean {
  return levelOf(event) === 'error' || (event.event === 'target' && levelOf(event) === 'warning')
}

/** A waiting gateway resolves automatically, unless waiting does not help; a state that the user chose is a warning. */
function levelOfPhase(phase: Extract<RunEvent, { event: 'target' }>['phase'], reason: string | undefined): Level {
  if (phase === 'Synced') return 'ok'
  if (phase === 'Drifted' || phase === 'Paused' || phase === 'DryRun') return 'warning'
  const passes = phase === 'Syncing' || (phase === 'Pending' && reason !== 'GatewayUnreachable' && reason !== 'ModeUnknown')
  return passes ? 'working' : 'error'
}

/** The lines of an event, without line ends. */
export function renderEvent(event: RunEvent, at: Temporal.Instant, style: RunStyle): string[] {
  const level = levelOf(event)
  const time = timeOf(at, style)
  const head = `${time} ${style.symbols ? '  ' : ''}`
  const mark = style.symbols ? markOf(level, style) : ''
  const width = style.timeZone === undefined ? Number.POSITIVE_INFINITY : style.width
  const [first = '', ...rest] = folded(sentenceOf(event), width, head, ' '.repeat(head.length))
  const text = first.slice(head.length)
  const isLoud = level === 'error' || event.event === 'ready' || event.event === 'published'
  const line = `${style.color ? dim(time) : time} ${mark}${isLoud ? painted(text, level, style) : text}`
  const further = detailsOf(event, style).flatMap((detail) => folded(detail, width, ' '.repeat(head.length) + indent))
  return [line, ...rest, ...further, ...stepOf(event, width, head.length, style)]
}

/** The temporary last line; undefined: the event is permanent. */
export function renderPassing(event: RunEvent, at: Temporal.Instant, style: RunStyle): string | undefined {
  if (event.event !== 'unchanged' && event.event !== 'progress') return undefined
  return `${timeOf(at, style)}   ${sentenceOf(event)}`.slice(0, Math.max(1, style.width - 1))
}

function stepOf(event: RunEvent, width: number, indentBy: number, style: RunStyle): string[] {
  const step = 'reason' in event && !isOfCommit(event) ? nextStep(event.reason) : undefined
  if (step === undefined) return []
  const arrow = style.symbols ? '→ ' : 'next: '
  return folded(step, width, `${' '.repeat(indentBy)}${arrow}`).map((line) => (style.color ? heading(line, style) : line))
}

/** Whether the event of the refused commit, which follows, gives the findings and the next step. */
function isOfCommit(event: RunEvent): boolean {
  return event.event === 'pushRefused' && ['CollectionsInvalid', 'ValidationFailed', 'NotVerified'].includes(event.reason)
}

function sentenceOf(event: RunEvent): string {
  switch (event.event) {
    case 'following':
      return `following ${event.ref} of ${event.repo} for ${event.targets.join(', ')}`
    case 'listening':
      return `webhook receiver: POST ${event.url}${event.open ? ' (no secret is configured: anyone who can reach it can start a sync)' : ''}`
    case 'serving':
      return `status page: ${event.url}`
    case 'published':
      return `published ${shortCommit(event.commit)} of ${event.ref}${summaryText(event.summary)}${tookOf(event.durationMs, 'fetched and checked in')}`
    case 'unchanged':
      return `checked ${event.ref}: nothing new since ${shortCommit(event.commit)}`
    case 'commitRefused':
      return `not ready: commit ${shortCommit(event.commit)} of ${event.ref}${summaryText(event.summary)} is refused: ${refusalOf(event)}; ${staysOf(event)}`
    case 'pushPending':
      return `the push to ${event.ref} is pending: ${event.message} (${event.reason}); ${staysOf(event)}`
    case 'pushHandled':
      return `the push to ${event.ref} is no longer pending${event.commit === undefined ? '' : `: the git host has commit ${shortCommit(event.commit)} for it`}`
    case 'pushSuperseded':
      return `the push to ${event.ref} is no longer pending: a later push replaces it`
    case 'pushRefused':
      return `the push to ${event.ref} is ${event.waited === true ? 'no longer pending and is ' : ''}refused${isOfCommit(event) ? '' : `: ${event.message}`} (${event.reason}); ${staysOf(event)}`
    case 'findings':
      return `validation found ${countsOfFindings(event.findings, event.moreFindings)}; the commit is published anyway, because spec.validation.policy is Warn`
    case 'notReady':
      return `not ready: ${event.message} (${event.reason}); ${staysOf(event)}`
    case 'ready':
      return `ready: ${event.message}`
    case 'progress':
      return `${event.target}: ${event.done} of ${event.total} files`
    case 'target':
      return targetSentence(event)
    case 'remark':
      return `${event.target}: ${event.message}`
    case 'failed':
      return `${event.message} (${event.reason}); retrying`
    case 'gaveUp':
      return `${event.message} (${event.reason})`
    case 'specChanged':
      return `${event.file} has changed and is in effect`
    case 'specRefused':
      return `${event.message}; the previous version stays in effect`
    case 'note':
      return event.message
    case 'stopping':
      return 'stopping after the current step'
    default:
      return event satisfies never
  }
}

/** `plant: Synced 1a2b3c4d in 0.2 s, 3 added, 1 changed, 9 unchanged, gateway read projects`. */
function targetSentence({
  target,
  phase,
  commit,
  files,
  read,
  durationMs,
  reason,
  message,
}: Extract<RunEvent, { event: 'target' }>): string {
  const isDone = phase === 'Synced' || phase === 'Drifted'
  const parts = [`${commit === undefined ? phase : `${phase} ${shortCommit(commit)}`}${isDone ? tookOf(durationMs, 'in', ' ') : ''}`]
  if (files !== undefined) parts.push(...countWords(files))
  if (read.length > 0) parts.push(`gateway read ${read.join(' and ')}`)
  if (message !== undefined) parts.push(reason === undefined ? message : `${message} (${reason})`)
  return `${target}: ${parts.join(', ')}`
}

function countWords({ added, changed, removed, unchanged }: ChangeCounts): string[] {
  const words = Object.entries({ added, changed, removed }).flatMap(([word, count]) => (count === 0 ? [] : [`${count} ${word}`]))
  if (words.length === 0) words.push('nothing to change')
  return unchanged === 0 ? words : [...words, `${unchanged} unchanged`]
}

function refusalOf({ findings, moreFindings, message, reason }: Extract<RunEvent, { event: 'commitRefused' }>): string {
  return `${findings.length === 0 ? message : countsOfFindings(findings, moreFindings)} (${reason})`
}

function countsOfFindings(findings: readonly StatusFinding[], more: number): string {
  const errors = findings.filter(({ severity }) => severity === 'error').length
  const counts = [counted(errors, 'error'), counted(findings.length - errors, 'warning')].filter((text) => !text.startsWith('0 '))
  return `${counts.join(' and ')}${more > 0 ? ` and ${more} more` : ''}`
}

/** The findings in the format of `lint`; with `-v` the changed paths. */
function detailsOf(event: RunEvent, style: RunStyle): string[] {
  if (event.event === 'target') return style.verbose && event.paths !== undefined ? pathLines(event.paths) : []
  if (event.event !== 'commitRefused' && event.event !== 'findings') return []
  const shown = event.findings.slice(0, shownFindings)
  const lines = shown.map(({ path, line, severity, message, rule }) => `${shownPlace({ path, line })}: ${severity}: ${message} (${rule})`)
  const more = event.findings.length - shown.length + event.moreFindings
  return more > 0 ? [...lines, `and ${more} more: cluster-sync lint shows all`] : lines
}

function pathLines({ added, changed, removed, more }: ChangedPaths): string[] {
  const lines = [...added.map((path) => `+ ${path}`), ...changed.map((path) => `~ ${path}`), ...removed.map((path) => `- ${path}`)]
  return more > 0 ? [...lines, `and ${more} more`] : lines
}

function summaryText(summary: CommitSummary | undefined): string {
  return summary === undefined ? '' : ` "${summary.subject}" by ${summary.author}`
}

/** Returns `, fetched in 0.4 s`; less than a tenth of a second is shown in ms. */
function tookOf(durationMs: number | undefined, verb: string, before = ', '): string {
  if (durationMs === undefined) return ''
  return `${before}${verb} ${durationMs < 100 ? `${Math.max(1, Math.round(durationMs))} ms` : `${(durationMs / 1000).toFixed(1)} s`}`
}

function staysOf({ stays }: Failure): string {
  return stays === null ? 'nothing is published yet' : `the previous commit ${shortCommit(stays.commit)} of ${stays.ref} stays published`
}

function timeOf(at: Temporal.Instant, { timeZone }: RunStyle): string {
  if (timeZone === undefined) return at.toString({ smallestUnit: 'second' })
  return at.toZonedDateTimeISO(timeZone).toPlainTime().toString({ smallestUnit: 'second' })
}

function dim(text: string): string {
  return `\u001b[2m${text}\u001b[0m`
}
