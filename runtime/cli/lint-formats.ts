/**
 * What `cluster-sync lint` prints: for people, for programs, for code scanning, for annotations of a workflow. Pure.
 */
import type { CheckFinding, Summary } from '../collections/rules/findings.ts'
import { ruleIds, rules } from '../collections/rules/rules.ts'
import { version } from '../version.ts'

/** `roots` hold collections or projects; `resources` are of both. */
export type LintResult = { roots: string[]; findings: CheckFinding[]; summary: Summary & { projects: number } }

export const formats = { text: asText, json: asJson, sarif: asSarif, github: asGithub }
export type Format = keyof typeof formats

function asText({ roots, findings, summary }: LintResult): string {
  const lines = findings.map(({ rule, severity, path, message, help }) => `${path}: ${severity}: ${message} (${rule})\n    ${help}`)
  const hidden = summary.errors + summary.warnings - findings.length
  if (hidden > 0) lines.push(`and ${hidden} more`)
  const counts = `${counted(summary.errors, 'error')}, ${counted(summary.warnings, 'warning')}`
  const held = [counted(summary.collections, 'collection'), ...(summary.projects === 0 ? [] : [counted(summary.projects, 'project')])]
  const scope = `${counted(summary.resources, 'resource')} of ${held.join(' and ')}`
  return [...lines, `${counts} in ${scope} (${roots.map((root) => root || '.').join(', ')})`].join('\n')
}

function asJson({ roots, findings, summary }: LintResult): string {
  const plain = findings.map(({ rule, severity, path, message, help }) => ({ rule, severity, path, message, help }))
  return JSON.stringify({ roots, findings: plain, summary }, undefined, 2)
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
  const results = findings.map(({ rule, severity, path, message }) => ({
    ruleId: rule,
    ruleIndex: ruleIds.indexOf(rule),
    level: severity,
    message: { text: message },
    locations: [{ physicalLocation: { artifactLocation: { uri: path.split('/').map(encodeURIComponent).join('/') } } }],
  }))
  const log = { $schema: 'https://json.schemastore.org/sarif-2.1.0.json', version: '2.1.0', runs: [{ tool: { driver }, results }] }
  return JSON.stringify(log, undefined, 2)
}

/** Workflow commands, which become annotations. */
function asGithub({ findings, summary }: LintResult): string {
  const lines = findings.map(
    ({ rule, severity, path, message, help }) =>
      `::${severity} file=${escapeProperty(path)},title=${escapeProperty(rule)}::${escapeMessage(`${message}. ${help}`)}`,
  )
  return [...lines, `${counted(summary.errors, 'error')}, ${counted(summary.warnings, 'warning')}`].join('\n')
}

function escapeMessage(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

function escapeProperty(text: string): string {
  return escapeMessage(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
