/**
 * The metrics of each GatewaySync, made from the statuses at each scrape: no series is kept between scrapes, so a thousand objects cost
 * nothing in between and no series outlives its object. Pure.
 */
import { abnormalConditions, normalConditions, rolloutConditions } from '../gatewaysync/decide/conditions.ts'
import { type RolloutStatus, rolloutStates } from '../gatewaysync/schema/rollout-status.ts'
import type { GatewaySyncStatus } from '../gatewaysync/schema/status.ts'
import { type ObjectMetric, objectMetrics } from './table.ts'
import { family, type Labels, type Sample } from './text.ts'

type ObjectSample = { metric: ObjectMetric; labels: Labels; value: number }

/** Text exposition format 0.0.4. Keys are `<namespace>/<name>`. */
export function exposeObjects(statuses: ReadonlyMap<string, GatewaySyncStatus>): string {
  const samples = new Map<string, Sample[]>(Object.keys(objectMetrics).map((metric) => [metric, []]))
  for (const [key, status] of statuses) {
    const [namespace = '', name = ''] = key.split('/')
    for (const { metric, labels, value } of samplesOf(status)) samples.get(metric)?.push({ labels: { namespace, name, ...labels }, value })
  }
  return `${Object.entries(objectMetrics)
    .flatMap(([name, metric]) => family(name, metric, samples.get(name) ?? []))
    .join('\n')}\n`
}

function samplesOf(status: GatewaySyncStatus): ObjectSample[] {
  const { conditions = [], gateways, findings, published, source, rollout } = status
  const isTrue = (type: string): number => (conditions.some((condition) => condition.type === type && condition.status === 'True') ? 1 : 0)
  const { total: _total, ...states } = gateways === undefined ? { total: 0 } : { waiting: 0, ...gateways }
  return [
    sample('clustersync_ready', isTrue('Ready')),
    ...[...normalConditions, ...abnormalConditions, ...rolloutConditions].map((type) =>
      sample('clustersync_condition', isTrue(type), { type }),
    ),
    ...Object.entries(states).map(([state, count]) => sample('clustersync_gateways', count ?? 0, { state })),
    sample('clustersync_outdated_agents', status.outdatedAgents ?? 0),
    sample('clustersync_findings', findings?.errors ?? 0, { severity: 'error' }),
    sample('clustersync_findings', findings?.warnings ?? 0, { severity: 'warning' }),
    ...(published === undefined ? [] : publishedSamples(status, published)),
    ...timeSample('clustersync_source_checked_timestamp_seconds', source?.checkedAt),
    ...(rollout === undefined ? [] : rolloutSamples(rollout)),
  ]
}

function publishedSamples({ source }: GatewaySyncStatus, published: NonNullable<GatewaySyncStatus['published']>): ObjectSample[] {
  const verified = source?.commit === published.commit && source.verified !== undefined
  return [
    sample('clustersync_published_info', 1, { verified: String(verified) }),
    ...timeSample('clustersync_published_timestamp_seconds', published.at),
  ]
}

function rolloutSamples({ state, stage, stages = [], startedAt }: RolloutStatus): ObjectSample[] {
  const isAtWork = state === 'Progressing' || state === 'Stopped'
  return [
    ...rolloutStates.map((each) => sample('clustersync_rollout_state', each === state ? 1 : 0, { state: each })),
    sample('clustersync_rollout_stage', isAtWork ? stages.findIndex(({ name }) => name === stage) + 1 : 0),
    sample(
      'clustersync_rollout_failed_gateways',
      stages.reduce((sum, { failed }) => sum + failed, 0),
    ),
    ...timeSample('clustersync_rollout_started_timestamp_seconds', startedAt),
  ]
}

function sample(metric: ObjectMetric, value: number, labels: Labels = {}): ObjectSample {
  return { metric, labels, value }
}

function timeSample(metric: ObjectMetric, time: string | undefined): ObjectSample[] {
  const ms = time === undefined ? Number.NaN : Date.parse(time)
  return Number.isNaN(ms) ? [] : [sample(metric, ms / 1000)]
}
