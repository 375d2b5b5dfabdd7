/**
 * docs/operations.md: the tables of reasons and conditions between their markers, from the code's own tables.
 */
import { readFile } from 'node:fs/promises'
import { alertRules } from '../../infra/constructs/alerts.ts'
import { checkValues } from '../../infra/values/check.ts'
import { install } from '../../infra/install.ts'
import { namesOf } from '../../infra/names.ts'
import { reasons } from '../../runtime/fault.ts'
import { abnormalConditions, conditionReasons, normalConditions } from '../../runtime/gatewaysync/decide/conditions.ts'
import { agentMetrics, type Metric, objectMetrics, processMetrics } from '../../runtime/metrics/table.ts'
import { type GeneratedFile, replaceTable, table } from './table.ts'

const path = 'docs/operations.md'

const conditionMeanings: Record<(typeof normalConditions)[number] | (typeof abnormalConditions)[number], string> = {
  Ready: 'every gateway has reported exactly the published commit, which is the wanted one, and the wanted configuration',
  SourceReady: 'the wanted ref was resolved and its commit fetched',
  CollectionsValid: 'the checks of the resource collections found no error in the wanted commit',
  GatewaysSynced: 'every gateway reports the published commit',
  AgentsInjected: 'every pod that asks for an agent runs with one that is new enough',
  Reconciling: 'present while work is under way',
  Stalled: 'present while nothing will move before something changes',
  Paused: 'present while `spec.paused` is true',
}

const retries = { 'on-change': 'when something changes', backoff: 'by itself, with growing waits' }

export async function operations(): Promise<GeneratedFile[]> {
  const present = await readFile(path, 'utf8')
  const conditions = [...normalConditions, ...abnormalConditions].map((type) => [`\`${type}\``, conditionMeanings[type]])
  const states = Object.entries(conditionReasons).map(([reason, meaning]) => [`\`${reason}\``, meaning])
  const faults = Object.entries(reasons).map(([reason, { help, retry }]) => [`\`${reason}\``, help, retries[retry]])
  const tables = {
    conditions: table(['Condition', 'Means'], conditions),
    'condition-reasons': table(['Reason', 'Means'], states),
    reasons: table(['Reason', 'Means', 'Tried again'], faults),
    'metrics-objects': metricTable(objectMetrics),
    'metrics-process': metricTable(processMetrics),
    'metrics-agent': metricTable(agentMetrics),
    alerts: alertTable(),
  }
  const content = Object.entries(tables).reduce((text, [name, rows]) => replaceTable(text, path, name, rows), present)
  return [{ path, content }]
}

/** Without the templates of Prometheus, which name the series that an alert is about. */
function alertTable(): string {
  const { values } = checkValues({})
  const rows = alertRules(namesOf(install.release, values, ''), values).map(({ alert, severity, for: duration, summary }) => [
    `\`${alert}\``,
    severity,
    duration as string,
    summary.replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, '($1)'),
  ])
  return table(['Alert', 'Severity', 'After', 'Says'], rows)
}

function metricTable(metrics: Readonly<Record<string, Metric>>): string {
  const rows = Object.entries(metrics).map(([name, { type, help, labels = [] }]) => [
    `\`${name}\``,
    type,
    labels.map((label) => `\`${label}\``).join(', '),
    help,
  ])
  return table(['Metric', 'Type', 'Labels', 'Means'], rows)
}
