/**
 * What an agent remembers of one GatewaySync and of its own gateway, and what each event makes of that: `next(state, event, nowMs)` gives
 * the state after it and what is to be done. Pure; the loop that carries it out is `follow.ts`.
 */
import type { Fault } from '../fault.ts'
import { confirmDeletionsAnnotation } from '../gatewaysync/names.ts'
import { startedWithoutCommitRule, type SyncReportStatus } from '../gatewaysync/schema/report.ts'
import type { CycleResult } from '../sync/cycle.ts'
import { type Desired, desiredSync, type FollowedSync, gatewayName, type PodFacts } from './desired.ts'
import { agentHealth, type AgentHealth, type StartGate, startGate } from './health.ts'

export type FollowerState = {
  /** The GatewaySync that the pod names, for messages; undefined: it follows the only one of its namespace. */
  gatewaySync: string | undefined
  agentVersion: string
  /** When the agent of this pod first started, in ms of the monotonic clock; before the start of this process where it started again. */
  startedMs: number
  /** What the watch delivered last; undefined: nothing yet. */
  observed: { followed: FollowedSync | undefined } | undefined
  /** What the last look found and decided. */
  looked: { pod: PodFacts; desired: Desired } | undefined
  /** The volume holds a whole commit; undefined: it has not been read yet. */
  whole: boolean | undefined
  /** The published commit is in place, brought or found there by this process. */
  synced: boolean
  /** What let the gateway start; a gateway that has started is not held any more. */
  opened: Extract<StartGate, { kind: 'open' }> | undefined
  /** `looking` from the beginning of a look to its end. */
  activity: { kind: 'resting' } | { kind: 'looking'; sinceMs: number } | { kind: 'stopped' }
  /** Looks in a row that failed. */
  failures: number
  /** The last report. */
  reported: SyncReportStatus | undefined
}

/** What the data directory holds: of the last report, or of the directory's own records. Undefined: nothing that is known. */
export type InPlace = Partial<Pick<SyncReportStatus, 'commit' | 'syncHash'>> | undefined

export type FollowerEvent =
  /** The watch delivers the GatewaySync; undefined: it does not exist. */
  | { kind: 'observed'; followed: FollowedSync | undefined; inPlace: InPlace }
  | { kind: 'volumeRead'; whole: boolean }
  /** Somebody asks whether the gateway may start: the time for waiting may have passed. */
  | { kind: 'gateAsked' }
  | { kind: 'lookBegan' }
  /** The pod has been read; what should be in place is decided from it. */
  | { kind: 'podRead'; pod: PodFacts; inPlace: InPlace; at: string }
  | { kind: 'cycleBegan'; inPlace: InPlace; at: string }
  | { kind: 'cycleEnded'; result: CycleResult; startedAt: string; at: string }
  /** A look ended with an error that is a bug. */
  | { kind: 'lookFailed'; fault: Fault; at: string }
  | { kind: 'lookEnded' }
  | { kind: 'stopped' }

export type FollowerEffect =
  | { kind: 'report'; status: SyncReportStatus }
  /** Look again at once. */
  | { kind: 'wake' }
  /** What the cycle under way has not published yet shall not be written any more. */
  | { kind: 'halt' }
  /** `startDeadline` has passed: say that the gateway starts without a commit. */
  | { kind: 'startsWithoutCommit' }

export type Next = { state: FollowerState; effects: readonly FollowerEffect[] }

/** At most this many entries are kept in the report's history. */
const keptHistory = 5
/** What the schema of a SyncReport takes. */
const mostFindings = 20

/** A follower that has seen nothing yet; `startedMs` is monotonic. */
export function initialState(given: Pick<FollowerState, 'gatewaySync' | 'agentVersion' | 'startedMs'>): FollowerState {
  return {
    ...given,
    observed: undefined,
    looked: undefined,
    whole: undefined,
    synced: false,
    opened: undefined,
    activity: { kind: 'resting' },
    failures: 0,
    reported: undefined,
  }
}

/** `nowMs` is of the monotonic clock; never throws. */
export function next(state: FollowerState, event: FollowerEvent, nowMs: number): Next {
  switch (event.kind) {
    case 'observed':
      return afterObserved(state, event)
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

/** Whether the gateway may start, as far as `state` tells. */
export function gateOf({ opened, looked, synced, whole = false, startedMs }: FollowerState, nowMs: number): StartGate {
  return opened ?? startGate({ settings: looked?.desired.start, synced, whole, sinceStartMs: nowMs - startedMs })
}

/** What probes are told. */
export function healthOf(state: FollowerState, nowMs: number): AgentHealth {
  const { activity } = state
  const lookingForMs = activity.kind === 'looking' ? nowMs - activity.sinceMs : 0
  return agentHealth({ gate: gateOf(state, nowMs), lookingForMs, stopping: activity.kind === 'stopped' })
}

/** Whether a sync brings something that is not in place. */
export function isMove({ commit, syncHash }: { commit: string; syncHash: string }, inPlace: InPlace): boolean {
  return inPlace?.commit !== commit || inPlace.syncHash !== syncHash
}

/** A pause, or the end of the GatewaySync, takes effect at once and not after the cycle under way. */
function afterObserved(state: FollowerState, { followed, inPlace }: Extract<FollowerEvent, { kind: 'observed' }>): Next {
  const after = { ...state, observed: { followed } }
  const { looked, gatewaySync, reported } = state
  const rests = reported?.phase === 'Synced' && reported.commit === followed?.status.published?.commit
  const isKnown = state.observed !== undefined && decisiveText(state.observed.followed, rests) === decisiveText(followed, rests)
  if (isKnown) return { state: after, effects: [] }
  const mayWriteNoMore = looked !== undefined && !mayWrite(desiredSync(gatewaySync, followed, looked.pod, inPlace?.commit))
  return { state: after, effects: mayWriteNoMore ? [{ kind: 'halt' }, { kind: 'wake' }] : [{ kind: 'wake' }] }
}

function afterPodRead(state: FollowerState, { pod, inPlace, at }: Extract<FollowerEvent, { kind: 'podRead' }>, nowMs: number): Next {
  const desired = desiredSync(state.gatewaySync, state.observed?.followed, pod, inPlace?.commit)
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
  if (desired.paused || !isMove(desired, inPlace)) return { state, effects: [] }
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
  const ignored = desired.ignoredFields.length > 0 ? { ignoredFields: [...desired.ignoredFields] } : {}
  const base = { gateway: gatewayName(pod), startedAt, profile: desired.profile.name, finishedAt: at }
  return reporting(after, { ...result, ...ignored, ...base }, nowMs)
}

/** Notes what lets the gateway start. One that starts without a commit is reported at once, whoever asked first. */
function openIfDue(state: FollowerState, nowMs: number): Next {
  if (state.opened !== undefined) return { state, effects: [] }
  const gate = gateOf(state, nowMs)
  if (gate.kind === 'held') return { state, effects: [] }
  const effects: FollowerEffect[] = gate.by === 'deadline' ? [{ kind: 'startsWithoutCommit' }, { kind: 'wake' }] : []
  return { state: { ...state, opened: gate }, effects }
}

/** Reports a status, with the finding that the gateway started without a commit for as long as that is so. */
function reporting(before: FollowerState, given: SyncReportStatus, nowMs: number): Next {
  const { state, effects } = openIfDue(before, nowMs)
  const isLate = state.opened?.by === 'deadline' && !state.synced
  const shown = isLate ? { ...given, findings: [startedWithoutCommit, ...(given.findings ?? [])].slice(0, mostFindings) } : given
  const status = { ...shown, agentVersion: state.agentVersion, history: nextHistory(state.reported, shown) }
  return { state: { ...state, reported: status }, effects: [...effects, { kind: 'report', status }] }
}

const startedWithoutCommit = {
  rule: startedWithoutCommitRule,
  path: '',
  message: 'startDeadline has passed: the gateway was let start though its volume holds no whole commit',
}

function mayWrite(desired: Desired): boolean {
  return desired.kind === 'sync' && !desired.paused
}

/**
 * What of a GatewaySync an agent acts on: its own report comes back in the status, and is no reason for another look. `rests`: what is
 * published is in place, so that a request is the controller's business alone. A look at thousands of files would take place beside its fetch.
 */
function decisiveText(followed: FollowedSync | undefined, rests: boolean): string {
  if (followed === undefined) return ''
  const { annotations, spec, status } = followed
  return JSON.stringify([rests ? annotations[confirmDeletionsAnnotation] : annotations, spec, status.published, status.delivery])
}

/** What stays true of an earlier report when a new look has not got as far: what is in place. */
function kept(last: Partial<SyncReportStatus> | undefined): Partial<SyncReportStatus> {
  if (last === undefined) return {}
  const { commit, ref, syncHash, mode, scan, projects } = last
  return Object.fromEntries(Object.entries({ commit, ref, syncHash, mode, scan, projects }).filter(([, value]) => value !== undefined))
}

/** One entry for each outcome, newest first; repeating the same outcome is no news. */
function nextHistory(last: SyncReportStatus | undefined, status: SyncReportStatus): NonNullable<SyncReportStatus['history']> {
  const history = last?.history ?? []
  const { commit, phase, reason, finishedAt } = status
  if (commit === undefined || finishedAt === undefined || phase === 'Syncing' || phase === 'Pending') return history
  const [newest] = history
  if (newest?.commit === commit && newest.phase === phase && newest.reason === reason) return history
  const entry: (typeof history)[number] = { commit, phase, finishedAt }
  if (reason !== undefined) entry.reason = reason
  return [entry, ...history].slice(0, keptHistory)
}
