/**
 * Formats the output of `cluster-sync plan --base`: text for a terminal, and Markdown for a merge request. Pure.
 */
import { counted } from '../../platform/text/counted.ts'
import { shortCommit, visible } from '../../api/values.ts'
import { diffText } from '../../sync/plan/preview.ts'
import type { ChangeReport, GatewayChange } from './plan-change.ts'
import { changeLines, type PlanView } from './plan-text.ts'
import { nextStep } from '../output/next-steps.ts'
import { heading, painted, type Style } from '../../fleet/terminal.ts'
import { shownPlace } from '../../api/findings.ts'

/** Git hosts accept up to a megabyte, but a longer text than this is not useful. */
const markdownCharacters = 60_000
const markdownFindings = 50

/** Lines without line ends. */
export function changeText(report: ChangeReport, view: PlanView, style: Style): string[] {
  const { base, head, gateways, lint } = report
  const each = gateways.flatMap((gateway) => [
    heading(`${gatewaysOf(gateway)}: ${countsOf(gateway)}`, style),
    ...changeLines(gateway.changes, view, style),
    ...gateway.problems.flatMap(({ reason, message }) => refusal(`${message} (${reason})`, reason, style)),
  ])
  const findings = lint.findings.map(({ path, severity, message, rule, place }) => {
    return painted(visible(`! ${shownPlace({ path, ...place })}: ${severity}: ${message} (${rule})`), severity, style)
  })
  return [
    ...each,
    ...findings,
    ...(report.checked?.refused === true ? refusal(checksOf(report), 'CollectionsInvalid', style) : []),
    heading(`${shortCommit(base)} to ${shortCommit(head)}: ${findingsOf(report)}`, style),
  ]
}

/** Markdown for the summary of a workflow or a note of a merge request. */
export function changeMarkdown(report: ChangeReport): string {
  const { base, head, gateways, lint } = report
  const rows = gateways.map((gateway) => {
    const { added, changed, removed } = gateway.counts
    return `| ${inline(gatewaysOf(gateway))} | ${added} | ${changed} | ${removed} |`
  })
  const refusals = [
    ...gateways.flatMap((gateway) => gateway.problems.map(({ reason, message }) => `${gatewaysOf(gateway)}: ${message} (${reason})`)),
    ...(report.checked?.refused === true ? [checksOf(report)] : []),
  ].map((text) => `- ❌ would be refused: ${inline(text)}`)
  const findings = lint.findings.slice(0, markdownFindings).map(({ path, severity, message, rule, place }) => {
    const text = `${shownPlace({ path, ...place })}: ${message} (${rule})`
    return `- ${severity === 'error' ? '❌' : '⚠️'} ${inline(text)}`
  })
  const more = lint.findings.length - findings.length
  return [
    '### What this change does to gateways',
    '',
    '| Gateways | Added | Changed | Removed |',
    '|---|---|---|---|',
    ...rows,
    '',
    ...refusals,
    ...findings,
    ...(more > 0 ? [`- and ${more} more`] : []),
    '',
    `${shortCommit(base)} to ${shortCommit(head)}: ${findingsOf(report)}`,
    ...gateways.flatMap((gateway) => filesOf(gateway, Math.floor(markdownCharacters / gateways.length))),
    '',
  ].join('\n')
}

function filesOf(gateway: GatewayChange, most: number): string[] {
  if (gateway.changes.length === 0) return []
  // Every line begins with a marker and contains no line end, so no line can close the code block.
  const lines = diffText(gateway.changes, most).replaceAll(/^ {4}/gm, '')
  return ['', `<details><summary>${inline(gatewaysOf(gateway))}</summary>`, '', '```diff', lines, '```', '', '</details>']
}

/** `profile default, modes dev and prod`. */
function gatewaysOf({ profile, modes }: GatewayChange): string {
  const named = modes.filter((mode) => mode !== '')
  if (named.length === 0) return `profile ${profile}`
  return `profile ${profile}, ${named.length === 1 ? 'mode' : 'modes'} ${named.join(', ')}`
}

function countsOf({ counts: { added, changed, removed } }: GatewayChange): string {
  return `${added} to add, ${changed} to change, ${removed} to remove`
}

function findingsOf({ lint: { summary }, gone }: ChangeReport): string {
  return `${counted(summary.errors, 'new error')}, ${counted(summary.warnings, 'new warning')}${gone === 0 ? '' : `, ${gone} fixed`}`
}

function checksOf({ head, checked }: ChangeReport): string {
  const errors = checked?.errors ?? 0
  return `validation of ${shortCommit(head)} found ${counted(errors, 'error')} (CollectionsInvalid)`
}

function refusal(text: string, reason: string, style: Style): string[] {
  const step = nextStep(reason)
  return [painted(visible(`! would be refused: ${text}`), 'error', style), ...(step === undefined ? [] : [`  next: ${step}`])]
}

/** Escapes text of a repository that Markdown or HTML would interpret. */
function inline(text: string): string {
  return visible(text)
    .replaceAll(/[\\`*_[\]<>&#|~]/g, (sign) => `&#${sign.codePointAt(0)};`)
    .replaceAll(/\s+/g, ' ')
}
