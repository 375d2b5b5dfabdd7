/**
 * Formats the output of `cluster-sync lint`: text, JSON, SARIF for code scanning, workflow annotations. Pure.
 */
import { createHash } from 'node:crypto'
import { ruleIds, rules } from '../../validation/rules/rules.ts'
import { counted } from '../../platform/text/counted.ts'
import { visible } from '../../api/values.ts'
import { version } from '../../platform/version.ts'
import type { Fixed } from './lint-fix.ts'
import type { CheckFinding, Summary } from '../../validation/rules/findings.ts'
import type { Placed } from '../../validation/run/place-findings.ts'
import { heading, markOf, painted, type Style } from '../../fleet/terminal.ts'
import { shownPlace } from '../../api/findings.ts'

/** A finding with its place in the file, if known. */
type PlacedFinding = Placed<CheckFinding>

/** `roots` hold collections or projects; `resources` counts both. `fixed` holds the findings that were fixed before the others were found. */
export type LintResult = {
  roots: string[]
  findings: PlacedFinding[]
  summary: Summary & { projects: number }
  fixed?: readonly Fixed[]
  durationMs?: number
}

/** Each takes the result and the output style, and returns the complete text. */
export const formats = { text: asText, json: asJson, sarif: asSarif, github: asGithub, gitlab: asGitlab }
export type Format = keyof typeof formats

/** Groups findings by file, files with errors first; editors and terminals open `path:line:column`. */
function asText({ roots, findings, summary, fixed = [], durationMs }: LintResult, style: Style): string {
  const done = fixed.map(({ path, rule, problem }) => {
    const outcome = problem === undefined ? 'fixed' : `not fixed: ${problem}`
    return `${markOf(problem === undefined ? 'ok' : 'warning', style)}${visible(`${path}: ${outcome} (${rule})`)}`
  })
  const files = Map.groupBy(findings, ({ path }) => path)
  const blocks = [...files.values()].map((own) => fileBlock(own, style))
  const hidden = summary.errors + summary.warnings - findings.length
  const more = hidden > 0 ? [`and ${hidden} more`] : []
  const contents = [counted(summary.collections, 'collection'), ...(summary.projects === 0 ? [] : [counted(summary.projects, 'project')])]
  const scope = `${counted(summary.resources, 'resource')} of ${contents.join(' and ')} (${roots.map((root) => root || '.').join(', ')})`
  const took = durationMs === undefined ? '' : `, ${(durationMs / 1000).toFixed(1)} s`
  const level = summary.errors > 0 ? 'error' : summary.warnings > 0 ? 'warning' : 'ok'
  const counts = painted(`${counted(summary.errors, 'error')}, ${counted(summary.warnings, 'warning')}`, level, style)
  const inFiles = files.size === 0 ? '' : `, in ${counted(files.size, 'file')}`
  return [...done, ...blocks, ...more, `${counts} in ${scope}${inFiles}${took}`].join('\n')
}

function fileBlock(findings: readonly PlacedFinding[], style: Style): string {
  const helped = new Set<string>()
  const lines = findings.flatMap(({ rule, severity, path, message, help, place }) => {
    const where = visible(shownPlace({ path, ...place }))
    const line = `${heading(where, style)}: ${painted(severity, severity, style)}: ${visible(message)} (${rule})`
    const source = place === undefined ? [] : [`    ${String(place.line).padStart(4)} | ${visible(place.text)}`]
    const advice = helped.has(help) ? [] : [`    ${visible(help)}`]
    helped.add(help)
    return [line, ...source, ...advice]
  })
  return `${lines.join('\n')}\n`
}

function asJson({ roots, findings, summary, fixed }: LintResult): string {
  const plain = findings.map(({ rule, severity, path, message, help, place }) => {
    const where = place === undefined ? {} : { line: place.line, column: place.column }
    return { rule, severity, path, ...where, message, help }
  })
  return JSON.stringify({ roots, findings: plain, summary, ...(fixed === undefined ? {} : { fixed }) }, undefined, 2)
}

/** SARIF 2.1.0. */
function asSarif({ findings }: LintResult): string {
  const driver = {
    name: 'cluster-sync',
    version,
    rules: ruleIds.map((id) => ({
      id,
      shortDescription: { text: rules[id].title },
      fullDescription: { text: rules[id].why },
      help: { text: rules[id].fix },
      defaultConfiguration: { level: rules[id].severity === 'off' ? 'none' : rules[id].severity },
    })),
  }
  const results = findings.map(({ rule, severity, path, message, place }) => ({
    ruleId: rule,
    ruleIndex: ruleIds.indexOf(rule),
    level: severity,
    message: { text: message },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: path.split('/').map(encodeURIComponent).join('/') },
          ...(place === undefined ? {} : { region: { startLine: place.line, startColumn: place.column } }),
        },
      },
    ],
  }))
  const log = { $schema: 'https://json.schemastore.org/sarif-2.1.0.json', version: '2.1.0', runs: [{ tool: { driver }, results }] }
  return JSON.stringify(log, undefined, 2)
}

/** Workflow commands, which become annotations. */
function asGithub({ findings, summary }: LintResult): string {
  const lines = findings.map(
    ({ rule, severity, path, message, help, place }) =>
      `::${severity} file=${escapeProperty(path)}${place === undefined ? '' : `,line=${place.line},col=${place.column}`},title=${escapeProperty(rule)}::${escapeMessage(`${message}. ${help}`)}`,
  )
  return [...lines, `${counted(summary.errors, 'error')}, ${counted(summary.warnings, 'warning')}`].join('\n')
}

/** The code quality report of GitLab. The fingerprint of a finding does not depend on its line. */
function asGitlab({ findings }: LintResult): string {
  const issues = findings.map(({ rule, severity, path, message, help, place }) => ({
    description: `${message}. ${help}`,
    check_name: rule,
    fingerprint: createHash('sha256')
      .update(JSON.stringify([rule, path, message]))
      .digest('hex'),
    severity: severity === 'error' ? 'major' : 'minor',
    location: { path, lines: { begin: place?.line ?? 1 } },
  }))
  return JSON.stringify(issues, undefined, 2)
}

function escapeMessage(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

function escapeProperty(text: string): string {
  return escapeMessage(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
}
