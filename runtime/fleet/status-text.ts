/**
 * Formats the status of a fleet as lines of text: a table of all GatewaySyncs, or the details of one. Pure.
 */
import { counted } from '../platform/text/counted.ts'
import { shortRevision } from '../api/artifact-revision.ts'
import { shortCommit, shortHashes } from '../api/values.ts'
import type { Temporal } from '../platform/temporal.ts'
import { agoOf, ageOf } from './age.ts'
import { stateNames } from './gateway-view.ts'
import { lastChecked, lastCheckedText } from './last-checked.ts'
import { type Column, folded, tableLines, heading, markOf, painted, type Style } from './terminal.ts'
import type { ClusterFailure, FleetView, GatewayView, SyncView } from './view.ts'
import { insteadOf } from '../reconcile/decide/summary.ts'

/** Width of the symbol in front of a line. */
const markWidth = 2
/** Maximum number of findings and requests to show; the JSON form has all. */
const shownFindings = 10
const shownRequests = 5

/** If contexts were named. As wide as the names of cloud providers, whose beginnings are alike. */
const contextColumn: Column = { title: 'CONTEXT', max: 64 }

const syncColumns: readonly Column[] = [
  { title: 'NAMESPACE', max: 24 },
  { title: 'NAME', max: 28 },
  { title: 'READY', max: 7 },
  { title: 'REF', max: 20 },
  { title: 'COMMIT', max: 8 },
  { title: 'GATEWAYS', max: 9 },
  { title: 'PUBLISHED', max: 9 },
  { title: 'WHY', max: 24 },
]

const stageColumns: readonly Column[] = [
  { title: 'STAGE', max: 32 },
  { title: 'UPDATED', max: 9 },
  { title: 'FAILED', max: 6 },
  { title: 'SILENT', max: 6 },
  { title: 'BEGAN', max: 8 },
  { title: 'DONE', max: 8 },
  { title: 'APPROVED BY', max: 32 },
]

const gatewayColumns: readonly Column[] = [
  { title: 'POD', max: 32 },
  { title: 'GATEWAY', max: 24 },
  { title: 'STATE', max: 8 },
  { title: 'COMMIT', max: 8 },
  { title: 'MODE', max: 16 },
  { title: 'REPORTED', max: 8 },
  { title: 'WHY', max: 24 },
]

/** A table of all GatewaySyncs and of the clusters that cannot be read, then everything that is not ok, then a summary sentence. */
export function fleetText(view: FleetView, now: Temporal.Instant, style: Style): string[] {
  const { syncs, failures = [] } = view
  const levels = [...syncs, ...failures.map(() => ({ level: 'error' as const }))]
  const syncRows = syncs.map((sync) => [
    sync.namespace,
    sync.name,
    readyWord(sync),
    shortHashes(sync.desired.ref ?? '-'),
    sync.published === undefined ? '-' : shortRevision(sync.published.commit, sync.published.ref),
    sync.counts === undefined ? '-' : `${sync.upToDate}/${sync.counts.total}`,
    ageOf(sync.published?.at, now) ?? '-',
    sync.reason,
  ])
  const failedRows = failures.map(({ reason }) => ['-', '-', 'unknown', '-', '-', '-', '-', reason])
  const contexts = [...syncs, ...failures].map(({ context }) => context)
  const isNamed = contexts.some((context) => context !== undefined)
  const rows = [...syncRows, ...failedRows].map((row, index) => [...(isNamed ? [contexts[index] ?? '-'] : []), ...row])
  const table = rows.length === 0 ? [] : markedTable([...(isNamed ? [contextColumn] : []), ...syncColumns], rows, levels, style)
  const troubles = syncs.filter(({ level }) => level !== 'ok').flatMap((sync) => ['', ...troubleOf(sync, style)])
  return [...table, ...troubles, ...failureLines(view, style), ...(table.length === 0 ? [] : ['']), ...ending(view, style)]
}

/** The details of each GatewaySync of the view. */
export function syncText(view: FleetView, now: Temporal.Instant, style: Style): string[] {
  const blocks = view.syncs.map((sync) => oneSync(sync, now, style))
  const lines = [...blocks.flatMap((block) => ['', ...block]), ...failureLines(view, style)]
  return [...lines.slice(1), ...notesOf(view, style)]
}

/** Each cluster that cannot be read, with the cause and the next step, after an empty line. */
function failureLines({ failures = [] }: FleetView, style: Style): string[] {
  return failures.flatMap(({ context, reason, message, next }: ClusterFailure) => [
    '',
    `${markOf('error', style)}${heading(context, style)} ${painted(`cannot be read (${reason})`, 'error', style)}`,
    ...folded(message, style.width, '  '),
    ...(next === undefined ? [] : folded(next, style.width, '  -> ')),
  ])
}

function oneSync(sync: SyncView, now: Temporal.Instant, style: Style): string[] {
  return [
    titleLine(sync, style),
    ...whyLines(sync, style),
    ...sourceLines(sync, now, style),
    ...rolloutLines(sync, now, style),
    ...gatewayLines(sync, now, style),
    ...findingLines(sync, style),
    ...requestLines(sync, now, style),
    ...nextLines(sync, style),
  ]
}

function titleLine(sync: SyncView, style: Style): string {
  const name = `${sync.context === undefined ? '' : `${sync.context}: `}${sync.namespace}/${sync.name}`
  return `${markOf(sync.level, style)}${heading(name, style)} ${painted(readySentence(sync), sync.level, style)}`
}

function readyWord({ ready }: SyncView): string {
  return { True: 'yes', False: 'no', Unknown: 'unknown' }[ready]
}

function readySentence({ ready, reason }: SyncView): string {
  if (ready === 'True') return `is ready (${reason})`
  return ready === 'False' ? `is not ready (${reason})` : `has unknown readiness (${reason})`
}

function whyLines({ ready, message, meaning }: SyncView, { width }: Style): string[] {
  return [
    ...folded(message, width, '  '),
    ...(ready === 'True' || meaning === undefined || meaning === message ? [] : folded(`Meaning: ${meaning}.`, width, '  ')),
  ]
}

function troubleOf(sync: SyncView, style: Style): string[] {
  return [titleLine(sync, style), ...whyLines(sync, style), ...sync.next.flatMap((step) => folded(step, style.width, '  -> '))]
}

function sourceLines({ repo, desired, published }: SyncView, now: Temporal.Instant, { width }: Style): string[] {
  const last = lastChecked(desired, now)
  const checked = last === undefined ? '' : `, ${lastCheckedText(last, now)}`
  const by =
    desired.requestedBy === undefined ? '' : `, requested by ${desired.requestedBy === 'generic' ? 'webhook' : desired.requestedBy}`
  const committed = desired.committedAt === undefined ? '' : `, committed ${agoOf(desired.committedAt, now)}`
  const held = desired.held === undefined ? '' : `, not published (${desired.held})`
  const commit = desired.commit === undefined ? 'not known yet' : `${shortRevision(desired.commit, desired.ref)}${committed}`
  const publishedText =
    published === undefined
      ? 'nothing yet'
      : `${shortRevision(published.commit, published.ref)} of ${shortHashes(published.ref)}, ${agoOf(published.at, now)}`
  return [
    ['repository', `${repo ?? 'not known'}${checked}`],
    ['desired', `${shortHashes(desired.ref ?? 'not known')}${by}: ${commit}${held}`],
    ...(desired.insteadOf === undefined ? [] : [['', insteadOf(desired.insteadOf)]]),
    ['published', publishedText],
  ].flatMap(([label = '', text = '']) => folded(text, width, `  ${label.padEnd(12)}`))
}

function rolloutLines({ rollout }: SyncView, now: Temporal.Instant, style: Style): string[] {
  if (rollout === undefined) return []
  const { summary, message, stages, state } = rollout
  const why = state === 'Progressing' || message === undefined ? [] : folded(shortHashes(message), style.width, '  ')
  const rows = stages.map(({ name, gateways, updated, failed, silent = 0, startedAt, finishedAt, approvedBy }) => [
    name,
    `${updated}/${gateways}`,
    String(failed),
    String(silent),
    ageOf(startedAt, now) ?? '-',
    ageOf(finishedAt, now) ?? '-',
    approvedBy ?? '-',
  ])
  const table = stages.length === 0 ? [] : markedTable(stageColumns, rows, stages, style)
  return ['', ...folded(`Rollout: ${summary}`, style.width, markOf(rollout.level, style)), ...why, ...table]
}

function gatewayLines({ gateways, counts }: SyncView, now: Temporal.Instant, style: Style): string[] {
  if (gateways.length === 0) return counts?.total === 0 ? ['', 'No gateway follows it yet.'] : []
  const rows = gateways.map((one) => [
    one.pod,
    one.gateway ?? '-',
    stateNames[one.state],
    one.commit === undefined ? '-' : shortCommit(one.commit),
    one.mode === undefined || one.mode === '' ? '-' : one.mode,
    ageOf(one.finishedAt, now) ?? '-',
    one.reason ?? '',
  ])
  return ['', ...markedTable(gatewayColumns, rows, gateways, style), ...gateways.flatMap((one) => remarkLines(one, style))]
}

function remarkLines({ pod, message, meaning, reason, remarks }: GatewayView, { width }: Style): string[] {
  const why = message ?? meaning
  const lines = [...(reason === undefined || why === undefined ? [] : [why]), ...remarks]
  return lines.flatMap((line) => folded(shortHashes(`${pod}: ${line}`), width, '  ', '    '))
}

function findingLines({ findings }: SyncView, style: Style): string[] {
  if (findings === undefined || findings.errors + findings.warnings === 0) return []
  const head = heading(`Findings: ${counted(findings.errors, 'error')}, ${counted(findings.warnings, 'warning')}`, style)
  const shown = findings.items.slice(0, shownFindings)
  const lines = shown.flatMap(({ severity, path, message, rule }) =>
    folded(`${path === '' ? '' : `${path}: `}${message} (${rule})`, style.width, `  ${severity.padEnd(8)}`, '    '),
  )
  const more = findings.errors + findings.warnings - shown.length
  return ['', head, ...lines, ...(more > 0 ? [`  and ${more} more`] : [])]
}

function requestLines({ requests }: SyncView, now: Temporal.Instant, style: Style): string[] {
  if (requests.length === 0) return []
  const lines = requests.slice(0, shownRequests).flatMap(({ ref, outcome, at, reason, message }) => {
    const why = message === undefined ? '' : `: ${shortHashes(message)}${reason === undefined ? '' : ` (${reason})`}`
    return folded(`${ref}, ${agoOf(at, now)}${why}`, style.width, `  ${outcome.toLowerCase().padEnd(11)}`, '    ')
  })
  return ['', heading('Requests', style), ...lines]
}

function nextLines({ next }: SyncView, style: Style): string[] {
  return next.length === 0 ? [] : ['', heading('What to do', style), ...next.flatMap((step) => folded(step, style.width, '  -> '))]
}

function markedTable(columns: readonly Column[], rows: string[][], of: readonly Pick<SyncView, 'level'>[], style: Style): string[] {
  const [title = '', ...lines] = tableLines(columns, rows, style.width - (style.symbols ? markWidth : 0))
  const marked = lines.map((line, index) => `${markOf(of[index]?.level ?? 'ok', style)}${line}`)
  return [`${style.symbols ? ' '.repeat(markWidth) : ''}${heading(title, style)}`, ...marked]
}

function ending(view: FleetView, style: Style): string[] {
  return [`${markOf(view.level, style)}${view.summary}`, ...notesOf(view, style)]
}

function notesOf({ notes }: FleetView, { width }: Style): string[] {
  return notes.flatMap((note) => folded(note, width, 'Note: '))
}
