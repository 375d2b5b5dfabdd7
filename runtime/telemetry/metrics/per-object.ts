/**
 * Generates the metrics of each GatewaySync from the statuses at each scrape: no series is kept between scrapes, so a thousand objects cost
 * nothing in between and no series outlives its object. The text comes in pieces, because as a whole it would be megabytes. Also
 * measures from two successive statuses how long a change took from its push, and from its publication, until every gateway ran it. Pure.
 */
import { abnormalConditions, normalConditions, rolloutConditions } from '../../api/schema/conditions.ts'
import { isUnderWay, rolloutStates } from '../../api/schema/rollout-status.ts'
import type { GatewaySyncStatus } from '../../api/schema/status.ts'
import type { Temporal } from '../../platform/temporal.ts'
import { type ObjectMetric, objectMetrics } from './table.ts'
import { heading, labelPairs, type Sample } from './exposition.ts'

/** Objects per piece: about 20 KiB of text. */
const objectsOfPiece = 100

const conditionTypes = [...normalConditions, ...abnormalConditions, ...rolloutConditions]

/** The samples of each metric for a status; may be empty. */
const samplers: Record<ObjectMetric, (status: GatewaySyncStatus) => readonly Sample[]> = {
  clustersync_ready: (status) => [{ value: isTrue(status, 'Ready') }],
  clustersync_condition: (status) => conditionTypes.map((type) => ({ labels: { type }, value: isTrue(status, type) })),
  clustersync_gateways({ gateways }) {
    if (gateways === undefined) return []
    const { total: _total, ...states } = { waiting: 0, ...gateways }
    return Object.entries(states).map(([state, value = 0]) => ({ labels: { state }, value }))
  },
  clustersync_outdated_agents: ({ outdatedAgents = 0 }) => [{ value: outdatedAgents }],
  clustersync_findings: ({ findings }) => [
    { labels: { severity: 'error' }, value: findings?.errors ?? 0 },
    { labels: { severity: 'warning' }, value: findings?.warnings ?? 0 },
  ],
  clustersync_published_info({ published, source }) {
    if (published === undefined) return []
    const verified = source?.commit === published.commit && source.verified !== undefined
    return [{ labels: { verified: String(verified) }, value: 1 }]
  },
  clustersync_published_timestamp_seconds: ({ published }) => timeSample(published?.at),
  clustersync_source_checked_timestamp_seconds: ({ source }) => timeSample(source?.checkedAt),
  clustersync_rollout_state: ({ rollout }) =>
    rollout === undefined ? [] : rolloutStates.map((state) => ({ labels: { state }, value: rollout.state === state ? 1 : 0 })),
  clustersync_rollout_stage({ rollout }) {
    if (rollout === undefined) return []
    const { stage, stages = [] } = rollout
    return [{ value: isUnderWay(rollout) ? stages.findIndex(({ name }) => name === stage) + 1 : 0 }]
  },
  clustersync_rollout_failed_gateways: ({ rollout }) =>
    rollout === undefined ? [] : [{ value: (rollout.stages ?? []).reduce((sum, { failed }) => sum + failed, 0) }],
  clustersync_rollout_started_timestamp_seconds: ({ rollout }) => timeSample(rollout?.startedAt),
}

/** Text exposition format 0.0.4; all are gauges, so it is valid OpenMetrics too. Keys are `<namespace>/<name>`. */
export function* exposeObjects(statuses: readonly (readonly [string, GatewaySyncStatus])[]): Generator<string> {
  const objects = statuses.map(([key, status]) => {
    const [namespace = '', name = ''] = key.split('/')
    return { own: labelPairs({ namespace, name }), status }
  })
  for (const [name, metric] of Object.entries(objectMetrics)) {
    yield heading(name, metric)
    const samples = samplers[name as ObjectMetric]
    for (let at = 0; at < objects.length; at += objectsOfPiece) {
      let text = ''
      for (const { own, status } of objects.slice(at, at + objectsOfPiece)) {
        for (const { labels, value } of samples(status)) {
          const more = labels === undefined ? '' : `,${labelPairs(labels)}`
          text += `${name}{${own}${more}} ${value}\n`
        }
      }
      if (text !== '') yield text
    }
  }
}

function isTrue({ conditions = [] }: GatewaySyncStatus, type: string): number {
  return conditions.some((condition) => condition.type === type && condition.status === 'True') ? 1 : 0
}

function timeSample(time: string | undefined): Sample[] {
  const ms = time === undefined ? Number.NaN : Date.parse(time)
  return Number.isNaN(ms) ? [] : [{ value: ms / 1000 }]
}

/** Seconds; undefined when there is nothing to measure. */
type Applied = { sincePublish: number | undefined; sincePush: number | undefined }

/**
 * Undefined unless the GatewaySync became ready just now, with another commit than the last one that it was ready with. A status without a
 * predecessor measures nothing, because it may be old.
 */
export function measureApplied(
  before: GatewaySyncStatus | undefined,
  after: GatewaySyncStatus,
  lastApplied: string | undefined,
  now: Temporal.Instant,
): Applied | undefined {
  const { published, source } = after
  if (before === undefined || published === undefined || isReady(before) || !isReady(after)) return undefined
  if (published.commit === lastApplied) return undefined
  const pushed = source?.requested !== undefined && source.commit === published.commit ? source.requested.at : undefined
  return { sincePublish: secondsSince(published.at, now), sincePush: secondsSince(pushed, now) }
}

/** Whether every gateway runs the published commit. */
export function isReady({ conditions = [] }: GatewaySyncStatus): boolean {
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True')
}

/** Clocks of two machines may differ a little, so a negative duration counts as zero. */
function secondsSince(time: string | undefined, now: Temporal.Instant): number | undefined {
  const ms = time === undefined ? Number.NaN : Date.parse(time)
  return Number.isNaN(ms) ? undefined : Math.max(0, (now.epochMilliseconds - ms) / 1000)
}
