/**
 * What Prometheus alerts on: a GatewaySync that stays behind, gateways that fail or have no agent, git hosts that refuse, a controller
 * that is gone. Only figures of the controller are used, which knows of every gateway. Pure.
 */
import type { PrometheusRule } from '../../imports/monitoring.coreos.com.js'
import type { ConditionType } from '../../runtime/gatewaysync/decide/conditions.ts'
import type { RolloutStatus } from '../../runtime/gatewaysync/schema/rollout-status.ts'
import type { GatewayCounts } from '../../runtime/gatewaysync/schema/status.ts'
import type { ObjectMetric, ProcessMetric } from '../../runtime/metrics/table.ts'
import { asText, text, together } from '../helm/combinators.ts'
import type { Live, Value } from '../helm/expression.ts'
import type { Names } from '../names.ts'
import type { Values } from '../values.ts'
import type { ManifestOf } from './api-object.ts'
import { namespaced } from './metadata.ts'

type AlertRule = {
  alert: string
  expr: Value<string>
  for: Value<string>
  severity: 'critical' | 'warning'
  summary: string
  description: Value<string>
}

/** The controller and cert-manager both renew a certificate more days before its end than this. */
const daysBeforeEnd = 7

/** Longer than any week with a window in it. */
const longRolloutDays = 8

/** Prometheus fills in the labels of the series that an alert is about. */
const label = (name: string): string => `{{ $labels.${name} }}`
const object = `${label('namespace')}/${label('name')}`

/** The PrometheusRule with every alert; `names` makes the queries of one release, `values` the objective and the thresholds. */
export function alerts(names: Names, values: Live<Values>): ManifestOf<typeof PrometheusRule> {
  const { fullname } = names
  return {
    metadata: namespaced(names, fullname, { labels: values.prometheusRule.labels }),
    spec: {
      groups: [
        {
          name: fullname,
          rules: alertRules(names, values).map(({ alert, expr, for: duration, severity, summary, description }) => ({
            alert,
            expr,
            for: duration,
            labels: { severity },
            annotations: { summary, description, runbook_url: text`${values.prometheusRule.runbookUrl}#${runbookSection(alert)}` },
          })),
        },
      ],
    },
  }
}

/** The section of docs/runbook.md about an alert or a reason, as Markdown pages name sections. */
export function runbookSection(name: string): string {
  return name.toLowerCase()
}

/** The rules, from which both the object and the table in docs/operations.md are made. */
export function alertRules(names: Names, { prometheusRule: { notReadyFor, pushToApplied } }: Live<Values>): AlertRule[] {
  return [...controllerRules(names), ...objectiveRules(names, pushToApplied), ...objectRules(names, notReadyFor)]
}

/** The series of a metric, or of a part of a histogram, that this installation's ServiceMonitor collects: the Service is the job. */
function series(
  { metricsService }: Names,
  metric: ObjectMetric | ProcessMetric,
  labels: Readonly<Record<string, string>> = {},
  part: '' | '_bucket' | '_count' = '',
  ...matchers: Value<string>[]
): Value<string> {
  const selected = Object.entries({ job: metricsService, ...labels }).map(([name, value]) => text`${name}="${value}"`)
  return text`${metric}${part}{${together(',', [...selected, ...matchers])}}`
}

/**
 * The objective of pushes, by burn rates over two windows each: how many times faster than the objective allows pushes are too slow. The
 * long window keeps a single slow push from alerting, the short one ends the alert soon after the cause has gone. Factors and windows are
 * those of Google's Site Reliability Workbook, chapter 5. A push that no gateway ever ran is in none of these figures: that is
 * ClusterSyncNotReady.
 */
function objectiveRules(names: Names, { percent, seconds }: Live<Values>['prometheusRule']['pushToApplied']): AlertRule[] {
  const within = asText(seconds)
  const all = series(names, 'clustersync_push_to_applied_seconds', {}, '_count')
  // Since its third release Prometheus writes a bound of 30 as 30.0.
  const good = series(names, 'clustersync_push_to_applied_seconds', {}, '_bucket', text`le=~"${within}([.]0)?"`)
  const slowPercent = (window: string): Value<string> =>
    text`100 * (1 - sum(increase(${good}[${window}])) / sum(increase(${all}[${window}])))`
  const burning = (factor: string, long: string, short: string): Value<string> => {
    const allowed = text`${factor} * (100 - ${asText(percent)})`
    return text`${slowPercent(long)} > ${allowed} and ${slowPercent(short)} > ${allowed}`
  }
  const controller = text`${names.namespace}/${names.fullname}`
  return [
    {
      alert: 'ClusterSyncPushesSlow',
      expr: burning('14.4', '1h', '5m'),
      for: '2m',
      severity: 'critical',
      summary: 'Pushes take too long to reach the gateways.',
      description: text`In the last hour {{ $value | humanize }} percent of the pushes to ${controller} took more than ${within} s until every gateway ran them.`,
    },
    {
      alert: 'ClusterSyncPushesOftenSlow',
      expr: burning('6', '6h', '30m'),
      for: '15m',
      severity: 'warning',
      summary: 'Pushes often take too long to reach the gateways.',
      description: text`In the last six hours {{ $value | humanize }} percent of the pushes to ${controller} took more than ${within} s until every gateway ran them.`,
    },
  ]
}

function controllerRules(names: Names): AlertRule[] {
  const { fullname, namespace } = names
  const controller = text`${namespace}/${fullname}`
  const failing = (metric: 'clustersync_source_fetch_total' | 'clustersync_reconcile_total'): Value<string> =>
    text`sum by (reason) (increase(${series(names, metric, { result: 'failed' })}[15m])) > 3`
  return [
    {
      alert: 'ClusterSyncControllerAbsent',
      expr: text`absent(${series(names, 'clustersync_build_info')})`,
      for: '10m',
      severity: 'critical',
      summary: 'No controller reports.',
      description: text`Nothing is collected from ${controller}: it does not run, or the monitoring system cannot reach or read its metrics.`,
    },
    {
      alert: 'ClusterSyncNoLeader',
      expr: text`max(${series(names, 'clustersync_leader')}) == 0`,
      for: '5m',
      severity: 'critical',
      summary: 'No replica of the controller leads.',
      description: text`No replica of ${controller} holds the Lease ${fullname}, so that no change reaches a gateway.`,
    },
    {
      alert: 'ClusterSyncCertificateExpiring',
      expr: text`min(${series(names, 'clustersync_certificate_expiry_timestamp_seconds')}) - time() < ${String(daysBeforeEnd)} * 86400`,
      for: '1h',
      severity: 'critical',
      summary: `The certificate of the controller ends within ${daysBeforeEnd} days.`,
      description: text`The certificate that ${controller} serves was not renewed. Once it has ended, pods get no agent and agents no content.`,
    },
    {
      alert: 'ClusterSyncSourceFailing',
      expr: failing('clustersync_source_fetch_total'),
      for: '15m',
      severity: 'warning',
      summary: `Git hosts cannot be read: ${label('reason')}.`,
      description: text`Questions of ${controller} to git hosts keep failing with ${label('reason')}; which GatewaySyncs that concerns is in their SourceReady condition.`,
    },
    {
      alert: 'ClusterSyncReconcileFailing',
      expr: failing('clustersync_reconcile_total'),
      for: '15m',
      severity: 'warning',
      summary: `Passes over GatewaySyncs keep failing: ${label('reason')}.`,
      description: text`Passes of ${controller} keep ending with ${label('reason')}; its log names the GatewaySyncs.`,
    },
    {
      alert: 'ClusterSyncReceiverOpen',
      expr: text`max(${series(names, 'clustersync_receiver_open')}) == 1`,
      for: '15m',
      severity: 'warning',
      summary: 'The push receiver takes calls from anyone.',
      description: text`Neither webhookReceiver.hmac nor webhookReceiver.token is configured for ${controller}.`,
    },
    {
      alert: 'ClusterSyncNotificationsDropped',
      expr: text`sum by (to) (increase(${series(names, 'clustersync_notifications_total', { outcome: 'dropped' })}[1h])) > 0`,
      for: '5m',
      severity: 'warning',
      summary: `Messages to ${label('to')} were given up.`,
      description: text`${controller} could not tell ${label('to')} what became of a commit; its log says why.`,
    },
  ]
}

function objectRules(names: Names, notReadyFor: Value<string>): AlertRule[] {
  const worst = (metric: ObjectMetric, labels: Readonly<Record<string, string>> = {}): Value<string> =>
    text`max by (namespace, name) (${series(names, metric, labels)})`
  const condition = (type: ConditionType): Value<string> => worst('clustersync_condition', { type })
  const gateways = (state: keyof GatewayCounts): Value<string> => worst('clustersync_gateways', { state })
  const rollout = (state: RolloutStatus['state']): Value<string> => worst('clustersync_rollout_state', { state })
  return [
    {
      alert: 'ClusterSyncNotReady',
      expr: text`${worst('clustersync_ready')} == 0 unless ${condition('Paused')} == 1 unless ${rollout('Progressing')} == 1`,
      for: notReadyFor,
      severity: 'warning',
      summary: `GatewaySync ${object} is not ready.`,
      description: text`For ${notReadyFor}, not every gateway of ${object} has run the wanted commit; its conditions say why.`,
    },
    {
      alert: 'ClusterSyncStalled',
      expr: text`${condition('Stalled')} == 1`,
      for: '5m',
      severity: 'warning',
      summary: `GatewaySync ${object} is stalled.`,
      description: `Nothing of ${object} will move before someone changes something; its Stalled condition says what.`,
    },
    {
      alert: 'ClusterSyncRolloutFailed',
      expr: text`${rollout('Stopped')} == 1 or ${rollout('RolledBack')} == 1`,
      for: '1m',
      severity: 'warning',
      summary: `The rollout of ${object} has failed.`,
      description: `Gateways of a stage of ${object} failed with the commit, or somebody aborted its rollout; its Progressing condition says which.`,
    },
    {
      alert: 'ClusterSyncRolloutStuck',
      expr: text`time() - ${worst('clustersync_rollout_started_timestamp_seconds')} > ${String(longRolloutDays)} * 86400 and ${rollout('Progressing')} == 1`,
      for: '1h',
      severity: 'warning',
      summary: `The rollout of ${object} takes more than ${longRolloutDays} days.`,
      description: `The rollout of ${object} is not done; its Progressing condition says what it waits for, which may be an approval.`,
    },
    {
      alert: 'ClusterSyncGatewaysFailed',
      expr: text`${gateways('failed')} > 0`,
      for: '10m',
      severity: 'warning',
      summary: `Gateways of ${object} cannot take the commit.`,
      description: `{{ $value }} gateways of ${object} report a failure; their SyncReports say which.`,
    },
    {
      alert: 'ClusterSyncGatewaysBlocked',
      expr: text`${gateways('blocked')} > 0`,
      for: '30m',
      severity: 'warning',
      summary: `Gateways of ${object} refuse the commit.`,
      description: `{{ $value }} gateways of ${object} publish nothing until something changes; their SyncReports say what.`,
    },
    {
      alert: 'ClusterSyncAgentsSilent',
      expr: text`${gateways('pending')} > 0`,
      for: '30m',
      severity: 'warning',
      summary: `Agents of ${object} do not report.`,
      description: `{{ $value }} gateways of ${object} have reported neither the published commit nor a failure.`,
    },
    {
      alert: 'ClusterSyncAgentsMissing',
      expr: text`${gateways('missingAgent')} > 0`,
      for: '10m',
      severity: 'warning',
      summary: `Gateways of ${object} have no agent.`,
      description: `{{ $value }} pods of ${object} ask for an agent and run without one; they get it when they are made anew.`,
    },
    {
      alert: 'ClusterSyncDrifted',
      expr: text`${gateways('drifted')} > 0`,
      for: '1h',
      severity: 'warning',
      summary: `Files of gateways of ${object} were changed locally.`,
      description: `{{ $value }} gateways of ${object} have owned files that differ from the published commit.`,
    },
  ]
}
