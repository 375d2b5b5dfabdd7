/**
 * How each gateway is, seen from what is rolled out: whether it has it, is on the way, cannot take it, or takes no part. Pure.
 */
import { type Reason, reasons } from '../../fault.ts'
import { type CheckQuestion, questionOf } from '../rollout/check-question.ts'
import { type CheckRecord, type RememberedCheck, standingOf } from '../check-record.ts'
import { podAnnotations } from '../names.ts'
import type { GatewayProgress, Target } from '../rollout/facts.ts'
import { shortSyncHash } from '../rollout/turn.ts'
import type { SyncDefaults } from '../schema/spec.ts'
import { defaultProfileName } from './profile.ts'
import type { Gateway, GatewayPod, GatewayReport } from './gateways.ts'

/**
 * `gateways` as they are counted for the target. `since`: when the rollout began that is under way, so that what has become of a gateway that
 * took something in it counts. `check`: what gateways of a profile are to pass, and `answers` what is known of what the controller asks, by
 * pod; `paused`: whether they write nothing.
 */
export function progressOf(
  gateways: readonly Gateway[],
  pods: readonly GatewayPod[],
  reports: ReadonlyMap<string, GatewayReport>,
  context: Context,
): GatewayProgress[] {
  const { target, since, paused } = context
  const byName = new Map(pods.map((pod) => [pod.name, pod]))
  return gateways.map((gateway): GatewayProgress => {
    const pod = byName.get(gateway.pod)
    const name = pod?.annotations[podAnnotations.gatewayName]
    const staged = { pod: gateway.pod, name: name === undefined || name === '' ? gateway.pod : name, labels: pod?.labels ?? {} }
    const { state, reason = 'Unexpected' } = gateway
    if (state === 'synced' || state === 'drifted') {
      const harm = since === undefined ? undefined : harmOf(pod, reports.get(gateway.pod), since)
      if (harm !== undefined) return { ...staged, progress: 'failed', reason: harm }
      return { ...staged, ...checkOf(pod, reports.get(gateway.pod), staged.name, context) }
    }
    // Until its agent has seen that a pause is over, its report tells of the pause: nobody may take that for leave to go on without it.
    const isOff = state === 'paused' && paused(pod?.annotations[podAnnotations.profile] ?? defaultProfileName)
    if (isOff || state === 'dryRun') return { ...staged, progress: 'excluded' }
    // Nobody has chosen that it takes no part: without it, a stage that is to try the commit might end before anything has.
    if (state === 'missingAgent') return { ...staged, progress: 'moving', lacks: reason, isBare: true }
    const isFailed = state === 'failed' || state === 'blocked'
    if (!isFailed || !isAbout(reports.get(gateway.pod), target)) return { ...staged, progress: 'moving' }
    // Somebody changed files on this one gateway, which says nothing about the commit.
    if (reason === ('LocalChanges' satisfies Reason)) return { ...staged, progress: 'held' }
    if (isLasting(reason)) return { ...staged, progress: 'failed', reason }
    return { ...staged, progress: 'moving' }
  })
}

type Context = {
  target: Target
  since: string | undefined
  check(profile: string): SyncDefaults['check']
  answers: ReadonlyMap<string, RememberedCheck>
  nowMs: number
  paused(profile: string): boolean
}

type Checked = { asks?: CheckQuestion } & (
  { progress: 'updated' } | { progress: 'moving'; lacks: Reason; why?: string } | { progress: 'failed'; reason: Reason; why?: string }
)

/** A gateway that has everything is updated once it has passed what is asked of it: by its agent first, then by the controller. */
function checkOf(
  pod: GatewayPod | undefined,
  report: GatewayReport | undefined,
  name: string,
  { check, answers, target: { version, configurations }, nowMs }: Context,
): Checked {
  const profile = pod?.annotations[podAnnotations.profile] ?? defaultProfileName
  const wanted = check(profile)
  const told = wanted?.http === undefined ? ('Passed' as const) : report?.status?.check
  if (told !== 'Passed' || wanted?.prometheus === undefined || pod === undefined) return checkedAs(told)
  const configuration = (Object.hasOwn(configurations, profile) ? configurations[profile] : undefined) ?? ''
  const asks = questionOf(wanted.prometheus, { pod: pod.name, name, namespace: pod.namespace, commit: version.commit, configuration })
  if (asks === undefined) return checkedAs('Unknown', 'its name cannot stand in a query')
  const known = answers.get(pod.name)
  const { state, why } = known?.about === asks.about ? standingOf(known.record, nowMs) : { state: undefined, why: undefined }
  return { asks, ...checkedAs(state, why) }
}

function checkedAs(state: CheckRecord['state'] | undefined, why?: string): Checked {
  const words = why === undefined ? {} : { why }
  if (state === 'Failed') return { progress: 'failed', reason: 'HealthCheckFailed', ...words }
  return state === 'Passed' ? { progress: 'updated' } : { progress: 'moving', lacks: 'HealthCheckUnanswered', ...words }
}

/** By so much the clock of a gateway's node may be behind ours. */
const clockSlackMs = 60_000
/** A process that ends later does so for another reason. */
const restartWatchedSeconds = 3_600

/** What the commit has done to a gateway that took it in this rollout: complaints that it did not have before, or an end of its process. */
function harmOf(pod: GatewayPod | undefined, report: GatewayReport | undefined, rolloutSince: string): Reason | undefined {
  const health = report?.status?.health
  if (health === undefined || Date.parse(health.since) < Date.parse(rolloutSince) - clockSlackMs) return undefined
  if (health.newProblem !== undefined) return 'NewProblems'
  const endedAt = pod?.gatewayEndedAt
  if (endedAt === undefined) return undefined
  // A pod tells whole seconds.
  const [ended, since] = [Date.parse(endedAt), Date.parse(health.since)].map((ms) => Math.floor(ms / 1000))
  if (ended === undefined || since === undefined) return undefined
  return ended >= since && ended - since <= restartWatchedSeconds ? 'GatewayRestarted' : undefined
}

/**
 * Whether nobody should wait for the gateway to come round by itself. What is tried again (a controller that is away, a gateway that starts) is
 * waited for until the deadline; a scan that fails is what a bad commit looks like.
 */
function isLasting(reason: string): boolean {
  if (reason === ('ScanFailed' satisfies Reason)) return true
  return Object.hasOwn(reasons, reason) && reasons[reason as Reason].retry === 'on-change'
}

/** Whether a gateway tells of this very target and not of what it was asked for before. */
function isAbout(report: GatewayReport | undefined, { version, configurations }: Target): boolean {
  const attempt = report?.status?.attempt
  if (attempt?.commit !== version.commit) return false
  return Object.values(configurations).includes(shortSyncHash(attempt.syncHash))
}
