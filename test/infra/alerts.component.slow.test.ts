/**
 * Each alert in promtool's rule tests: it fires once its condition has lasted, has the expected texts, and ends with the condition. It is
 * quiet before, and for unrelated series.
 */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { temporaryFolder } from '../support/repository.ts'
import { requires } from '../support/requires.ts'
import { everything, fullname, objectsOf, one } from './installed.ts'

const { rules } = one(objectsOf(everything), 'PrometheusRule').spec.groups[0]
const job = `${fullname}-metrics`

/**
 * Values by the minute, in promtool's notation: `1x9` is a value with nine repetitions. Times are minutes: `quiet` before and after, and
 * `fires`. `labels` are those of the alert besides its severity, `value` is the value of the expression while it fires.
 */
type Case = {
  series: Readonly<Record<string, string>>
  quiet: readonly number[]
  fires: readonly number[]
  labels: Readonly<Record<string, string>>
  value: number
}

const objectLabels = { namespace: 'plant', name: 'line' }
const gateways = (state: string, from: number): Case => ({
  series: {
    [`clustersync_gateways{state="${state}",namespace="plant",name="line"}`]: '0x9 2x99 0x99',
    [`clustersync_gateways{state="synced",namespace="plant",name="line"}`]: '5x300',
  },
  quiet: [9, from - 2, 115],
  fires: [105],
  labels: objectLabels,
  value: 2,
})

const cases: Readonly<Record<string, Case>> = {
  ClusterSyncControllerAbsent: {
    series: { 'clustersync_build_info{version="1"}': '1x9 stale _x39 1x30' },
    quiet: [9, 18, 55],
    fires: [35],
    labels: { job },
    value: 1,
  },
  ClusterSyncNoLeader: {
    // Two replicas: it is enough that one of them leads.
    series: {
      'clustersync_leader{pod="a"}': '1x9 0x29 0x30',
      'clustersync_leader{pod="b"}': '0x9 0x29 1x30',
    },
    quiet: [9, 13, 50],
    fires: [30],
    labels: {},
    value: 0,
  },
  ClusterSyncCertificateExpiring: {
    // Expires seven days and an hour after the start; a new one is served later.
    series: { clustersync_certificate_expiry_timestamp_seconds: '608400x199 9000000x30' },
    quiet: [30, 100, 210],
    fires: [180],
    labels: {},
    value: 608_400 - 180 * 60,
  },
  ClusterSyncSourceFailing: {
    series: {
      'clustersync_source_requests_total{outcome="failed",reason="GitTimeout"}': '0x9 0+1x60 60x60',
      'clustersync_source_requests_total{outcome="ok",reason=""}': '0+5x130',
    },
    quiet: [9, 20, 100],
    fires: [50],
    labels: { reason: 'GitTimeout' },
    value: 15,
  },
  ClusterSyncReconcileFailing: {
    series: {
      'clustersync_reconcile_total{outcome="failed",reason="Forbidden"}': '0x9 0+1x60 60x60',
      'clustersync_reconcile_total{outcome="ok",reason=""}': '0+5x130',
    },
    quiet: [9, 20, 100],
    fires: [50],
    labels: { reason: 'Forbidden' },
    value: 15,
  },
  ClusterSyncReceiverOpen: {
    series: { clustersync_receiver_open: '0x9 1x39 0x30' },
    quiet: [9, 20, 60],
    fires: [40],
    labels: {},
    value: 1,
  },
  ClusterSyncNotificationsDropped: {
    series: {
      'clustersync_notifications_total{type="github",outcome="dropped"}': '0x9 0+1x4 4x140',
      'clustersync_notifications_total{type="github",outcome="retried"}': '0+1x150',
      'clustersync_notifications_total{type="gitlab",outcome="sent"}': '0+1x150',
    },
    quiet: [9, 12, 120],
    fires: [40],
    labels: { type: 'github' },
    value: 4,
  },
  ClusterSyncPushesSlow: {
    // A push a minute; for an hour all of them are too slow.
    series: {
      'clustersync_push_to_applied_seconds_bucket{le="30"}': '0+1x180 180x60 180+1x100',
      clustersync_push_to_applied_seconds_count: '0+1x341',
    },
    quiet: [150, 183, 260],
    fires: [240],
    labels: {},
    value: 100,
  },
  ClusterSyncPushesOftenSlow: {
    // Ten pushes a minute with a slow one each for hours: too few for the alert above, too many for the objective.
    series: {
      'clustersync_push_to_applied_seconds_bucket{le="30.0"}': '0+10x60 600+9x480 4920+10x100',
      clustersync_push_to_applied_seconds_count: '0+10x640',
    },
    quiet: [59, 100, 600],
    fires: [500],
    labels: {},
    value: 10,
  },
  ClusterSyncNotReady: {
    series: {
      'clustersync_ready{namespace="plant",name="line"}': '1x9 0x59 1x60',
      // A paused GatewaySync.
      'clustersync_ready{namespace="plant",name="paused"}': '0x130',
      'clustersync_condition{type="Paused",namespace="plant",name="paused"}': '1x130',
      'clustersync_condition{type="Paused",namespace="plant",name="line"}': '0x130',
      // A GatewaySync whose gateways wait for their stage.
      'clustersync_ready{namespace="plant",name="staged"}': '0x130',
      'clustersync_rollout_state{state="Progressing",namespace="plant",name="staged"}': '1x130',
      'clustersync_rollout_state{state="Progressing",namespace="plant",name="line"}': '0x130',
    },
    quiet: [9, 35, 80],
    fires: [60],
    labels: objectLabels,
    value: 0,
  },
  ClusterSyncStalled: {
    series: {
      'clustersync_condition{type="Stalled",namespace="plant",name="line"}': '0x9 1x39 0x60',
      'clustersync_condition{type="Reconciling",namespace="plant",name="line"}': '1x110',
    },
    quiet: [9, 13, 60],
    fires: [40],
    labels: objectLabels,
    value: 1,
  },
  ClusterSyncRolloutFailed: {
    series: {
      'clustersync_rollout_state{state="Stopped",namespace="plant",name="line"}': '0x9 1x39 0x100',
      'clustersync_rollout_state{state="RolledBack",namespace="plant",name="line"}': '0x69 1x29 0x50',
    },
    quiet: [9, 60, 110],
    fires: [40, 90],
    labels: objectLabels,
    value: 1,
  },
  ClusterSyncRolloutStuck: {
    series: {
      'clustersync_rollout_started_timestamp_seconds{namespace="plant",name="line"}': '0x12000',
      'clustersync_rollout_state{state="Progressing",namespace="plant",name="line"}': '1x11700 0x300',
    },
    quiet: [11_000, 11_560, 11_800],
    fires: [11_600],
    labels: objectLabels,
    value: 11_600 * 60,
  },
  ClusterSyncGatewaysFailed: gateways('failed', 20),
  ClusterSyncGatewaysBlocked: gateways('blocked', 40),
  ClusterSyncAgentsSilent: gateways('pending', 40),
  ClusterSyncAgentsMissing: gateways('missingAgent', 20),
  ClusterSyncDrifted: gateways('drifted', 70),
}

/** Replaces template expressions like Prometheus does in annotations. */
function filled(text: string, { labels, value }: Case): string {
  return text
    .replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_whole, name: string) => labels[name] ?? '')
    .replaceAll('{{ $value }}', String(value))
    .replaceAll('{{ $value | humanize }}', String(Number(value.toPrecision(4))))
}

void t.test('every alert has a case', (t) => {
  t.strictSame(
    Object.keys(cases),
    rules.map(({ alert }) => alert),
  )
  for (const [alert, { quiet, fires }] of Object.entries(cases)) {
    t.ok(Math.min(...quiet) < Math.min(...fires), `${alert} is quiet before`)
    t.ok(Math.max(...quiet) > Math.max(...fires), `${alert} ends`)
  }
  t.end()
})

void t.test('each alert fires with its texts and ends', { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'promtool')) return
  const folder = temporaryFolder(t, 'alerts')
  for (const rule of rules) {
    const known = cases[rule.alert]
    if (known === undefined) continue
    const { series, quiet, fires, labels } = known
    const annotations = Object.fromEntries(Object.entries(rule.annotations).map(([name, text]) => [name, filled(text, known)]))
    const expected = [{ exp_labels: { severity: rule.labels.severity, ...labels }, exp_annotations: annotations }]
    const at = (minute: number, exp_alerts: object[]): object => ({ eval_time: `${minute}m`, alertname: rule.alert, exp_alerts })
    const test = {
      interval: '1m',
      input_series: Object.entries(series).map(([name, values]) => ({ series: withJob(name), values })),
      alert_rule_test: [...quiet.map((minute) => at(minute, [])), ...fires.map((minute) => at(minute, expected))],
    }
    const [rulesFile, file] = [path.join(folder, `${rule.alert}-rule.yml`), path.join(folder, `${rule.alert}.yml`)]
    writeFileSync(rulesFile, JSON.stringify({ groups: [{ name: 'one', rules: [rule] }] }))
    writeFileSync(file, JSON.stringify({ rule_files: [rulesFile], evaluation_interval: '1m', tests: [test] }))
    const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8', timeout: 60_000 })
    t.equal(status, 0, status === 0 ? rule.alert : `${rule.alert}\n${stdout}${stderr}`)
  }
})

/** Every metric is collected by the ServiceMonitor, whose job is the Service. */
function withJob(series: string): string {
  const [name = '', rest = ''] = series.split('{')
  return `${name}{job="${job}"${rest === '' ? '}' : `,${rest}`}`
}
