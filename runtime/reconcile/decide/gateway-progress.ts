/**
 * Computes the rollout progress of each gateway: updated, moving, held, failed or excluded. Pure.
 */
import { type Reason, reasons } from '../../platform/fault.ts'
import { type CheckQuestion, questionOf } from '../rollout/check-question.ts'
import { type CheckRecord, type StoredCheck, stateAt } from '../../api/check-record.ts'
import { gatewayNameOf, podAnnotations } from '../../api/names.ts'
import type { GatewayProgress, Target } from '../rollout/facts.ts'
import { shortSyncHash } from '../rollout/stage-admission.ts'
import type { SyncDefaults } from '../../api/schema/spec.ts'
import { defaultProfileName } from '../../api/schema/profile.ts'
import type { Gateway, GatewayPod, GatewayReport, Reports } from './gateways.ts'

/**
 * `gateways` are counted against the target. `since`: start of the current rollout; problems of gateways that took the commit since then
 * count. `check`: the health check of gateways of a profile; `answers`: known results of the controller's queries by pod; `paused`: whether
 * gateways of a profile write nothing.
 */
export function progressOf(
  gateways: readonly Gateway[],
  pods: readonly GatewayPod[],
  reports: Reports,
  context: Context,
): GatewayProgress[] {
  const { target, since, paused } = context
  const byName = new Map(pods.map((pod) => [pod.name, pod]))
  return gateways.map((gateway): GatewayProgress => {
    const pod = byName.get(gateway.pod)
    const staged = { pod: gateway.pod, name: pod === undefined ? gateway.pod : gatewayNameOf(pod), labels: pod?.labels ?? {} }
    const { state, reason = 'Unexpected' } = gateway
    if (state === 'synced' || state === 'drifted') {
      const harm = since === undefined ? undefined : harmOf(pod, reports.get(gateway.pod), since)
      if (harm !== undefined) return { ...staged, progress: 'failed', reason: harm }
      return { ...staged, ...checkOf(pod, reports.get(gateway.pod), staged.name, context) }
    }
    // Until the agent has observed the end of a pause, its report still says paused; the rollout must not skip it for that reason.
    const isOff = state === 'paused' && paused(pod?.annotations[podAnnotations.profile] ?? defaultProfileName)
    if (isOff || state === 'dryRun') return { ...staged, progress: 'excluded' }
    // A missing agent is not an exclusion: without it, a stage could finish before any gateway has tried the commit.
    if (state === 'missingAgent') return { ...staged, progress: 'moving', lacks: reason, hasNoAgent: true }
    const isFailed = state === 'failed' || state === 'blocked'
    if (!isFailed || !isAbout(reports.get(gateway.pod), target)) return { ...staged, progress: 'moving' }
    // Local changes on one gateway say nothing about the commit.
    if (reason === ('LocalChanges' satisfies Reason)) return { ...staged, progress: 'held' }
    if (isLasting(reason)) return { ...staged, progress: 'failed', reason }
    return { ...staged, progress: 'moving' }
  })
}

type Context = {
  target: Target
  since: string | undefined
  check(profile: string): SyncDefaults['healthCheck']
  answers: ReadonlyMap<string, StoredCheck>
  nowMs: number
  paused(profile: string): boolean
}

type Checked = { question?: CheckQuestion } & (
  { progress: 'updated' } | { progress: 'moving'; lacks: Reason; why?: string } | { progress: 'failed'; reason: Reason; why?: string }
)

/** A gateway that has everything counts as updated once it passes its checks: the agent's first, then the controller's. */
function checkOf(
  pod: GatewayPod | undefined,
  report: GatewayReport | undefined,
  name: string,
  { check, answers, target: { version, configurations }, nowMs }: Context,
): Checked {
  const profile = pod?.annotations[podAnnotations.profile] ?? defaultProfileName
  const desired = check(profile)
  const answer = desired?.http === undefined ? ('Passed' as const) : report?.status?.healthCheck
  if (answer !== 'Passed' || desired?.prometheus === undefined || pod === undefined) return checkedAs(answer)
  const configuration = (Object.hasOwn(configurations, profile) ? configurations[profile] : undefined) ?? ''
  const question = questionOf(desired.prometheus, { pod: pod.name, name, namespace: pod.namespace, commit: version.commit, configuration })
  if (question === undefined) return checkedAs('Unknown', 'its name cannot be used in a query')
  const known = answers.get(pod.name)
  const { state, why } = known?.about === question.about ? stateAt(known.record, nowMs) : { state: undefined, why: undefined }
  return { question, ...checkedAs(state, why) }
}

function checkedAs(state: CheckRecord['state'] | undefined, why?: string): Checked {
  const details = why === undefined ? {} : { why }
  if (state === 'Failed') return { progress: 'failed', reason: 'HealthCheckFailed', ...details }
  return state === 'Passed' ? { progress: 'updated' } : { progress: 'moving', lacks: 'HealthCheckUnanswered', ...details }
}

/** Tolerated clock difference between a gateway's node and the controller. */
const clockSlackMs = 60_000
/** A process that exits later did so for another reason. */
const restartWatchedSeconds = 3_600

/** Returns the harm a commit did to a gateway that took it in this rollout: new problems, or an exit of its process. */
function harmOf(pod: GatewayPod | undefined, report: GatewayReport | undefined, rolloutSince: string): Reason | undefined {
  const health = report?.status?.health
  if (health === undefined || Date.parse(health.since) < Date.parse(rolloutSince) - clockSlackMs) return undefined
  if (health.newProblem !== undefined) return 'NewProblems'
  const endedAt = pod?.gatewayEndedAt
  if (endedAt === undefined) return undefined
  // Pod times have whole seconds.
  const [ended, since] = [Date.parse(endedAt), Date.parse(health.since)].map((ms) => Math.floor(ms / 1000))
  if (ended === undefined || since === undefined) return undefined
  return ended >= since && ended - since <= restartWatchedSeconds ? 'GatewayRestarted' : undefined
}

/**
 * Whether a failure is permanent. Temporary ones (controller unavailable, gateway starting) are waited for until the deadline; a failed
 * scan indicates a bad commit.
 */
function isLasting(reason: string): boolean {
  if (reason === ('ScanFailed' satisfies Reason)) return true
  return Object.hasOwn(reasons, reason) && reasons[reason as Reason].retry === 'on-change'
}

/** Whether a report is about this target and not an earlier one. */
function isAbout(report: GatewayReport | undefined, { version, configurations }: Target): boolean {
  const attempt = report?.status?.attempt
  if (attempt?.commit !== version.commit) return false
  return Object.values(configurations).includes(shortSyncHash(attempt.syncHash))
}
