/**
 * The Prometheus alerts: for GatewaySyncs that fall behind, gateways that fail or have no agent, git hosts that cannot be read, and a missing
 * controller. They use only metrics of the controller, which cover every gateway. Pure.
 */
import { type PrometheusRuleSpecGroups, PrometheusRuleSpecGroupsRulesExpr } from '../../imports/monitoring.coreos.com.js'
import type { ConditionType } from '../../runtime/api/schema/conditions.ts'
import type { RolloutStatus } from '../../runtime/api/schema/rollout-status.ts'
import type { GatewayCounts } from '../../runtime/api/schema/status.ts'
import type { ObjectMetric, ProcessMetric } from '../../runtime/telemetry/metrics/table.ts'
import type { Names } from '../names.ts'

/** From the values of `prometheusRule`, or placeholders for the chart. */
type AlertValues = {
  notReadyFor: string
  runbookURL: string
  pushToApplied: { percent: number | string; seconds: number | string }
}

type AlertRule = {
  alert: string
  expr: string
  for: string
  severity: 'critical' | 'warning'
  summary: string
  description: string
}

/** Both the controller and cert-manager renew a certificate earlier than this. */
const daysBeforeEnd = 7

/** Longer than a week, because a rollout may wait for a weekly window. */
const longRolloutDays = 8

/** Prometheus fills in the labels of the series that an alert is about. */
const label = (name: string): string => `{{ $labels.${name} }}`
const object = `${label('namespace')}/${label('name')}`

/** The groups of the PrometheusRule. */
export function alertGroups(names: Names, values: AlertValues): PrometheusRuleSpecGroups[] {
  const rules = alertRules(names, values).map(({ alert, expr, for: duration, severity, summary, description }) => ({
    alert,
    expr: PrometheusRuleSpecGroupsRulesExpr.fromString(expr),
    for: duration,
    labels: { severity },
    annotations: { summary, description, ...runbook(values, alert) },
  }))
  return [{ name: names.fullname, rules }]
}

function runbook({ runbookURL }: AlertValues, alert: string): { runbook_url?: string } {
  return runbookURL === '' ? {} : { runbook_url: `${runbookURL}#${runbookSection(alert)}` }
}

/** The anchor of an alert or a reason in docs/how-to/runbook.md. */
export function runbookSection(name: string): string {
  return name.toLowerCase()
}

/** The rules of the PrometheusRule and of the table in docs/reference/operations.md. */
export function alertRules(names: Names, { notReadyFor, pushToApplied }: AlertValues): AlertRule[] {
  return [
    ...availabilityRules(names),
    ...failureRules(names),
    ...objectiveRules(names, pushToApplied),
    ...syncRules(names, notReadyFor),
    ...gatewayRules(names),
  ]
}

/** The series of a metric, or of a part of a histogram, of this installation: its ServiceMonitor sets the label `job` to the Service name. */
function series(
  { metricsService }: Names,
  metric: ObjectMetric | ProcessMetric,
  labels: Readonly<Record<string, string>> = {},
  part: '' | '_bucket' | '_count' = '',
  ...matchers: string[]
): string {
  const selected = Object.entries({ job: metricsService, ...labels }).map(([name, value]) => `${name}="${value}"`)
  return `${metric}${part}{${[...selected, ...matchers].join(',')}}`
}

/**
 * Alerts on the burn rate of the objective for pushes: the percentage of slow pushes, divided by the percentage that the objective allows.
 * The long window prevents an alert for a single slow push; the short one ends the alert soon after the cause is gone. The factors and windows
 * are from chapter 5 of Google's Site Reliability Workbook. The values limit the objective, so that both thresholds are below 100 percent. The metric omits pushes that no gateway ever ran; ClusterSyncNotReady covers them.
 */
function objectiveRules(names: Names, { percent, seconds }: AlertValues['pushToApplied']): AlertRule[] {
  const all = series(names, 'clustersync_push_to_applied_seconds', {}, '_count')
  // Prometheus 3 and newer write the bound 30 as 30.0.
  const good = series(names, 'clustersync_push_to_applied_seconds', {}, '_bucket', `le=~"${seconds}([.]0)?"`)
  const slowPercent = (window: string): string => `100 * (1 - sum(increase(${good}[${window}])) / sum(increase(${all}[${window}])))`
  const burning = (factor: string, long: string, short: string): string => {
    const allowed = `${factor} * (100 - ${percent})`
    return `${slowPercent(long)} > ${allowed} and ${slowPercent(short)} > ${allowed}`
  }
  const controller = `${names.namespace}/${names.fullname}`
  return [
    {
      alert: 'ClusterSyncPushesSlow',
      expr: burning('14.4', '1h', '5m'),
      for: '2m',
      severity: 'critical',
      summary: 'Pushes take too long to reach the gateways.',
      description: `In the last hour {{ $value | humanize }} percent of the pushes to ${controller} took more than ${seconds} s to reach every gateway.`,
    },
    {
      alert: 'ClusterSyncPushesOftenSlow',
      expr: burning('6', '6h', '30m'),
      for: '15m',
      severity: 'warning',
      summary: 'Pushes often take too long to reach the gateways.',
      description: `In the last six hours {{ $value | humanize }} percent of the pushes to ${controller} took more than ${seconds} s to reach every gateway.`,
    },
  ]
}

/** Alerts about the controller itself. */
function availabilityRules(names: Names): AlertRule[] {
  const { fullname, namespace } = names
  const controller = `${namespace}/${fullname}`
  return [
    {
      alert: 'ClusterSyncControllerAbsent',
      expr: `absent(${series(names, 'clustersync_build_info')})`,
      for: '10m',
      severity: 'critical',
      summary: 'No controller metrics are collected.',
      description: `No metrics are collected from ${controller}: the controller is not running, or Prometheus cannot scrape it.`,
    },
    {
      alert: 'ClusterSyncNoLeader',
      expr: `max(${series(names, 'clustersync_leader')}) == 0`,
      for: '5m',
      severity: 'critical',
      summary: 'The controller has no leader.',
      description: `No replica of ${controller} holds the Lease ${fullname}, so no change reaches a gateway.`,
    },
    {
      alert: 'ClusterSyncCertificateExpiring',
      expr: `min(${series(names, 'clustersync_certificate_expiry_timestamp_seconds')}) - time() < ${daysBeforeEnd} * 86400`,
      for: '1h',
      severity: 'critical',
      summary: `The certificate of the controller expires within ${daysBeforeEnd} days.`,
      description: `The certificate that ${controller} serves was not renewed. Once it has expired, pods get no agent and agents no content.`,
    },
  ]
}

/** Alerts about failures that affect many GatewaySyncs. */
function failureRules(names: Names): AlertRule[] {
  const controller = `${names.namespace}/${names.fullname}`
  const failing = (metric: 'clustersync_source_requests_total' | 'clustersync_reconcile_total'): string =>
    `sum by (reason) (increase(${series(names, metric, { outcome: 'failed' })}[15m])) > 3`
  return [
    {
      alert: 'ClusterSyncSourceFailing',
      expr: failing('clustersync_source_requests_total'),
      for: '15m',
      severity: 'warning',
      summary: `Git hosts cannot be read: ${label('reason')}.`,
      description: `Calls from ${controller} to git hosts keep failing with ${label('reason')}; see the condition SourceReady of the affected GatewaySyncs.`,
    },
    {
      alert: 'ClusterSyncReconcileFailing',
      expr: failing('clustersync_reconcile_total'),
      for: '15m',
      severity: 'warning',
      summary: `Reconciles of GatewaySyncs keep failing: ${label('reason')}.`,
      description: `Reconciles of ${controller} keep failing with ${label('reason')}; its log names the GatewaySyncs.`,
    },
    {
      alert: 'ClusterSyncReceiverOpen',
      expr: `max(${series(names, 'clustersync_receiver_open')}) == 1`,
      for: '15m',
      severity: 'warning',
      summary: 'The webhook receiver accepts unauthenticated calls.',
      description: `Neither webhookReceiver.hmac nor webhookReceiver.token is configured for ${controller}.`,
    },
    {
      alert: 'ClusterSyncNotificationsDropped',
      expr: `sum by (type) (increase(${series(names, 'clustersync_notifications_total', { outcome: 'dropped' })}[1h])) > 0`,
      for: '5m',
      severity: 'warning',
      summary: `Messages to ${label('type')} were dropped.`,
      description: `${controller} could not report the state of a commit to ${label('type')}; its log shows the reason.`,
    },
  ]
}

/** The value of each GatewaySync; the highest one if several replicas report it. */
function maxOf(names: Names, metric: ObjectMetric, labels: Readonly<Record<string, string>> = {}): string {
  return `max by (namespace, name) (${series(names, metric, labels)})`
}

/** Alerts about the state and the rollout of a GatewaySync. */
function syncRules(names: Names, notReadyFor: string): AlertRule[] {
  const max = (metric: ObjectMetric): string => maxOf(names, metric)
  const condition = (type: ConditionType): string => maxOf(names, 'clustersync_condition', { type })
  const rollout = (state: RolloutStatus['state']): string => maxOf(names, 'clustersync_rollout_state', { state })
  return [
    {
      alert: 'ClusterSyncNotReady',
      expr: `${max('clustersync_ready')} == 0 unless ${condition('Paused')} == 1 unless ${rollout('Progressing')} == 1`,
      for: notReadyFor,
      severity: 'warning',
      summary: `GatewaySync ${object} is not ready.`,
      description: `${object} has not been ready for ${notReadyFor}: the desired commit cannot be fetched, is invalid or is not running on every gateway, or an agent is missing or out of date; see the condition Ready.`,
    },
    {
      alert: 'ClusterSyncStalled',
      expr: `${condition('Stalled')} == 1`,
      for: '5m',
      severity: 'warning',
      summary: `GatewaySync ${object} is stalled.`,
      description: `${object} cannot continue until something changes; the condition Stalled shows what.`,
    },
    {
      alert: 'ClusterSyncRolloutFailed',
      expr: `${rollout('Stopped')} == 1 or ${rollout('RolledBack')} == 1`,
      for: '1m',
      severity: 'warning',
      summary: `The rollout of ${object} has failed.`,
      description: `Gateways in a stage of ${object} could not run the commit, or a user aborted the rollout; see the condition Progressing.`,
    },
    {
      alert: 'ClusterSyncRolloutStuck',
      expr: `time() - ${max('clustersync_rollout_started_timestamp_seconds')} > ${longRolloutDays} * 86400 and ${rollout('Progressing')} == 1`,
      for: '1h',
      severity: 'warning',
      summary: `The rollout of ${object} has taken more than ${longRolloutDays} days.`,
      description: `The rollout of ${object} is not done; the condition Progressing shows what it waits for, such as an approval.`,
    },
  ]
}

/** Alerts about the gateways of a GatewaySync. */
function gatewayRules(names: Names): AlertRule[] {
  const gateways = (state: keyof GatewayCounts): string => maxOf(names, 'clustersync_gateways', { state })
  return [
    {
      alert: 'ClusterSyncGatewaysFailed',
      expr: `${gateways('failed')} > 0`,
      for: '10m',
      severity: 'warning',
      summary: `Gateways of ${object} cannot apply the commit.`,
      description: `{{ $value }} gateways of ${object} report a failure; see their SyncReports.`,
    },
    {
      alert: 'ClusterSyncGatewaysBlocked',
      expr: `${gateways('blocked')} > 0`,
      for: '30m',
      severity: 'warning',
      summary: `Gateways of ${object} refuse the commit.`,
      description: `{{ $value }} gateways of ${object} are blocked; see their SyncReports.`,
    },
    {
      alert: 'ClusterSyncAgentsSilent',
      expr: `${gateways('pending')} > 0`,
      for: '30m',
      severity: 'warning',
      summary: `Gateways of ${object} have been pending for 30 minutes.`,
      description: `{{ $value }} gateways of ${object} have reported neither the published commit nor a failure.`,
    },
    {
      alert: 'ClusterSyncAgentsMissing',
      expr: `${gateways('missingAgent')} > 0`,
      for: '10m',
      severity: 'warning',
      summary: `Gateways of ${object} have no agent.`,
      description: `{{ $value }} pods of ${object} request an agent but have no working one; recreate them.`,
    },
    {
      alert: 'ClusterSyncDrifted',
      expr: `${gateways('drifted')} > 0`,
      for: '1h',
      severity: 'warning',
      summary: `Files on gateways of ${object} were changed locally.`,
      description: `{{ $value }} gateways of ${object} have managed files that differ from the published commit.`,
    },
  ]
}
