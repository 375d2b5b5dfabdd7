/**
 * Flow C in one pod: follows one GatewaySync and keeps the gateway's data directory at exactly what is published for it:
 * watch -> desired -> cycle -> report. Any number of changes during a cycle cause exactly one more.
 */
import { backoffMs, type Clock, timestamp } from '../clock.ts'
import type { Source } from '../delivery/protocol.ts'
import { asFault, isAbort } from '../fault.ts'
import type { Gateway } from '../gateway/gateway.ts'
import { startedWithoutCommitRule, type SyncReportStatus } from '../gatewaysync/schema/report.ts'
import type { GatewaySyncSpec } from '../gatewaysync/schema/spec.ts'
import type { Log } from '../log.ts'
import type { CycleResult, Wanted } from '../sync/cycle.ts'
import { type Desired, desiredSync, type FollowedSync, gatewayName, type PodFacts, podOrdinal } from './desired.ts'
import { agentHealth, type AgentHealth, type StartGate, startGate } from './health.ts'
import { createWake } from './wake.ts'

export type FollowDeps = {
  clock: Clock
  log: Log
  /** Where content comes from; called when the delivery address changes. */
  source(delivery: { url: string; caBundle: string }): Source
  /** The gateway of this data directory, if there is one to talk to; called when its address changes. */
  gateway(spec: GatewaySyncSpec['gateway']): Gateway | undefined
  /** Which deployment mode the gateway has. */
  mode(gateway: Gateway | undefined, signal: AbortSignal): Promise<Wanted['facts']['mode']>
  /** Reads the downward API's files. */
  podFacts(): Promise<PodFacts>
  /** What the data directory held when the agent started: what is there already is not reported as being synced. */
  present(): { commit: string; syncHash: string } | undefined
  /** Ends a publish that an earlier process was killed in; called once, before anything is waited for. */
  recover(signal: AbortSignal): Promise<void>
  /** One cycle of the sync engine. */
  cycle(source: Source, gateway: Gateway | undefined, wanted: Wanted, signal: AbortSignal): Promise<CycleResult>
  report(status: SyncReportStatus): void
}

export type FollowOptions = {
  /** The GatewaySync that the pod names, for messages; undefined: it follows the only one of its namespace. */
  gatewaySync: string | undefined
  dataDir: string
  agentVersion: string
  /** For how long earlier processes of this agent have held the gateway back already. */
  waitedMs?: number
}

export type Follower = {
  /** The GatewaySync as it is now; undefined: it does not exist. */
  observe(followed: FollowedSync | undefined): void
  health(): AgentHealth
  run(signal: AbortSignal): Promise<void>
}

/** Waits after a cycle that failed: from the first to the longest. */
const firstRetryMs = 1_000
const longestRetryMs = 300_000
/** A gateway that starts, is commissioned or has a Designer open is looked at again after this. */
const waitingMs = 5_000
/** How often a gateway that is to tell its mode is asked for it. */
const askModeMs = 1_000
/** At most this many entries are kept in the report's history. */
const keptHistory = 5

export function createFollower(deps: FollowDeps, options: FollowOptions): Follower {
  const { clock, log } = deps
  const wake = createWake(clock)
  const startedMs = clock.monotonicMs() - (options.waitedMs ?? 0)
  let read = false
  let followed: FollowedSync | undefined
  let followedText = ''
  let desired: Desired | undefined
  let synced = false
  /** The volume holds a whole commit; undefined: nobody has looked yet. */
  let whole: boolean | undefined
  /** What let the gateway start; a gateway that has started is not held any more. */
  let opened: Extract<StartGate, { kind: 'open' }> | undefined
  let stopping = false
  /** When the step under way began; undefined between two steps. */
  let steppingSinceMs: number | undefined
  let pod: PodFacts | undefined
  /** Ends what the present cycle has not published yet. */
  let halt: AbortController | undefined
  let failures = 0
  let last: SyncReportStatus | undefined
  /** The gateway that has not told its mode yet, and the mode that was assumed meanwhile. */
  let modeless: { gateway: Gateway; assumed: Wanted['facts']['mode'] } | undefined
  const sources = keepLatest(deps.source)
  const gateways = keepLatest(deps.gateway)

  const gate = (): StartGate => {
    if (opened !== undefined) return opened
    whole ??= deps.present() !== undefined
    const now = startGate({ settings: desired?.start, synced, whole, sinceStartMs: clock.monotonicMs() - startedMs })
    if (now.kind === 'held') return now
    opened = now
    if (now.by === 'deadline') {
      log.warn({}, 'the gateway starts without a commit: none came in time')
      // Whoever asked first, the next look reports it.
      wake.call()
    }
    return now
  }

  const report = (given: SyncReportStatus): void => {
    const isLate = gate().kind === 'open' && opened?.by === 'deadline' && !synced
    const status = isLate ? { ...given, findings: [startedWithoutCommit, ...(given.findings ?? [])].slice(0, 20) } : given
    last = { ...status, agentVersion: options.agentVersion, history: nextHistory(last, status) }
    deps.report(last)
  }

  /** The commit and configuration that the data directory holds, as far as the last report or the directory itself tells. */
  const inPlace = (): Partial<SyncReportStatus> | undefined => (last?.commit === undefined ? deps.present() : last)

  /** One look: what should be, what was done about it, and when to look again. */
  const step = async (signal: AbortSignal): Promise<number | undefined> => {
    modeless = undefined
    pod = await deps.podFacts()
    const held = inPlace()
    desired = desiredSync(options.gatewaySync, followed, pod, held?.commit)
    const at = timestamp(clock.now())
    const base = { gateway: gatewayName(pod), startedAt: at }
    if (desired.kind === 'idle') {
      const { fault } = desired
      report({ ...kept(held), ...kept(last), ...base, phase: desired.phase, reason: fault.reason, message: fault.message, finishedAt: at })
      return undefined
    }
    // First, because the way into the gateway comes over delivery too.
    const source = sources(desired.delivery)
    const gateway = gateways(desired.gateway)
    const mode = await deps.mode(gateway, signal)
    const asks = desired.profile.collections?.mode === 'auto' && mode?.from !== 'gateway' && mode?.from !== 'target'
    if (asks && gateway !== undefined) modeless = { gateway, assumed: mode }
    halt = new AbortController()
    const wanted: Wanted = {
      commit: desired.commit,
      ref: desired.ref,
      profile: desired.profile,
      syncHash: desired.syncHash,
      dataDir: options.dataDir,
      paused: desired.paused,
      validation: desired.validation,
      halt: halt.signal,
      confirmDeletions: desired.confirmDeletions,
      facts: {
        gatewayName: base.gateway,
        podName: pod.podName,
        namespace: pod.namespace,
        ordinal: podOrdinal(pod),
        podLabels: pod.labels,
        mode,
      },
    }
    const moves = held?.commit !== desired.commit || held.syncHash !== desired.syncHash
    if (moves && !desired.paused) report({ ...kept(last), ...base, profile: desired.profile.name, phase: 'Syncing' })
    const result = await deps.cycle(source, gateway, wanted, signal)
    synced ||= result.commit === desired.commit && result.syncHash === desired.syncHash
    whole ||= result.commit !== undefined
    const ignored = desired.ignoredFields.length > 0 ? { ignoredFields: [...desired.ignoredFields] } : {}
    report({ ...result, ...ignored, ...base, profile: desired.profile.name, finishedAt: timestamp(clock.now()) })
    if (result.phase === 'Failed') {
      failures += 1
      log.warn({ reason: result.reason ?? 'Unexpected', commit: desired.commit, message: result.message ?? '' }, 'sync failed')
      return backoffMs(failures, firstRetryMs, longestRetryMs, clock.random())
    }
    if (failures > 0 || moves) log.info({ commit: desired.commit, reason: result.phase }, 'sync ended')
    failures = 0
    // Without a gateway nobody can say the mode before someone changes something.
    const waits = result.reason === 'ModeUnknown' ? gateway !== undefined : result.phase === 'Pending' || result.reason === 'DesignerOpen'
    return waits ? waitingMs : desired.profile.syncPeriod * 1000
  }

  /** Waits for news or until the next look is due. A gateway that has started and tells another mode than was assumed is news too. */
  const rest = async (ms: number | undefined, signal: AbortSignal): Promise<void> => {
    const untilMs = clock.monotonicMs() + (ms ?? Number.POSITIVE_INFINITY)
    while (modeless !== undefined && untilMs - clock.monotonicMs() > askModeMs) {
      if (await wake.wait(askModeMs, signal)) return
      if (signal.aborted) return
      const mode = await deps.mode(modeless.gateway, signal)
      if (mode?.name !== modeless.assumed?.name || mode?.from === 'gateway') return
    }
    const leftMs = untilMs - clock.monotonicMs()
    await wake.wait(Number.isFinite(leftMs) ? Math.max(0, leftMs) : undefined, signal)
  }

  /** A gateway that starts without a commit is told of at once. */
  const opensInMs = (): number | undefined => {
    const now = gate()
    return now.kind === 'held' ? now.forMs : undefined
  }

  const recover = async (signal: AbortSignal): Promise<void> => {
    try {
      await deps.recover(signal)
    } catch (error) {
      if (isAbort(error, signal)) return
      const { reason, message } = asFault(error)
      log.warn({ reason, message }, 'an interrupted publish could not be ended yet; the next sync tries again')
    }
  }

  return {
    observe(next) {
      const text = decisiveText(next)
      const isNews = !read || text !== followedText
      followed = next
      followedText = text
      read = true
      if (!isNews) return
      if (pod !== undefined && mayWriteNoMore(desiredSync(options.gatewaySync, next, pod, inPlace()?.commit)))
        halt?.abort(new Error('paused'))
      wake.call()
    },
    health() {
      const nowMs = clock.monotonicMs()
      const steppingForMs = steppingSinceMs === undefined ? 0 : nowMs - steppingSinceMs
      return agentHealth({ gate: gate(), steppingForMs, stopping })
    },
    async run(signal) {
      let nextMs: number | undefined
      await recover(signal)
      while (!signal.aborted) {
        steppingSinceMs = undefined
        await rest(earliest(nextMs, opensInMs()), signal).catch(() => undefined)
        if (signal.aborted || !read) continue
        steppingSinceMs = clock.monotonicMs()
        try {
          nextMs = await step(signal)
        } catch (error) {
          if (isAbort(error, signal)) break
          const fault = asFault(error)
          log.error({ reason: fault.reason, err: error }, 'a sync ended with an error that is a bug')
          report({ ...kept(last), phase: 'Failed', reason: fault.reason, message: fault.message, finishedAt: timestamp(clock.now()) })
          nextMs = backoffMs((failures += 1), firstRetryMs, longestRetryMs, clock.random())
        }
      }
      stopping = true
    },
  }
}

const startedWithoutCommit = {
  rule: startedWithoutCommitRule,
  path: '',
  message: 'startDeadline has passed: the gateway was let start though its volume holds no whole commit',
}

function earliest(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return Math.min(one, other)
}

/** Paused, or nothing to follow any more: that takes effect at once, not after the present cycle. */
function mayWriteNoMore(desired: Desired): boolean {
  return desired.kind === 'idle' || desired.paused
}

/** What of a GatewaySync an agent acts on: its own report comes back in the status, and is no reason for another look. */
function decisiveText(followed: FollowedSync | undefined): string {
  if (followed === undefined) return ''
  const { annotations, spec, status } = followed
  return JSON.stringify([annotations, spec, status.published, status.delivery])
}

/** What stays true of an earlier report when a new step has not got as far: what is in place. */
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

/** Makes a thing anew only when what it is made from has changed. */
function keepLatest<From, To>(make: (from: From) => To): (from: From) => To {
  let madeFrom = ''
  let made: { value: To } | undefined
  return (from) => {
    const text = JSON.stringify(from)
    if (made === undefined || madeFrom !== text) {
      made = { value: make(from) }
      madeFrom = text
    }
    return made.value
  }
}
