/**
 * Which gateways follow a GatewaySync, and the state of each, from pods and their SyncReports. States are counted so that they add up to the
 * total. A report counts only for a live pod with its uid. Pure.
 */
import * as v from 'valibot'
import type { Reason } from '../../fault.ts'
import type { CheckRecord } from '../check-record.ts'
import { podAnnotations } from '../names.ts'
import { isWaiting } from '../rollout/turn.ts'
import { type ToldBounds, type ToldOfGateway, toldOf } from './told.ts'
import { defaultProfileName, wantedHash } from './profile.ts'
import { startedWithoutCommitRule, syncReportStatus, type SyncReportStatus } from '../schema/report.ts'
import type { RolloutStatus } from '../schema/rollout-status.ts'
import { gatewaySyncSpec, type GatewaySyncSpec } from '../schema/spec.ts'
import type { GatewayCounts } from '../schema/status.ts'
import { withoutDefaults } from '../without-defaults.ts'

/** What the controller keeps of a pod that asked for an agent. */
export type GatewayPod = {
  namespace: string
  name: string
  uid: string
  /** Only annotations of ours. */
  annotations: Readonly<Record<string, string>>
  /** By which stages of a rollout choose. */
  labels: Readonly<Record<string, string>>
  /** Whether the agent's container is in the pod. */
  injected: boolean
  terminating: boolean
  /** Why the agent's container is not running; undefined while it runs or its state is not known yet. */
  agentDown: string | undefined
  /** When the gateway's container last ended by itself, while its pod stayed; absent: never. */
  gatewayEndedAt?: string
}

/**
 * The part of a report's status that decisions need. The rest may be hundreds of kilobytes, which the controller would hold for each gateway
 * of a fleet.
 */
export type ReportedState = Pick<
  SyncReportStatus,
  'phase' | 'commit' | 'syncHash' | 'mode' | 'attempt' | 'reason' | 'message' | 'agentVersion' | 'ignoredFields'
> & {
  /** The gateway was allowed to start although its volume held no complete commit. */
  startedWithoutCommit: boolean
  /** How the gateway has been since it took the commit: since when, and the first of what it complains of since. */
  health?: { since: string; newProblem?: string }
  /** How it stands with the check of its profile. */
  check?: CheckRecord['state']
}

/** What the controller keeps of a SyncReport; `status` is undefined when it has none or a malformed one. */
export type GatewayReport = {
  podUid: string
  status: ReportedState | undefined
  malformed: boolean
  /** Only where people read it. */
  told?: ToldOfGateway
}

/** A gateway is in exactly one of these states, which are the counters of `status.gateways`. */
export type GatewayState = Exclude<keyof GatewayCounts, 'total'>

/** One gateway of a GatewaySync. */
export type Gateway = {
  pod: string
  state: GatewayState
  /** Why it is not synced: a reason, and a sentence. */
  reason: string | undefined
  message: string | undefined
  commit: string | undefined
  mode: string | undefined
}

/**
 * Reads a SyncReport's status; anything else counts as malformed and affects no other gateway. `bounds`: how much of what only people read is
 * kept; by itself nothing. Never throws.
 */
export function parseReport(podUid: unknown, status: unknown, bounds?: ToldBounds): GatewayReport {
  if (typeof podUid !== 'string') return { podUid: '', status: undefined, malformed: true }
  if (status === undefined) return { podUid, status: undefined, malformed: false }
  const parsed = v.safeParse(syncReportStatus, status)
  if (!parsed.success) return { podUid, status: undefined, malformed: true }
  const told = bounds === undefined ? {} : { told: toldOf(parsed.output, bounds) }
  return { podUid, status: stateOf(parsed.output), malformed: false, ...told }
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
  check,
}: SyncReportStatus): ReportedState {
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
    ...(check === undefined ? {} : { check: check.state }),
    startedWithoutCommit: findings?.some(({ rule }) => rule === startedWithoutCommitRule) === true,
  }
}

function healthOf({ since, newProblems = [] }: NonNullable<SyncReportStatus['health']>): NonNullable<ReportedState['health']> {
  const [newProblem] = newProblems
  return { since, ...(newProblem === undefined ? {} : { newProblem: newProblem.slice(0, 256) }) }
}

/** The GatewaySync that a pod follows: the one it names, else the only one of its namespace, if there is exactly one. */
export function gatewaySyncOfPod(annotations: Readonly<Record<string, string>>, only: string | undefined): string | undefined {
  const named = annotations[podAnnotations.gatewaySync]
  if (named !== undefined && named !== '') return named
  return only
}

/** The state of each gateway, given what is published. */
export function observeGateways(
  spec: GatewaySyncSpec,
  publishedCommit: string | undefined,
  pods: readonly GatewayPod[],
  reports: ReadonlyMap<string, GatewayReport>,
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

/** The same gateways, told which of them keep what they have because their turn in the rollout has not come. */
export function withWaiting(gateways: readonly Gateway[], rollout: RolloutStatus | undefined): Gateway[] {
  const stage = rollout?.stage === undefined ? '' : `; stage ${rollout.stage} is at work`
  const message = `it keeps what it has until its turn comes${stage}`
  return gateways.map((gateway) => {
    const isBehind = gateway.state === 'pending' && ['OldCommit', 'OldConfiguration', 'WaitsForStage'].includes(gateway.reason ?? '')
    return isBehind && isWaiting(rollout, gateway.pod) ? { ...gateway, state: 'waiting', reason: 'WaitsForStage', message } : gateway
  })
}

/** How many gateways are in each state; the states add up to `total`. */
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

/** Whether a gateway has an agent but no report, so that nobody knows what it runs. */
export function isUnreported({ reason }: Gateway): boolean {
  return reason === 'NoReport'
}

/** Whether the agent of a gateway is too old for the GatewaySync's spec. */
export function isOutdated({ reason }: Gateway): boolean {
  return reason === 'AgentOutdated'
}

function observeGateway(
  hashes: WantedHashes,
  publishedCommit: string | undefined,
  pod: GatewayPod,
  report: GatewayReport | undefined,
): Gateway {
  const status = report?.status
  const base = { pod: pod.name, commit: status?.commit, mode: status?.mode?.name }
  const is = (state: GatewayState, reason?: string, message?: string): Gateway => ({ ...base, state, reason, message })
  if (!pod.injected) return is('missingAgent', 'MissingAgent', 'the pod asks for an agent and has none that can work; recreate it')
  if (report?.malformed === true) return is('failed', 'MalformedReport', 'the SyncReport cannot be understood')
  if (pod.agentDown !== undefined) return is('failed', 'AgentDown', pod.agentDown)
  if (status === undefined) return is('pending', 'NoReport', 'the agent has not reported yet')
  if (status.phase === 'Paused') return is('paused', 'Paused', status.message)
  if (status.phase === 'Failed') return is('failed', status.reason, status.message)
  // We have accepted the spec, so an agent that refuses it has the schema of another version.
  if (status.reason === 'InvalidSpec') return is('blocked', 'AgentOutdated', outdated(status, status.message ?? 'it refuses the spec'))
  if (status.phase === 'Blocked') return is('blocked', status.reason, status.message)
  if (publishedCommit === undefined) return is('pending', 'NothingPublished', 'no commit is published yet')
  // Why it has not applied anything newer.
  if (status.phase === 'Pending' && status.reason === ('TooManyRequests' satisfies Reason))
    return is('pending', status.reason, status.message)
  const name = pod.annotations[podAnnotations.profile] ?? defaultProfileName
  const unknown = status.ignoredFields?.find((path) => hashes.isSet(path))
  if (unknown !== undefined) return is('blocked', 'AgentOutdated', outdated(status, `it does not know spec.${unknown}`))
  if (status.syncHash !== hashes.of(name)) {
    const why = whyIncomparable(status, hashes, name)
    if (why !== undefined) return is('blocked', 'AgentOutdated', outdated(status, why))
    return is('pending', 'OldConfiguration', 'the agent has not applied the present spec yet')
  }
  if (status.phase === 'DryRun') return is('dryRun', 'DryRun', status.message)
  if (status.commit !== publishedCommit) return is('pending', 'OldCommit', 'the agent has not applied the published commit yet')
  if (status.phase === 'Synced') return is('synced')
  if (status.phase === 'Drifted') return is('drifted', 'Drifted', status.message)
  return is('pending', status.reason ?? status.phase, status.message)
}

type WantedHashes = {
  /** The hash that agents of a profile should report; undefined: there is no such profile. */
  of(profile: string): string | undefined
  /** Whether the author of the spec has set a field, given as a path such as `sync.defaults.drift`. */
  isSet(path: string): boolean
}

function hashesOf(spec: GatewaySyncSpec): WantedHashes {
  let told: unknown
  return {
    of: (name) => (Object.hasOwn(spec.sync.profiles, name) ? wantedHash(spec, name) : undefined),
    isSet(path) {
      told ??= withoutDefaults(specSchema, spec)
      return memberAt(told, path) !== undefined
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

/** Why an agent can never report the wanted hash; undefined: it may just be late. */
function whyIncomparable({ syncHash: reported }: ReportedState, hashes: WantedHashes, profile: string): string | undefined {
  const wanted = hashes.of(profile)
  if (reported === undefined || wanted === undefined || ruleOf(reported) === ruleOf(wanted)) return undefined
  return 'it tells what it has applied in another way'
}

/** The version of the rule by which a hash was made. */
function ruleOf(hash: string): string {
  return hash.slice(0, -64)
}

function outdated({ agentVersion = 'unknown' }: ReportedState, why: string): string {
  return `the agent (version ${agentVersion}) is of another version: ${why}; recreate the pod`
}
