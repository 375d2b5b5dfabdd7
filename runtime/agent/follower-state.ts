/**
 * The agent's state for one GatewaySync and its gateway, as a state machine: `next(state, event, nowMs)` returns the next state and the effects.
 * Pure; the loop that carries them out is in `follow.ts`.
 */
import type { Fault } from '../platform/fault.ts'
import type { SyncReportStatus } from '../api/schema/report.ts'
import { type CycleResult, faultFields } from '../sync/outcome.ts'
import { type Desired, desiredSync, type FollowedSync, gatewayName, type InPlace, type PodFacts } from './desired.ts'
import { agentHealth, type AgentHealth, recoveryMessage, type StartupHold, startupHold, unknownStart } from './health.ts'
import { decisiveText, pendingAfter, type PendingRequest } from './change-filter.ts'
import { kept, nextReport } from './next-report.ts'

/** The agent's state between two syncs. */
export type FollowerState = {
  /** The GatewaySync that the pod names, for messages; undefined: it follows the only one of its namespace. */
  gatewaySync: string | undefined
  agentVersion: string
  /** When the agent of this pod first started, in monotonic ms; after a restart that is before the start of this process. */
  startedMs: number
  /** When an agent of this pod first tried to recover the interrupted apply, in monotonic ms; without one, the start of this process. */
  recoveringSinceMs: number
  /** Whether recovery has succeeded or given up; until then the content of the volume is unknown. */
  recovered: boolean
  /** Why recovery has failed so far, while it is retried. */
  unrecovered: { fault: Fault; at: string } | undefined
  /** The object that the watch delivered last; undefined: none yet. */
  observed: { followed: FollowedSync | undefined } | undefined
  /** The request to list local changes, of this gateway or another; undefined: none. */
  pendingRequest: PendingRequest | undefined
  /** The facts and the decision of the last sync. */
  lastSync: { pod: PodFacts; desired: Desired } | undefined
  /** Whether the volume holds a complete commit; undefined: not read yet. */
  hasCommit: boolean | undefined
  /** Whether this process put the published commit in place or found it there. */
  synced: boolean
  /** Why the gateway was allowed to start; it is not held again after that. */
  opened: Extract<StartupHold, { kind: 'open' }> | undefined
  /** `syncing` while a sync (read the pod, decide, run a cycle) is running. */
  activity: { kind: 'resting' } | { kind: 'syncing'; sinceMs: number } | { kind: 'stopped' }
  /** Consecutive failed syncs. */
  failures: number
  reported: SyncReportStatus | undefined
}

/** Input of the state machine; times (`at`) are RFC 3339. */
export type FollowerEvent =
  /** The watch delivered the GatewaySync; undefined: it does not exist. */
  | { kind: 'observed'; followed: FollowedSync | undefined; inPlace: InPlace; at: string }
  /** Recovery of an interrupted apply has succeeded or given up. */
  | { kind: 'recovered' }
  /** An attempt to recover failed and will be retried. */
  | { kind: 'recoveryFailed'; fault: Fault; at: string }
  | { kind: 'volumeRead'; hasCommit: boolean }
  /** A probe asks whether the gateway may start: the deadline may have passed. */
  | { kind: 'holdChecked' }
  | { kind: 'syncBegan' }
  /** The pod was read: decide what should be in place. */
  | { kind: 'podRead'; pod: PodFacts; inPlace: InPlace; at: string }
  | { kind: 'cycleBegan'; inPlace: InPlace; at: string }
  | { kind: 'cycleEnded'; result: CycleResult & Pick<SyncReportStatus, 'changes'>; startedAt: string; at: string }
  /** A sync ended with an unexpected error, which is a bug. */
  | { kind: 'syncFailed'; fault: Fault; at: string }
  | { kind: 'syncEnded' }
  | { kind: 'stopped' }

/** What the loop must do. */
export type FollowerEffect =
  | { kind: 'report'; status: SyncReportStatus }
  /** Sync again immediately. */
  | { kind: 'wake' }
  /** Stop the running cycle unless it has started to apply. */
  | { kind: 'halt' }
  /** `startDeadline` has passed: log that the gateway starts without a commit. */
  | { kind: 'startsWithoutCommit' }

/** The state after an event, and the effects in order. */
export type Next = { state: FollowerState; effects: readonly FollowerEffect[] }

/** How long an interrupted apply may hold a gateway's start, across restarts of the agent. */
export const maxRecoveryMs = unknownStart.deadlineMs

/**
 * Returns the state before any event. `waitedMs`: how long the pod had an agent before this process; `recoveringMs`: how long those agents have tried
 * to recover an interrupted apply.
 */
export function initialState({
  waitedMs,
  recoveringMs,
  bornMs,
  ...given
}: Pick<FollowerState, 'gatewaySync' | 'agentVersion'> & { bornMs: number; waitedMs: number; recoveringMs: number }): FollowerState {
  return {
    ...given,
    startedMs: bornMs - waitedMs,
    recoveringSinceMs: bornMs - recoveringMs,
    recovered: false,
    unrecovered: undefined,
    observed: undefined,
    pendingRequest: undefined,
    lastSync: undefined,
    hasCommit: undefined,
    synced: false,
    opened: undefined,
    activity: { kind: 'resting' },
    failures: 0,
    reported: undefined,
  }
}

/** The only transition function. `nowMs` is monotonic. Never throws. */
export function next(state: FollowerState, event: FollowerEvent, nowMs: number): Next {
  switch (event.kind) {
    case 'observed':
      return afterObserved(state, event, nowMs)
    case 'recovered':
      return { state: { ...state, recovered: true, unrecovered: undefined }, effects: [] }
    case 'recoveryFailed':
      return reportUnrecovered({ ...state, unrecovered: { fault: event.fault, at: event.at } }, nowMs)
    case 'volumeRead':
      return openIfDue({ ...state, hasCommit: event.hasCommit }, nowMs)
    case 'holdChecked':
      return openIfDue(state, nowMs)
    case 'syncBegan':
      return { state: { ...state, activity: { kind: 'syncing', sinceMs: nowMs } }, effects: [] }
    case 'podRead':
      return afterPodRead(state, event, nowMs)
    case 'cycleBegan':
      return afterCycleBegan(state, event, nowMs)
    case 'cycleEnded':
      return afterCycleEnded(state, event, nowMs)
    case 'syncFailed': {
      const { fault, at } = event
      const status = { ...kept(state.reported), phase: 'Failed' as const, reason: fault.reason, message: fault.message, finishedAt: at }
      return reporting({ ...state, failures: state.failures + 1 }, status, nowMs)
    }
    case 'syncEnded':
      return { state: { ...state, activity: { kind: 'resting' } }, effects: [] }
    case 'stopped':
  }
  return { state: { ...state, activity: { kind: event.kind } }, effects: [] }
}

/** Whether the gateway may start. */
export function startupHoldOf(
  { opened, lastSync, synced, hasCommit = false, recovered, unrecovered, startedMs, recoveringSinceMs }: FollowerState,
  nowMs: number,
): StartupHold {
  if (opened !== undefined) return opened
  const leftMs = recoveringSinceMs + maxRecoveryMs - nowMs
  // This holds however old the pod is: otherwise the gateway would start with a half-applied commit.
  if (!recovered && leftMs > 0) return { kind: 'held', forMs: leftMs, why: recoveryMessage(unrecovered?.fault) }
  return startupHold({ settings: lastSync?.desired.start, synced, hasCommit, sinceStartMs: nowMs - startedMs })
}

/** The answer to probes. */
export function healthOf(state: FollowerState, nowMs: number): AgentHealth {
  const { activity } = state
  const syncingForMs = activity.kind === 'syncing' ? nowMs - activity.sinceMs : 0
  return agentHealth({ hold: startupHoldOf(state, nowMs), syncingForMs, stopping: activity.kind === 'stopped' })
}

/** For how many ms the request to list local changes is still answered. */
export function requestLeftMs({ pendingRequest }: FollowerState, nowMs: number): number {
  return pendingRequest === undefined ? 0 : pendingRequest.untilMs - nowMs
}

/** Whether a sync changes the commit or configuration in place. */
export function isMove({ commit, syncHash }: { commit: string; syncHash: string }, inPlace: InPlace): boolean {
  return inPlace?.commit !== commit || inPlace.syncHash !== syncHash
}

/** A pause, or the deletion of the GatewaySync, takes effect immediately instead of after the running cycle. */
function afterObserved(state: FollowerState, event: Extract<FollowerEvent, { kind: 'observed' }>, nowMs: number): Next {
  const { followed, inPlace, at } = event
  const pendingRequest = pendingAfter(state.pendingRequest, followed?.annotations ?? {}, {
    isFirst: state.observed === undefined,
    at,
    nowMs,
  })
  const seen = { ...state, observed: { followed }, pendingRequest }
  const { lastSync, gatewaySync, reported } = state
  const isInPlace = reported?.phase === 'Synced' && reported.commit === followed?.status.published?.commit
  const about = { isInPlace, pod: lastSync?.pod.podName }
  const isKnown = state.observed !== undefined && decisiveText(state.observed.followed, about) === decisiveText(followed, about)
  if (isKnown) return { state: seen, effects: [] }
  const { state: after, effects } = reportUnrecovered(seen, nowMs)
  const mayWriteNoMore = lastSync !== undefined && !mayWrite(desiredSync(gatewaySync, followed, lastSync.pod, inPlace))
  return { state: after, effects: [...effects, ...(mayWriteNoMore ? [{ kind: 'halt' } as const] : []), { kind: 'wake' }] }
}

/** Reports why recovery has failed so far; not before the GatewaySync has been read. */
function reportUnrecovered(state: FollowerState, nowMs: number): Next {
  const { unrecovered, observed, reported } = state
  if (unrecovered === undefined || observed?.followed === undefined) return { state, effects: [] }
  return reporting(state, { ...kept(reported), ...faultFields(unrecovered.fault), finishedAt: unrecovered.at }, nowMs)
}

function afterPodRead(state: FollowerState, { pod, inPlace, at }: Extract<FollowerEvent, { kind: 'podRead' }>, nowMs: number): Next {
  const next = desiredSync(state.gatewaySync, state.observed?.followed, pod, inPlace)
  const desired = next.kind === 'sync' && requestLeftMs(state, nowMs) <= 0 ? { ...next, changes: undefined } : next
  const after = { ...state, lastSync: { pod, desired } }
  if (desired.kind === 'sync') return { state: after, effects: [] }
  const { phase, fault } = desired
  const base = { gateway: gatewayName(pod), startedAt: at, finishedAt: at }
  const status = { ...kept(inPlace), ...kept(state.reported), ...base, phase, reason: fault.reason, message: fault.message }
  return reporting(after, status, nowMs)
}

function afterCycleBegan(state: FollowerState, { inPlace, at }: Extract<FollowerEvent, { kind: 'cycleBegan' }>, nowMs: number): Next {
  const { lastSync } = state
  if (lastSync?.desired.kind !== 'sync') return { state, effects: [] }
  const { desired, pod } = lastSync
  const { attempt: tried, phase, reason } = state.reported ?? {}
  const waits = phase === 'Blocked' || (phase === 'Pending' && reason !== 'TooManyRequests')
  // A retry of a blocked or pending sync is not reported as Syncing: its outcome is usually the same.
  const isAgain = waits && tried?.commit === desired.commit && tried.syncHash === desired.syncHash
  if (desired.paused || isAgain || !isMove(desired, inPlace)) return { state, effects: [] }
  const base = { gateway: gatewayName(pod), startedAt: at, profile: desired.profile.name }
  return reporting(state, { ...kept(state.reported), ...base, phase: 'Syncing' }, nowMs)
}

function afterCycleEnded(state: FollowerState, event: Extract<FollowerEvent, { kind: 'cycleEnded' }>, nowMs: number): Next {
  const { result, startedAt, at } = event
  const { lastSync } = state
  if (lastSync?.desired.kind !== 'sync') return { state, effects: [] }
  const { desired, pod } = lastSync
  const after: FollowerState = {
    ...state,
    synced: state.synced || !isMove(desired, result),
    hasCommit: state.hasCommit === true || result.commit !== undefined,
    failures: result.phase === 'Failed' ? state.failures + 1 : 0,
  }
  const { syncHash, commit } = desired
  const isEnded = result.phase === 'Synced' || result.phase === 'Drifted' || result.phase === 'DryRun' || result.phase === 'Paused'
  const attempt = isEnded ? {} : { attempt: { commit, syncHash } }
  const isWaiting = desired.waits !== undefined && (result.phase === 'Synced' || result.phase === 'Drifted')
  const waiting = isWaiting ? ({ phase: 'Pending', reason: 'WaitsForStage', message: desired.waits ?? '' } as const) : {}
  const ignored = desired.ignoredFields.length > 0 ? { ignoredFields: [...desired.ignoredFields] } : {}
  const base = { gateway: gatewayName(pod), startedAt, profile: desired.profile.name, finishedAt: at }
  return reporting(after, { ...result, ...attempt, ...waiting, ...ignored, ...base }, nowMs)
}

/** Lets the gateway start if it may. A start without a commit is reported immediately. */
function openIfDue(state: FollowerState, nowMs: number): Next {
  if (state.opened !== undefined) return { state, effects: [] }
  const hold = startupHoldOf(state, nowMs)
  if (hold.kind === 'held') return { state, effects: [] }
  const effects: FollowerEffect[] = hold.by === 'deadline' ? [{ kind: 'startsWithoutCommit' }, { kind: 'wake' }] : []
  return { state: { ...state, opened: hold }, effects }
}

/** Reports a status; a gateway that started without a commit keeps a finding about it until it has one. */
function reporting(before: FollowerState, given: SyncReportStatus, nowMs: number): Next {
  const { state, effects } = openIfDue(before, nowMs)
  const isLate = state.opened?.by === 'deadline' && !state.synced
  const status = nextReport(state.reported, given, { agentVersion: state.agentVersion, isLate })
  return { state: { ...state, reported: status }, effects: [...effects, { kind: 'report', status }] }
}

function mayWrite(desired: Desired): boolean {
  return desired.kind === 'sync' && !desired.paused
}
