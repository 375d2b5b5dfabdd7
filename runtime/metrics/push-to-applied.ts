/**
 * How long a change took from its push, and from its publication, until every gateway ran it: computed from two successive statuses of one
 * GatewaySync. Pure.
 */
import type { GatewaySyncStatus } from '../gatewaysync/schema/status.ts'

/** Seconds; undefined when there is nothing to measure. */
export type Applied = { sincePublish: number | undefined; sincePush: number | undefined }

/**
 * Undefined unless the GatewaySync became ready just now, with another commit than the last one that it was ready with. A status without a
 * predecessor measures nothing, for it may be old.
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
