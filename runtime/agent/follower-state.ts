/**
 * What an agent remembers about one GatewaySync and its own gateway, as a state machine: `next(state, event, nowMs)` returns the next state and
 * what to do. Pure; the loop that does it is in `follow.ts`.
 */
import type { Fault } from '../fault.ts'
import type { SyncReportStatus } from '../gatewaysync/schema/report.ts'
import { type CycleResult, tellFault } from '../sync/outcome.ts'
import { type Desired, desiredSync, type FollowedSync, gatewayName, type InPlace, type PodFacts } from './desired.ts'
import { agentHealth, type AgentHealth, endsFirst, type StartGate, startGate, unknownStart } from './health.ts'
import { decisiveText, heardAfter, type HeardRequest } from './heard.ts'
import { kept, nextReport } from './next-report.ts'

/** Everything that an agent remembers between two looks. */
export type FollowerState = {
  /** The GatewaySync that the pod names, for messages; undefined: it follows the only one of its namespace. */
  gatewaySync: string | undefined
  agentVersion: string
  /** When the agent of this pod first started, in monotonic ms; if it restarted, that is before the start of this process. */
  startedMs: number
  /** When an agent of this pod first tried to end the publish that was interrupted, in monotonic ms; without one, when this process began. */
  recoveringSinceMs: number
  /** Whether a publish that was interrupted has been ended, or could not be: until then nobody knows what the volume holds. */
  recovered: boolean
  /** Why it could not be ended so far, while it is tried again. */
  unended: { fault: Fault; at: string } | undefined
  /** What the watch delivered last; undefined: nothing yet. */
  observed: { followed: FollowedSync | undefined } | undefined
  /** Who asks what was changed, for this gateway or another; undefined: nobody. */
  heard: HeardRequest | undefined
  /** What the last look found and decided. */
  looked: { pod: PodFacts; desired: Desired } | undefined
  /** Whether the volume holds a complete commit; undefined: it has not been read yet. */
  whole: boolean | undefined
  /** Whether the published commit is in place, put or found there by this process. */
  synced: boolean
  /** Why the gateway was allowed to start; from then on it is not held back any more. */
  opened: Extract<StartGate, { kind: 'open' }> | undefined
  /** `looking` while a look (read the pod, decide, run a cycle) is under way. */
  activity: { kind: 'resting' } | { kind: 'looking'; sinceMs: number } | { kind: 'stopped' }
  /** Number of looks in a row that failed. */
  failures: number
  /** The last report. */
  reported: SyncReportStatus | undefined
}

/** What can happen; times (`at`) are RFC 3339. */
export type FollowerEvent =
  /** The watch has delivered the GatewaySync; undefined: it does not exist. */
  | { kind: 'observed'; followed: FollowedSync | undefined; inPlace: InPlace; at: string }
  /** A publish that was interrupted has been ended, or could not be. */
  | { kind: 'recovered' }
  /** It could not be looked at or ended, and is tried again. */
  | { kind: 'recoveryFailed'; fault: Fault; at: string }
  | { kind: 'volumeRead'; whole: boolean }
  /** A probe asks whether the gateway may start: its deadline may have passed. */
  | { kind: 'gateAsked' }
  | { kind: 'lookBegan' }
  /** The pod has been read: decides what should be in place. */
  | { kind: 'podRead'; pod: PodFacts; inPlace: InPlace; at: string }
  | { kind: 'cycleBegan'; inPlace: InPlace; at: string }
  | { kind: 'cycleEnded'; result: CycleResult & Pick<SyncReportStatus, 'changes'>; startedAt: string; at: string }
  /** A look ended with an error that is a bug of ours. */
  | { kind: 'lookFailed'; fault: Fault; at: string }
  | { kind: 'lookEnded' }
  | { kind: 'stopped' }

/** What the loop has to do. */
export type FollowerEffect =
  | { kind: 'report'; status: SyncReportStatus }
  /** Look again at once. */
  | { kind: 'wake' }
  /** Stop the cycle under way, unless it has begun to publish. */
  | { kind: 'halt' }
  /** `startDeadline` has passed: log that the gateway starts without a commit. */
  | { kind: 'startsWithoutCommit' }

/** The state after an event, and what to do, in order. */
export type Next = { state: FollowerState; effects: readonly FollowerEffect[] }

/** How long an interrupted publish may hold back a gateway's start, over all processes of the agent. */
export const longestRecoveryMs = unknownStart.deadlineMs

/**
 * A follower that has seen nothing yet. `waitedMs`: for how long its pod had an agent before this process; `recoveringMs`: for how long such
 * agents have tried to end an interrupted publish.
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
    unended: undefined,
    observed: undefined,
    heard: undefined,
    looked: undefined,
    whole: undefined,
    synced: false,
    opened: undefined,
    activity: { kind: 'resting' },
    failures: 0,
    reported: undefined,
  }
}

/** The only way in which a state changes. `nowMs` is monotonic. Never throws. */
export function next(state: FollowerState, event: FollowerEvent, nowMs: number): Next {
  switch (event.kind) {
    case 'observed':
      return afterObserved(state, event, nowMs)
    case 'recovered':
      return { state: { ...state, recovered: true, unended: undefined }, effects: [] }
    case 'recoveryFailed':
      return tellUnended({ ...state, unended: { fault: event.fault, at: event.at } }, nowMs)
    case 'volumeRead':
      return openIfDue({ ...state, whole: event.whole }, nowMs)
    case 'gateAsked':
      return openIfDue(state, nowMs)
    case 'lookBegan':
      return { state: { ...state, activity: { kind: 'looking', sinceMs: nowMs } }, effects: [] }
    case 'podRead':
      return afterPodRead(state, event, nowMs)
    case 'cycleBegan':
      return afterCycleBegan(state, event, nowMs)
    case 'cycleEnded':
      return afterCycleEnded(state, event, nowMs)
    case 'lookFailed': {
      const { fault, at } = event
      const status = { ...kept(state.reported), phase: 'Failed' as const, reason: fault.reason, message: fault.message, finishedAt: at }
      return reporting({ ...state, failures: state.failures + 1 }, status, nowMs)
    }
    case 'lookEnded':
      return { state: { ...state, activity: { kind: 'resting' } }, effects: [] }
    case 'stopped':
  }
  return { state: { ...state, activity: { kind: event.kind } }, effects: [] }
}

/** Whether the gateway may start. */
export function gateOf(
  { opened, looked, synced, whole = false, recovered, unended, startedMs, recoveringSinceMs }: FollowerState,
  nowMs: number,
): StartGate {
  if (opened !== undefined) return opened
  const leftMs = recoveringSinceMs + longestRecoveryMs - nowMs
  // However long its pod is there: the gateway would start with half of a publish.
  if (!recovered && leftMs > 0) return { kind: 'held', forMs: leftMs, why: endsFirst(unended?.fault) }
  return startGate({ settings: looked?.desired.start, synced, whole, sinceStartMs: nowMs - startedMs })
}

/** The answer to probes. */
export function healthOf(state: FollowerState, nowMs: number): AgentHealth {
  const { activity } = state
  const lookingForMs = activity.kind === 'looking' ? nowMs - activity.sinceMs : 0
  return agentHealth({ gate: gateOf(state, nowMs), lookingForMs, stopping: activity.kind === 'stopped' })
}

/** For how many ms whoever asks what was changed is still answered. */
export function tellsForMs({ heard }: FollowerState, nowMs: number): number {
  return heard === undefined ? 0 : heard.untilMs - nowMs
}

/** Whether a sync changes what is in place. */
export function isMove({ commit, syncHash }: { commit: string; syncHash: string }, inPlace: InPlace): boolean {
  return inPlace?.commit !== commit || inPlace.syncHash !== syncHash
}

/** A pause, or the deletion of the GatewaySync, takes effect at once instead of after the cycle under way. */
function afterObserved(state: FollowerState, event: Extract<FollowerEvent, { kind: 'observed' }>, nowMs: number): Next {
  const { followed, inPlace, at } = event
  const heard = heardAfter(state.heard, followed?.annotations ?? {}, { isFirst: state.observed === undefined, at, nowMs })
  const seen = { ...state, observed: { followed }, heard }
  const { looked, gatewaySync, reported } = state
  const rests = reported?.phase === 'Synced' && reported.commit === followed?.status.published?.commit
  const about = { rests, pod: looked?.pod.podName }
  const isKnown = state.observed !== undefined && decisiveText(state.observed.followed, about) === decisiveText(followed, about)
  if (isKnown) return { state: seen, effects: [] }
  const { state: after, effects } = tellUnended(seen, nowMs)
  const mayWriteNoMore = looked !== undefined && !mayWrite(desiredSync(gatewaySync, followed, looked.pod, inPlace))
  return { state: after, effects: [...effects, ...(mayWriteNoMore ? [{ kind: 'halt' } as const] : []), { kind: 'wake' }] }
}

/** Reports why an interrupted publish could not be ended so far; before a GatewaySync was seen there is nobody to report to. */
function tellUnended(state: FollowerState, nowMs: number): Next {
  const { unended, observed, reported } = state
  if (unended === undefined || observed?.followed === undefined) return { state, effects: [] }
  return reporting(state, { ...kept(reported), ...tellFault(unended.fault), finishedAt: unended.at }, nowMs)
}

function afterPodRead(state: FollowerState, { pod, inPlace, at }: Extract<FollowerEvent, { kind: 'podRead' }>, nowMs: number): Next {
  const wanted = desiredSync(state.gatewaySync, state.observed?.followed, pod, inPlace)
  const desired = wanted.kind === 'sync' && tellsForMs(state, nowMs) <= 0 ? { ...wanted, changes: undefined } : wanted
  const after = { ...state, looked: { pod, desired } }
  if (desired.kind === 'sync') return { state: after, effects: [] }
  const { phase, fault } = desired
  const base = { gateway: gatewayName(pod), startedAt: at, finishedAt: at }
  const status = { ...kept(inPlace), ...kept(state.reported), ...base, phase, reason: fault.reason, message: fault.message }
  return reporting(after, status, nowMs)
}

function afterCycleBegan(state: FollowerState, { inPlace, at }: Extract<FollowerEvent, { kind: 'cycleBegan' }>, nowMs: number): Next {
  const { looked } = state
  if (looked?.desired.kind !== 'sync') return { state, effects: [] }
  const { desired, pod } = looked
  const { attempt: tried, phase, reason } = state.reported ?? {}
  const waits = phase === 'Blocked' || (phase === 'Pending' && reason !== 'TooManyRequests')
  // What waits for somebody and is tried again says nothing new before it ends otherwise.
  const isAgain = waits && tried?.commit === desired.commit && tried.syncHash === desired.syncHash
  if (desired.paused || isAgain || !isMove(desired, inPlace)) return { state, effects: [] }
  const base = { gateway: gatewayName(pod), startedAt: at, profile: desired.profile.name }
  return reporting(state, { ...kept(state.reported), ...base, phase: 'Syncing' }, nowMs)
}

function afterCycleEnded(state: FollowerState, event: Extract<FollowerEvent, { kind: 'cycleEnded' }>, nowMs: number): Next {
  const { result, startedAt, at } = event
  const { looked } = state
  if (looked?.desired.kind !== 'sync') return { state, effects: [] }
  const { desired, pod } = looked
  const after: FollowerState = {
    ...state,
    synced: state.synced || !isMove(desired, result),
    whole: state.whole === true || result.commit !== undefined,
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

/** Lets the gateway start if it may. One that starts without a commit is reported at once. */
function openIfDue(state: FollowerState, nowMs: number): Next {
  if (state.opened !== undefined) return { state, effects: [] }
  const gate = gateOf(state, nowMs)
  if (gate.kind === 'held') return { state, effects: [] }
  const effects: FollowerEffect[] = gate.by === 'deadline' ? [{ kind: 'startsWithoutCommit' }, { kind: 'wake' }] : []
  return { state: { ...state, opened: gate }, effects }
}

/** Reports a status; a gateway that started without a commit gets a finding until it has one. */
function reporting(before: FollowerState, given: SyncReportStatus, nowMs: number): Next {
  const { state, effects } = openIfDue(before, nowMs)
  const isLate = state.opened?.by === 'deadline' && !state.synced
  const status = nextReport(state.reported, given, { agentVersion: state.agentVersion, isLate })
  return { state: { ...state, reported: status }, effects: [...effects, { kind: 'report', status }] }
}

function mayWrite(desired: Desired): boolean {
  return desired.kind === 'sync' && !desired.paused
}
