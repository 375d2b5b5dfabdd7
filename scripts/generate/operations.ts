/**
 * docs/reference/operations.md: the tables of conditions, events and metrics between their markers, from the code's own tables; and in the
 * runbook, which reasons wait for a change.
 */
import { readFile } from 'node:fs/promises'
import { podEvents } from '../../runtime/controller/cluster/pod-events.ts'
import { receiverEvents } from '../../runtime/controller/serve/receiver.ts'
import { type Reason, reasons } from '../../runtime/platform/fault.ts'
import {
  abnormalConditions,
  type ConditionType,
  conditionReasons,
  normalConditions,
  rolloutConditions,
} from '../../runtime/api/schema/conditions.ts'
import { syncEvents } from '../../runtime/reconcile/decide/events.ts'
import { agentMetrics, type Metric, objectMetrics, processMetrics } from '../../runtime/telemetry/metrics/table.ts'
import { entryOf, knownAlerts } from './runbook.ts'
import { type GeneratedFile, replaceTable, table } from './table.ts'

const path = 'docs/reference/operations.md'
const runbookPath = 'docs/how-to/runbook.md'
const runbookPage = '../how-to/runbook.md'

const conditionMeanings: Record<ConditionType, string> = {
  Ready:
    '`SourceReady`, `CollectionsValid` (unless `Warn` accepts the errors), `GatewaysSynced` and `AgentsInjected` are true, the published commit is the desired one, and nothing is paused',
  SourceReady: 'the desired ref was resolved and its commit fetched',
  CollectionsValid: 'validation found no error in the desired commit, or does not apply (`NotValidated`)',
  GatewaysSynced: 'every gateway reports the published commit',
  AgentsInjected: 'every pod that requests an agent has one that supports all fields of the spec',
  Reconciling: 'the controller is working toward the desired state',
  Stalled: 'a change by a user is required',
  Paused: '`spec.paused` is true',
  FoldersUnverified:
    'the files of a data directory may not match any commit, because a sync was interrupted and could not be completed, or because its records are damaged; the message names the gateway and the cause',
  Throttled:
    'work has waited for more than 5 seconds, now or in the last polling interval, because the namespace used up its share; the message names the share and what has used it the longest',
  Progressing: 'false after the rollout failed or was aborted',
}

export async function operations(): Promise<GeneratedFile[]> {
  const [present, runbook] = await Promise.all([readFile(path, 'utf8'), readFile(runbookPath, 'utf8')])
  const row =
    (normal: string, present: string) =>
    (type: ConditionType): string[] => [`\`${type}\``, normal, present, conditionMeanings[type]]
  const conditions = [
    ...normalConditions.map(row('`True`', 'always')),
    ...abnormalConditions.map(row('absent', 'while `True`')),
    ...rolloutConditions.map(row('`True`', 'with `spec.rollout`')),
  ]
  const states = Object.entries(conditionReasons).map(([reason, meaning]) => [`\`${reason}\``, meaning])
  const tables = {
    conditions: table(['Condition', 'Normal', 'Present', 'Meaning'], conditions),
    'condition-reasons': table(['Reason', 'Meaning'], states),
    events: eventTable(),
    metrics: metricTable({ ...objectMetrics, ...processMetrics, ...agentMetrics }),
    alerts: alertTable(),
  }
  const content = Object.entries(tables).reduce((text, [name, rows]) => replaceTable(text, path, name, rows), present)
  return [
    { path, content },
    { path: runbookPath, content: replaceTable(runbook, runbookPath, 'retried-after-a-change', reasonsRetriedAfterAChange()) },
  ]
}

function reasonsRetriedAfterAChange(): string {
  const names = Object.entries(reasons).flatMap(([reason, { retry }]) => (retry === 'on-change' ? [`\`${reason}\``] : []))
  return `${names.join(', ')}. These wait until the spec, a Secret or the commit changes, except that \`CommitStatusRefused\` is also retried every 15 minutes, and \`WaitsForStage\` waits for its stage.`
}

function eventTable(): string {
  const linked = (...names: Reason[]): string => names.map((name) => entryOf(name, runbookPage)).join(', ')
  return table(
    ['Event', 'Type', 'When'],
    [
      ...Object.entries(syncEvents).map(([reason, { type, when }]) => [`\`${reason}\``, type, when]),
      ...Object.entries(receiverEvents).map(([reason, { type, when }]) => [
        reason in reasons ? linked(reason as Reason) : `\`${reason}\``,
        type,
        when,
      ]),
      ['`RequestedOnPage`', 'Normal', 'a user acted on the status page; the note names the user and the action'],
      [
        linked('CollectionsInvalid', 'ValidationFailed', 'NotVerified'),
        'Warning',
        'a commit was held, or published with errors; once for each commit',
      ],
      [linked('InvalidSpec'), 'Warning', reasons.InvalidSpec.help],
      [linked('CommitStatusRefused', 'CommitStatusFailed'), 'Warning', 'the git host refused a commit status, or could not be reached'],
      ['the reason of `Ready`', 'Normal or Warning', '`Ready` changed; the conditions have the details'],
      ...Object.entries(podEvents).map(([reason, when]) => [`\`${reason}\``, 'Warning on a pod', when]),
    ],
  )
}

function alertTable(): string {
  const rows = knownAlerts().map(({ alert, severity, duration, says }) => [entryOf(alert, runbookPage), severity, duration, says])
  return table(['Alert', 'Severity', 'After', 'Summary'], rows)
}

function metricTable(metrics: Readonly<Record<string, Metric>>): string {
  const rows = Object.entries(metrics).map(([name, { type, help, labels = [] }]) => [
    `\`${name}\``,
    type,
    labels.map((label) => `\`${label}\``).join(', '),
    help,
  ])
  return table(['Metric', 'Type', 'Labels', 'Meaning'], rows)
}
