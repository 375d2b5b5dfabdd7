/**
 * The view model of a fleet, which the CLI prints, `--format json` writes and the status page shows.
 */
import { meaningOf } from '../api/schema/conditions.ts'
import type { GatewayState } from '../reconcile/decide/gateways.ts'
import type { RolloutStatus, StageStatus } from '../api/schema/rollout-status.ts'
import type { Condition, GatewayCounts, GatewaySyncStatus } from '../api/schema/status.ts'
import type { Warning } from './facts.ts'
import type { Step, SyncStep } from './steps.ts'

/** The output of `cluster-sync status --format json`. */
export type FleetView = {
  /** When the facts were read. */
  at: string
  level: Level
  /** Every GatewaySync is ready. */
  allReady: boolean
  /** A summary in one sentence. */
  summary: string
  /** By namespace and name. */
  syncs: SyncView[]
  notes: string[]
  /** GatewaySyncs exist, but the reader is not allowed to see any. */
  seesNothing?: boolean
  /** Warnings about the installation; absent: none. */
  warnings?: readonly Warning[]
  /** Absent: every cluster was read. */
  failures?: readonly ClusterFailure[]
  /** The fleets of other clusters, on the page of a hub. */
  clusters?: readonly ClusterView[]
}

/** The fleet of another cluster, as the page of a hub shows it. */
export type ClusterView = {
  name: string
  /** The address of its own status page. */
  url: string | undefined
  level: Level
  /** Those that need attention first. */
  syncs: readonly ClusterSync[]
  /** It has more GatewaySyncs than are kept here. */
  truncated: boolean
  /** When its API server last answered; undefined: the first list is not complete. */
  seenAt: string | undefined
  /** Why it cannot be read now; `syncs` then has the state of `seenAt`. */
  failure: { reason: string; message: string } | undefined
}

/** What is kept of a GatewaySync of another cluster. */
export type ClusterSync = Pick<SyncView, 'namespace' | 'name' | 'level' | 'ready' | 'reason' | 'message' | 'published' | 'upToDate'> & {
  counts: Pick<GatewayCounts, 'total'> | undefined
}

/** A request of the status, with the meaning of its outcome if the reason table has it. */
export type RequestView = NonNullable<GatewaySyncStatus['requests']>[number] & { level: Level; meaning: string | undefined }

/** A cluster of several that cannot be read. `next`: the next step, in one sentence. */
export type ClusterFailure = { context: string; reason: string; message: string; next: string | undefined }

export type SyncView = {
  /** The named context of the kubeconfig, of this GatewaySync's cluster; undefined if none was named. */
  context: string | undefined
  namespace: string
  name: string
  level: Level
  ready: Condition['status']
  reason: string
  /** The message of the condition, with shortened hashes. */
  message: string
  /** The meaning of the reason, from the reason table. */
  meaning: string | undefined
  repo: string | undefined
  /** The desired state: the ref, its source, and the commit it resolved to. */
  desired: {
    ref: string | undefined
    requestedBy: string | undefined
    /** `spec.git.ref`, whose pushes are ignored while a request for another ref is followed. */
    insteadOf: string | undefined
    commit: string | undefined
    committedAt: string | undefined
    /** The last recorded answer of the git host; unchanged answers are recorded at most once an hour. */
    checkedAt: string | undefined
    /** `60s`; undefined if polling is off or the interval is unknown. */
    pollingInterval: string | undefined
    /** Why the commit is not published. */
    held: string | undefined
  }
  published: { commit: string; ref: string; at: string } | undefined
  /** Progress of the staged rollout; undefined without one. */
  rollout: RolloutView | undefined
  counts: GatewayCounts | undefined
  /** Number of gateways that run the published commit, including paused, failed and locally changed ones. */
  upToDate: number
  gateways: GatewayView[]
  findings: NonNullable<GatewaySyncStatus['findings']> | undefined
  /** Newest first. */
  requests: RequestView[]
  /** Next steps, one sentence or command each. */
  next: string[]
  /** The next steps as data. */
  steps: readonly SyncStep[]
}

export type RolloutView = Pick<RolloutStatus, 'state' | 'commit' | 'stage' | 'waitsFor' | 'startedAt' | 'finishedAt' | 'message'> & {
  level: Level
  /** The state in one sentence. */
  summary: string
  stages: (StageStatus & { level: Level })[]
}

export type GatewayView = {
  pod: string
  /** The gateway's name, if its agent knows it. */
  gateway: string | undefined
  state: GatewayState
  level: Level
  reason: string | undefined
  /** Why it is not in sync, in one sentence. */
  message: string | undefined
  /** The meaning of the reason, from the reason table. */
  meaning: string | undefined
  commit: string | undefined
  mode: string | undefined
  profile: string | undefined
  /** Since when it runs its commit, as far back as its report goes; undefined if unknown. */
  since: string | undefined
  /** When its last sync ended, including syncs without changes. */
  finishedAt: string | undefined
  agentVersion: string | undefined
  /** Findings, local changes and gateway errors, one sentence each. */
  remarks: string[]
  /** The next steps for this gateway. */
  steps: readonly Step[]
}

/** `working` resolves automatically; a `warning` is deliberate or good to know; an `error` remains until a user acts. */
export type Level = 'ok' | 'working' | 'warning' | 'error'

const order: readonly Level[] = ['ok', 'working', 'warning', 'error']

/** Positive if the first level is the higher one. */
export function compareLevels(a: Level, b: Level): number {
  return order.indexOf(a) - order.indexOf(b)
}

/** The highest level; `ok` for an empty list. */
export function worstOf(levels: readonly Level[]): Level {
  return levels.reduce<Level>((worst, level) => (compareLevels(level, worst) > 0 ? level : worst), 'ok')
}

/** The meaning of a reason in one sentence; undefined without a reason and for one that the table does not have. */
export function optionalMeaning(reason: string | undefined): string | undefined {
  return reason === undefined ? undefined : meaningOf(reason)
}
