/**
 * Determines which gateways follow a GatewaySync, and the state of each, from pods and SyncReports. The counts add up to the total. A
 * report counts only for a live pod with its uid. Pure.
 */
import * as v from 'valibot'
import type { Reason } from '../../platform/fault.ts'
import type { CheckRecord } from '../../api/check-record.ts'
import { podAnnotations } from '../../api/names.ts'
import { isWaiting } from '../rollout/stage-admission.ts'
import { type ReportBounds, type ReportDetails, reportDetails } from './report-details.ts'
import { defaultProfileName, desiredHash } from '../../api/schema/profile.ts'
import { folderUnverifiedRule, startedWithoutCommitRule, syncReportStatus, type SyncReportStatus } from '../../api/schema/report.ts'
import type { RolloutStatus } from '../../api/schema/rollout-status.ts'
import { gatewaySyncSpec, type GatewaySyncSpec } from '../../api/schema/spec.ts'
import type { GatewayCounts } from '../../api/schema/status.ts'
import { withoutDefaults } from '../../api/without-defaults.ts'

/** The projection of a pod that requested an agent. */
export type GatewayPod = {
  namespace: string
  name: string
  uid: string
  /** Only the project's annotations. */
  annotations: Readonly<Record<string, string>>
  /** Rollout stages select by these. */
  labels: Readonly<Record<string, string>>
  /** Whether the pod has the agent's container. */
  injected: boolean
  terminating: boolean
  /** Why the agent's container is not running; undefined while it runs or its state is unknown. */
  agentDown: string | undefined
  /** When the gateway's container last exited while its pod stayed; absent: never. */
  gatewayEndedAt?: string
}

/** The part of a report's status that decisions need. The rest may be hundreds of kilobytes per gateway. */
export type ReportedState = Pick<
  SyncReportStatus,
  'phase' | 'commit' | 'syncHash' | 'mode' | 'attempt' | 'reason' | 'message' | 'agentVersion' | 'ignoredFields'
> & {
  /** The gateway was allowed to start although its volume held no complete commit. */
  startedWithoutCommit: boolean
  /** Why the data directory may match no commit; absent: it was verified. */
  unverified?: string
  /** Health since the gateway took the commit: start time, and the first new problem. */
  health?: { since: string; newProblem?: string }
  /** State of the profile's health check. */
  healthCheck?: CheckRecord['state']
}

/** The projection of a SyncReport; `status` is undefined when absent or malformed. */
export type GatewayReport = {
  podUid: string
  status: ReportedState | undefined
  malformed: boolean
  /** Only for display. */
  details?: ReportDetails
}

/** Reports by the name of their pod. */
export type Reports = Pick<ReadonlyMap<string, GatewayReport>, 'get'>

/** A gateway is in exactly one of these states, which are the counters of `status.gateways`. */
export type GatewayState = Exclude<keyof GatewayCounts, 'total'>

/** One gateway of a GatewaySync. */
export type Gateway = {
  pod: string
  state: GatewayState
  /** Why it is not synced: reason and message. */
  reason: string | undefined
  message: string | undefined
  commit: string | undefined
  mode: string | undefined
  /** Why the data directory may match no commit. */
  unverified?: string
}

/**
 * Reads a SyncReport's status; a malformed one affects no other gateway. `bounds` limits the details kept for display (default: none).
 * Never throws.
 */
export function parseReport(podUid: unknown, status: unknown, bounds?: ReportBounds): GatewayReport {
  if (typeof podUid !== 'string') return { podUid: '', status: undefined, malformed: true }
  if (status === undefined) return { podUid, status: undefined, malformed: false }
  const parsed = v.safeParse(syncReportStatus, status)
  if (!parsed.success) return { podUid, status: undefined, malformed: true }
  const details = bounds === undefined ? {} : { details: reportDetails(parsed.output, bounds) }
  return { podUid, status: stateOf(parsed.output), malformed: false, ...details }
}

function stateOf({
  phase,
  commit,
  syncHash,
  mode,
  attempt,
  reason,
  message,
  agentVersion,
  ignoredFields,
  findings,
  health,
  healthCheck,
}: SyncReportStatus): ReportedState {
  const unverified = findings?.find(({ rule }) => rule === folderUnverifiedRule)?.message.slice(0, 256)
  return {
    phase,
    ...(commit === undefined ? {} : { commit }),
    ...(syncHash === undefined ? {} : { syncHash }),
    ...(mode === undefined ? {} : { mode }),
    ...(attempt === undefined ? {} : { attempt }),
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message }),
    ...(agentVersion === undefined ? {} : { agentVersion }),
    ...(ignoredFields === undefined ? {} : { ignoredFields }),
    ...(health === undefined ? {} : { health: healthOf(health) }),
    ...(healthCheck === undefined ? {} : { healthCheck: healthCheck.state }),
    ...(unverified === undefined ? {} : { unverified }),
    startedWithoutCommit: findings?.some(({ rule }) => rule === startedWithoutCommitRule) === true,
  }
}

function healthOf({ since, newProblems = [] }: NonNullable<SyncReportStatus['health']>): NonNullable<ReportedState['health']> {
  const [newProblem] = newProblems
  return { since, ...(newProblem === undefined ? {} : { newProblem: newProblem.slice(0, 256) }) }
}

/** Returns the GatewaySync that a pod follows: the one it names, else the only one in its namespace. */
export function gatewaySyncOfPod(annotations: Readonly<Record<string, string>>, only: string | undefined): string | undefined {
  const named = annotations[podAnnotations.gatewaySync]
  if (named !== undefined && named !== '') return named
  return only
}

/** Returns the state of each gateway, given what is published. */
export function observeGateways(
  spec: GatewaySyncSpec,
  publishedCommit: string | undefined,
  pods: readonly GatewayPod[],
  reports: Reports,
): Gateway[] {
  const hashes = hashesOf(spec)
  return pods
    .filter((pod) => !pod.terminating)
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map((pod) => {
      const report = reports.get(pod.name)
      return observeGateway(hashes, publishedCommit, pod, report?.podUid === pod.uid ? report : undefined)
    })
}

/** Marks the gateways that keep their commit until the rollout admits them. */
export function withWaiting(gateways: readonly Gateway[], rollout: RolloutStatus | undefined): Gateway[] {
  const stage = rollout?.stage === undefined ? '' : `; stage ${rollout.stage} is in progress`
  const message = `it keeps its commit until its stage starts${stage}`
  return gateways.map((gateway) => {
    const isBehind = gateway.state === 'pending' && ['OldCommit', 'OldConfiguration', 'WaitsForStage'].includes(gateway.reason ?? '')
    return isBehind && isWaiting(rollout, gateway.pod) ? { ...gateway, state: 'waiting', reason: 'WaitsForStage', message } : gateway
  })
}

/** Counts the gateways in each state; the states add up to `total`. */
export function countGateways(gateways: readonly Gateway[]): GatewayCounts {
  const counts: GatewayCounts = {
    total: gateways.length,
    synced: 0,
    pending: 0,
    failed: 0,
    blocked: 0,
    drifted: 0,
    dryRun: 0,
    paused: 0,
    missingAgent: 0,
  }
  for (const { state } of gateways) counts[state] = (counts[state] ?? 0) + 1
  return counts
}

/** Whether a gateway has an agent but no report, so that its commit is unknown. */
export function isUnreported({ reason }: Gateway): boolean {
  return reason === 'NoReport'
}

/** Whether the agent of a gateway is too old for the GatewaySync's spec. */
export function isOutdated({ reason }: Gateway): boolean {
  return reason === 'AgentOutdated'
}

function observeGateway(
  hashes: DesiredHashes,
  publishedCommit: string | undefined,
  pod: GatewayPod,
  report: GatewayReport | undefined,
): Gateway {
  const status = report?.status
  const unverified = status?.unverified === undefined ? {} : { unverified: status.unverified }
  const base = { pod: pod.name, commit: status?.commit, mode: status?.mode?.name, ...unverified }
  const is = (state: GatewayState, reason?: string, message?: string): Gateway => ({ ...base, state, reason, message })
  if (!pod.injected) return is('missingAgent', 'MissingAgent', 'the pod requests an agent but has no working one; recreate the pod')
  if (report?.malformed === true) return is('failed', 'MalformedReport', 'the SyncReport is invalid')
  if (pod.agentDown !== undefined) return is('failed', 'AgentDown', pod.agentDown)
  if (status === undefined) return is('pending', 'NoReport', 'the agent has not reported yet')
  if (status.phase === 'Paused') return is('paused', 'Paused', status.message)
  if (status.phase === 'Failed') return is('failed', status.reason, status.message)
  // The controller accepted the spec, so an agent that refuses it has the schema of another version.
  if (status.reason === 'InvalidSpec') return is('blocked', 'AgentOutdated', outdated(status, status.message ?? 'it refuses the spec'))
  if (status.phase === 'Blocked') return is('blocked', status.reason, status.message)
  if (publishedCommit === undefined) return is('pending', 'NothingPublished', 'no commit is published yet')
  // Why it has not applied anything newer.
  if (status.phase === 'Pending' && status.reason === ('TooManyRequests' satisfies Reason))
    return is('pending', status.reason, status.message)
  const name = pod.annotations[podAnnotations.profile] ?? defaultProfileName
  const unknown = status.ignoredFields?.find((path) => hashes.isSet(path))
  if (unknown !== undefined) return is('blocked', 'AgentOutdated', outdated(status, `it does not support spec.${unknown}`))
  if (status.syncHash !== hashes.of(name)) {
    const why = whyIncomparable(status, hashes, name)
    if (why !== undefined) return is('blocked', 'AgentOutdated', outdated(status, why))
    return is('pending', 'OldConfiguration', 'the agent has not applied the current spec yet')
  }
  if (status.phase === 'DryRun') return is('dryRun', 'DryRun', status.message)
  if (status.commit !== publishedCommit) return is('pending', 'OldCommit', 'the agent has not applied the published commit yet')
  if (status.phase === 'Synced') return is('synced')
  if (status.phase === 'Drifted') return is('drifted', 'Drifted', status.message)
  return is('pending', status.reason ?? status.phase, status.message)
}

type DesiredHashes = {
  /** Returns the hash that agents of a profile should report; undefined if the profile does not exist. */
  of(profile: string): string | undefined
  /** Whether the spec sets a field explicitly, given as a path such as `sync.defaults.drift`. */
  isSet(path: string): boolean
}

function hashesOf(spec: GatewaySyncSpec): DesiredHashes {
  let explicit: unknown
  return {
    of: (name) => (Object.hasOwn(spec.sync.profiles, name) ? desiredHash(spec, name) : undefined),
    isSet(path) {
      explicit ??= withoutDefaults(specSchema, spec)
      return memberAt(explicit, path) !== undefined
    },
  }
}

const specSchema = gatewaySyncSpec({ allowLocal: true })

function memberAt(document: unknown, path: string): unknown {
  const steps = path.split(/[.[\]]+/).filter((step) => step !== '')
  return steps.reduce<unknown>(
    (at, step) => (typeof at === 'object' && at !== null ? (at as Record<string, unknown>)[step] : undefined),
    document,
  )
}

/** Returns why an agent can never report the desired hash; undefined if it may just be late. */
function whyIncomparable({ syncHash: reported }: ReportedState, hashes: DesiredHashes, profile: string): string | undefined {
  const desired = hashes.of(profile)
  if (reported === undefined || desired === undefined || ruleOf(reported) === ruleOf(desired)) return undefined
  return 'its report has a different format'
}

/** Returns the version of the hash rule. */
function ruleOf(hash: string): string {
  return hash.slice(0, -64)
}

function outdated({ agentVersion = 'unknown' }: ReportedState, why: string): string {
  return `the agent (version ${agentVersion}) does not match the controller: ${why}; recreate the pod`
}
