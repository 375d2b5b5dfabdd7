/**
 * Which gateways follow a GatewaySync, and in which state each of them is: pods and their SyncReports, counted into buckets that add
 * up to the total. A report counts only for a live pod of its uid. Pure.
 */
import * as v from 'valibot'
import { podAnnotations } from './names.ts'
import { defaultProfileName, resolveProfile, syncHash } from './profile.ts'
import { syncReportStatus, type SyncReportStatus } from './report.ts'
import type { GatewaySyncSpec } from './spec.ts'
import type { GatewayCounts } from './status.ts'

/** What the controller keeps of a pod that asked for an agent. */
export type GatewayPod = {
  namespace: string
  name: string
  uid: string
  /** Only those of ours. */
  annotations: Readonly<Record<string, string>>
  /** Whether the agent's container is in the pod. */
  injected: boolean
  terminating: boolean
  /** The agent's container is not running, with why; undefined while it runs or its state is not known yet. */
  agentDown: string | undefined
}

/** What the controller keeps of a SyncReport; `status` is undefined when it has none or one that nobody understands. */
export type GatewayReport = { podUid: string; status: SyncReportStatus | undefined; malformed: boolean }

export type GatewayState = Exclude<keyof GatewayCounts, 'total'>

/** One gateway of a GatewaySync. */
export type Gateway = {
  pod: string
  state: GatewayState
  /** Why it is not synced: a word and a sentence. */
  reason: string | undefined
  message: string | undefined
  commit: string | undefined
  mode: string | undefined
}

/** Reads a SyncReport's status; anything that is not one counts as malformed and harms nothing else. */
export function parseReport(podUid: unknown, status: unknown): GatewayReport {
  if (typeof podUid !== 'string') return { podUid: '', status: undefined, malformed: true }
  if (status === undefined) return { podUid, status: undefined, malformed: false }
  const parsed = v.safeParse(syncReportStatus, status)
  return parsed.success ? { podUid, status: parsed.output, malformed: false } : { podUid, status: undefined, malformed: true }
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
  return pods
    .filter((pod) => !pod.terminating)
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map((pod) => {
      const report = reports.get(pod.name)
      return observeGateway(spec, publishedCommit, pod, report?.podUid === pod.uid ? report : undefined)
    })
}

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
  for (const { state } of gateways) counts[state] += 1
  return counts
}

function observeGateway(
  spec: GatewaySyncSpec,
  publishedCommit: string | undefined,
  pod: GatewayPod,
  report: GatewayReport | undefined,
): Gateway {
  const status = report?.status
  const base = { pod: pod.name, commit: status?.commit, mode: status?.mode?.name }
  const is = (state: GatewayState, reason?: string, message?: string): Gateway => ({ ...base, state, reason, message })
  if (!pod.injected) return is('missingAgent', 'MissingAgent', 'the pod asks for an agent and runs without one; recreate it')
  if (report?.malformed === true) return is('failed', 'MalformedReport', 'the SyncReport cannot be understood')
  if (pod.agentDown !== undefined) return is('failed', 'AgentDown', pod.agentDown)
  if (status === undefined) return is('pending', 'NoReport', 'the agent has not reported yet')
  if (status.phase === 'Paused') return is('paused', 'Paused', status.message)
  if (status.phase === 'Failed') return is('failed', status.reason, status.message)
  if (status.phase === 'Blocked') return is('blocked', status.reason, status.message)
  if (publishedCommit === undefined) return is('pending', 'NothingPublished', 'no commit is published yet')
  if (status.syncHash !== wantedHash(spec, pod)) return is('pending', 'OldConfiguration', 'the agent has not applied the present spec yet')
  if (status.phase === 'DryRun') return is('dryRun', 'DryRun', status.message)
  if (status.commit !== publishedCommit) return is('pending', 'OldCommit', 'the agent has not applied the published commit yet')
  if (status.phase === 'Synced') return is('synced')
  if (status.phase === 'Drifted') return is('drifted', 'Drifted', status.message)
  return is('pending', status.reason ?? status.phase, status.message)
}

/** The hash that the pod's agent should report, or undefined when its profile does not exist. */
function wantedHash(spec: GatewaySyncSpec, pod: GatewayPod): string | undefined {
  const name = pod.annotations[podAnnotations.profile] ?? defaultProfileName
  if (!Object.hasOwn(spec.sync.profiles, name)) return undefined
  return syncHash(resolveProfile(spec.sync, name), spec.gateway)
}
