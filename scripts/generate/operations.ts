/**
 * docs/operations.md: the tables of reasons and conditions between their markers, from the code's own tables.
 */
import { readFile } from 'node:fs/promises'
import { podEvents } from '../../runtime/controller/cluster/pod-events.ts'
import { reasons } from '../../runtime/fault.ts'
import { abnormalConditions, conditionReasons, normalConditions } from '../../runtime/gatewaysync/decide/conditions.ts'
import { syncEvents } from '../../runtime/gatewaysync/decide/events.ts'
import type { LogFields } from '../../runtime/log.ts'
import { agentMetrics, type Metric, nodeMetrics, objectMetrics, processMetrics } from '../../runtime/metrics/table.ts'
import { entryOf, knownAlerts } from './runbook.ts'
import { type GeneratedFile, replaceTable, table } from './table.ts'

const path = 'docs/operations.md'
const runbookPage = 'runbook.md'

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

const logMeanings: Record<'time' | 'level' | 'msg' | keyof LogFields, string> = {
  time: 'when, in UTC to the millisecond (RFC 3339)',
  level: '`debug`, `info`, `warn` or `error`',
  msg: 'what happened, in constant words: search for these',
  namespace: 'namespace of the GatewaySync or pod',
  name: 'name of the GatewaySync, or of the replica that the line is about',
  pod: 'gateway pod',
  ref: 'branch, tag or commit that was asked for',
  commit: 'the whole hash of a commit',
  reason: 'a reason of the table above',
  message: 'what went wrong, for people; redacted',
  durationMs: 'how long it took',
  requestId: 'id of the push or request that caused it, as `status.requests` names it; of an admission, the uid of the review',
  status: 'HTTP status that was answered',
  count: 'how many',
  path: 'path of a file or of a route',
  gateway: 'name of the gateway',
  component: 'the part of the program',
  err: 'type, message and stack of an error',
}

const retries = { 'on-change': 'when something changes', backoff: 'by itself, with growing waits' }

export async function operations(): Promise<GeneratedFile[]> {
  const present = await readFile(path, 'utf8')
  const conditions = [...normalConditions, ...abnormalConditions].map((type) => [`\`${type}\``, conditionMeanings[type]])
  const states = Object.entries(conditionReasons).map(([reason, meaning]) => [`\`${reason}\``, meaning])
  const faults = Object.entries(reasons).map(([reason, { help, retry }]) => [entryOf(reason, runbookPage), help, retries[retry]])
  const tables = {
    conditions: table(['Condition', 'Means'], conditions),
    'condition-reasons': table(['Reason', 'Means'], states),
    reasons: table(['Reason', 'Means', 'Tried again'], faults),
    events: eventTable(),
    'pod-events': table(
      ['Event', 'When'],
      Object.entries(podEvents).map(([reason, when]) => [`\`${reason}\``, when]),
    ),
    'log-fields': table(
      ['Field', 'Holds'],
      Object.entries(logMeanings).map(([field, holds]) => [`\`${field}\``, holds]),
    ),
    'metrics-objects': metricTable(objectMetrics),
    'metrics-process': metricTable(processMetrics),
    'metrics-agent': metricTable(agentMetrics),
    'metrics-node': metricTable(nodeMetrics),
    alerts: alertTable(),
  }
  const content = Object.entries(tables).reduce((text, [name, rows]) => replaceTable(text, path, name, rows), present)
  return [{ path, content }]
}

function eventTable(): string {
  const held = (['CollectionsInvalid', 'CheckFailed', 'NotVerified'] as const).map((reason) => [
    entryOf(reason, runbookPage),
    'Warning',
    `a commit was held, or published in spite of it: ${reasons[reason].help}; said once for each commit`,
  ])
  return table(
    ['Event', 'Type', 'When'],
    [
      ...Object.entries(syncEvents).map(([reason, { type, when }]) => [`\`${reason}\``, type, when]),
      ...held,
      [entryOf('InvalidSpec', runbookPage), 'Warning', reasons.InvalidSpec.help],
      ...(['CommitStatusRefused', 'CommitStatusFailed'] as const).map((reason) => [
        entryOf(reason, runbookPage),
        'Warning',
        reasons[reason].help,
      ]),
      [
        'the reason of `Ready`',
        'Normal, or Warning where somebody should look',
        '`Ready` has changed; which gateway and why stands in the conditions',
      ],
    ],
  )
}

function alertTable(): string {
  const rows = knownAlerts().map(({ alert, severity, duration, says }) => [entryOf(alert, runbookPage), severity, duration, says])
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
