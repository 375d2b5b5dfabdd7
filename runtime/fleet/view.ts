/**
 * The rows and sentences in which a fleet is told of: the one model that a terminal prints, `--format json` writes and a page can show.
 */
import type { GatewayState } from '../gatewaysync/decide/gateways.ts'
import type { RolloutStatus, StageStatus } from '../gatewaysync/schema/rollout-status.ts'
import type { Condition, GatewayCounts, GatewaySyncStatus } from '../gatewaysync/schema/status.ts'
import type { Warning } from './facts.ts'
import type { Level } from './level.ts'
import type { Step, SyncStep } from './steps.ts'

/** What `cluster-sync status --format json` prints. */
export type FleetView = {
  /** When it was looked at. */
  at: string
  level: Level
  /** Every GatewaySync is ready. */
  ready: boolean
  /** The whole in one sentence. */
  summary: string
  /** By namespace and name. */
  syncs: SyncView[]
  notes: string[]
  /** There are some, of which the reader may see none. */
  seesNothing?: boolean
  /** What is out of the ordinary with the installation itself; absent: nothing. */
  warnings?: readonly Warning[]
}

/** A request of the status with what its outcome means, where the reason table says it. */
export type RequestView = NonNullable<GatewaySyncStatus['requests']>[number] & { level: Level; meaning: string | undefined }

export type SyncView = {
  namespace: string
  name: string
  level: Level
  ready: Condition['status']
  reason: string
  /** What the condition says, with hashes cut to what people read. */
  message: string
  /** What the reason means, in the words of the reason table. */
  meaning: string | undefined
  repo: string | undefined
  /** What is wanted: the ref, whose wish it is, and what it resolved to. */
  wanted: {
    ref: string | undefined
    requestedBy: string | undefined
    commit: string | undefined
    committedAt: string | undefined
    /** An answer of the git host; later ones that say nothing new are written once an hour at most. */
    checkedAt: string | undefined
    /** How often it is asked by itself, in milliseconds; undefined: it is not, or nobody can tell. */
    askedEveryMs: number | undefined
    /** Why the commit is not published. */
    held: string | undefined
  }
  published: { commit: string; ref: string; at: string } | undefined
  /** How far the staged rollout is; undefined without one. */
  rollout: RolloutView | undefined
  counts: GatewayCounts | undefined
  /** How many gateways run the published commit, those included that are paused, have failed since, or were changed locally. */
  inStep: number
  gateways: GatewayView[]
  findings: NonNullable<GatewaySyncStatus['findings']> | undefined
  /** Newest first. */
  requests: RequestView[]
  /** What somebody can do now, one sentence or command each. */
  next: string[]
  /** The same as data. */
  steps: readonly SyncStep[]
}

export type RolloutView = Pick<RolloutStatus, 'state' | 'commit' | 'stage' | 'waitsFor' | 'startedAt' | 'finishedAt' | 'message'> & {
  level: Level
  /** How it stands, in one sentence. */
  summary: string
  stages: (StageStatus & { level: Level })[]
}

export type GatewayView = {
  pod: string
  /** The gateway's own name, where its agent knows it. */
  gateway: string | undefined
  state: GatewayState
  level: Level
  reason: string | undefined
  /** Why it is not in step, in one sentence. */
  message: string | undefined
  /** What the reason means, in the words of the reason table. */
  meaning: string | undefined
  commit: string | undefined
  mode: string | undefined
  profile: string | undefined
  /** Since when it runs its commit, as far back as its report tells; undefined where that is not told. */
  since: string | undefined
  /** When its last sync ended, also one that changed nothing. */
  finishedAt: string | undefined
  agentVersion: string | undefined
  /** Findings, local changes and complaints of the gateway, one sentence each. */
  remarks: string[]
  /** What somebody can do about it. */
  steps: readonly Step[]
}
