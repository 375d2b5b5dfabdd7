/**
 * Follows one GatewaySync and keeps the gateway's data directory at the published commit: watch -> desired -> cycle -> report. Any number
 * of changes during a cycle cause exactly one more cycle. `follower-state.ts` decides how the state changes with each event; this file runs
 * the loop that reads, waits and acts.
 */
import { backoffMs, type Clock, timestamp } from '../platform/clock.ts'
import type { Source } from '../content/protocol/protocol.ts'
import { asFault, type Fault, isAbort } from '../platform/fault.ts'
import type { Gateway } from '../gateway/gateway.ts'
import type { SyncReportStatus } from '../api/schema/report.ts'
import type { GatewaySyncSpec } from '../api/schema/spec.ts'
import { type Log, logOf } from '../platform/log/log.ts'
import type { CycleResult, SyncTarget } from '../sync/cycle.ts'
import { type Desired, type FollowedSync, gatewayName, type InPlace, type PodFacts, podOrdinal } from './desired.ts'
import {
  type FollowerEffect,
  type FollowerEvent,
  type FollowerState,
  startupHoldOf,
  healthOf,
  initialState,
  isMove,
  next,
  requestLeftMs,
} from './follower-state.ts'
import { type Drift, driftAfter, uploadChanges, type UploadDeps, type UploadResult } from './upload-changes.ts'
import type { AgentHealth } from './health.ts'
import { awaitedOf, type IsReached, isReachedOrWoken, retryAfterMs, waitAfter, waitingMs } from './next-sync.ts'
import { createWake, type Wake } from './wake.ts'

/** Dependencies of a follower; the agent's entry point builds them. */
export type FollowDeps = UploadDeps & {
  clock: Clock
  /** Creates the content client; called when the content server's address changes. */
  source(delivery: { url: string; caBundle: string }): Source
  /** Connects to the gateway of this data directory, if it has one; called when its address changes. */
  gateway(spec: GatewaySyncSpec['gateway']): Gateway | undefined
  /** The gateway's deployment mode; undefined: unknown. */
  mode(gateway: Gateway | undefined, signal: AbortSignal): Promise<SyncTarget['facts']['mode']>
  /** Reads the downward API's files. */
  podFacts(): Promise<PodFacts>
  /** What the data directory held when the agent started, so that a commit already in place is not reported as Syncing. */
  readSynced(): { commit: string; syncHash: string } | undefined
  /**
   * Finishes or undoes an apply that a killed process left; called once, before anything else. `failed` gets the fault of each failed
   * attempt.
   */
  recover(failed: (fault: Fault) => void, signal: AbortSignal): Promise<void>
  /** Runs one cycle of the sync engine. */
  cycle(source: Source, gateway: Gateway | undefined, target: SyncTarget, signal: AbortSignal): Promise<CycleResult>
  report(status: SyncReportStatus): void
}

/** Identifies the gateway. */
export type FollowOptions = {
  /** The GatewaySync that the pod names, for messages; undefined: it follows the only one of its namespace. */
  gatewaySync: string | undefined
  dataDir: string
  agentVersion: string
  /** How long, in ms, earlier processes of this agent have held the gateway's start. */
  waitedMs?: number
  /** How long, in ms, earlier processes of this agent have tried to recover an interrupted apply. */
  recoveringMs?: number
}

/** Longest wait between attempts to upload local changes. */
const maxUploadRetryMs = 300_000
/**
 * Interval at which the pod is read again while there is nothing to do: its annotations may name another profile or GatewaySync by then.
 */
const readPodAgainMs = 30_000
/** Interval at which the gateway is polled for what the next sync waits for. */
const pollGatewayMs = 1_000
/** When the next sync is due: after `waitMs`, or as soon as `isReached` returns true. */
type Rest = { waitMs: number | undefined; isReached?: IsReached | undefined }

/** The agent's loop for one data directory, with the entry points for the watch and the probes. */
export class Follower {
  readonly #deps: FollowDeps
  readonly #dataDir: string
  readonly #wake: Wake
  readonly #sources: FollowDeps['source']
  readonly #gateways: FollowDeps['gateway']
  #state: FollowerState
  /** Consecutive failed attempts to upload local changes. */
  #failedUploads = 0
  #drift: Drift | undefined
  /** Stops the running cycle before it starts to apply. */
  #halt: AbortController | undefined

  constructor(deps: FollowDeps, { dataDir, gatewaySync, agentVersion, waitedMs = 0, recoveringMs = 0 }: FollowOptions) {
    this.#deps = deps
    this.#dataDir = dataDir
    this.#wake = createWake(deps.clock)
    this.#sources = keepLatest(deps.source)
    this.#gateways = keepLatest(deps.gateway)
    this.#state = initialState({ gatewaySync, agentVersion, waitedMs, recoveringMs, bornMs: deps.clock.monotonicMs() })
  }

  /** Receives the current GatewaySync; undefined: it does not exist. */
  observe(followed: FollowedSync | undefined): void {
    const inPlace = this.#state.lastSync === undefined ? undefined : this.#inPlace()
    this.#take({ kind: 'observed', followed, inPlace, at: this.#now() })
  }

  health(): AgentHealth {
    this.#noteHold()
    return healthOf(this.#state, this.#deps.clock.monotonicMs())
  }

  /** Settles soon after its signal and never throws. */
  async run(signal: AbortSignal): Promise<void> {
    let due: Rest = { waitMs: undefined }
    this.#take(await recoverFirst(this.#deps, (fault) => this.#take({ kind: 'recoveryFailed', fault, at: this.#now() }), signal))
    while (!signal.aborted) {
      this.#noteHold()
      await this.#rest(due, signal).catch(() => undefined)
      if (signal.aborted || this.#state.observed === undefined) continue
      this.#take({ kind: 'syncBegan' })
      try {
        due = await this.#sync(signal)
      } catch (error) {
        if (isAbort(error, signal)) break
        due = this.#failed(error)
      }
      this.#take({ kind: 'syncEnded' })
    }
    this.#take({ kind: 'stopped' })
  }

  #take(event: FollowerEvent): void {
    const after = next(this.#state, event, this.#deps.clock.monotonicMs())
    this.#state = after.state
    for (const effect of after.effects) this.#carryOut(effect)
  }

  #carryOut(effect: FollowerEffect): void {
    if (effect.kind === 'report') this.#deps.report(effect.status)
    else if (effect.kind === 'wake') this.#wake.call()
    else if (effect.kind === 'halt') this.#halt?.abort(new Error('paused'))
    else this.#deps.log.warn({}, 'startDeadline has passed: the gateway starts without a complete commit')
  }

  #noteHold(): void {
    const { recovered, opened, hasCommit } = this.#state
    const isUnread = recovered && opened === undefined && hasCommit === undefined
    this.#take(isUnread ? { kind: 'volumeRead', hasCommit: this.#deps.readSynced() !== undefined } : { kind: 'holdChecked' })
  }

  #inPlace(): InPlace {
    const { reported } = this.#state
    return reported?.commit === undefined ? this.#deps.readSynced() : reported
  }

  #now(): string {
    return timestamp(this.#deps.clock.now())
  }

  /** Runs one sync: decides what should be in place, runs one cycle for it, and returns when the next one is due. */
  async #sync(signal: AbortSignal): Promise<Rest> {
    const deps = this.#deps
    const pod = await deps.podFacts()
    const [commit, startedAt, failuresBefore] = [this.#inPlace(), this.#now(), this.#state.failures]
    this.#take({ kind: 'podRead', pod, inPlace: commit, at: startedAt })
    const desired = this.#state.lastSync?.desired
    if (desired?.kind !== 'sync') return { waitMs: readPodAgainMs }
    // Created before the gateway, because the API key of the gateway comes from the content server.
    const source = this.#sources(desired.delivery)
    const gateway = this.#gateways(desired.gateway)
    const mode = await deps.mode(gateway, signal)
    this.#halt = new AbortController()
    const target = targetOf(desired, pod, { dataDir: this.#dataDir, mode, halt: this.#halt.signal })
    const { uid, changes: list, capture, captureQuiet: quiet } = desired
    const uploaded = await uploadChanges(deps, source, target, { uid, list, capture, quiet, drift: this.#drift }, signal)
    this.#failedUploads = uploaded.againMs === 'failed' ? this.#failedUploads + 1 : 0
    this.#take({ kind: 'cycleBegan', inPlace: commit, at: startedAt })
    const result = await deps.cycle(source, gateway, target, signal)
    this.#drift = driftAfter(this.#drift, result)
    this.#take({ kind: 'cycleEnded', result: { ...result, ...uploaded.reportFields }, startedAt, at: this.#now() })
    logEnd(deps.log, desired, result, failuresBefore > 0 || isMove(desired, commit))
    const isReached = gateway === undefined ? undefined : awaitedOf(result, desired, { gateway, mode, modeOf: deps.mode })
    return { waitMs: this.#nextSyncMs(waitAfter(result, desired, gateway !== undefined), uploaded), isReached }
  }

  /** Returns when the next sync is due: `cycleMs` by the cycle, undefined if that failed. */
  #nextSyncMs(cycleMs: number | undefined, { againMs, reportFields }: UploadResult): number {
    const { clock } = this.#deps
    const uploadMs = againMs === 'failed' ? backoffMs(this.#failedUploads, waitingMs, maxUploadRetryMs, clock.random()) : againMs
    // Local changes must leave the report as soon as their request expires.
    const reportedForMs =
      reportFields.changes === undefined
        ? Number.POSITIVE_INFINITY
        : Math.max(0, Math.ceil(requestLeftMs(this.#state, clock.monotonicMs()))) + 1
    // An upload is retried only together with a cycle, so a failed cycle sets the interval.
    return Math.min(cycleMs === undefined ? this.#retryMs() : Math.min(cycleMs, uploadMs), reportedForMs)
  }

  /** Reports a sync that threw; returns when the next one is due. */
  #failed(error: unknown): Rest {
    const { log } = this.#deps
    const fault = asFault(error)
    const desired = this.#state.lastSync?.desired
    const own = desired?.kind === 'sync' ? logOf(log, desired.requestId) : log
    own.error({ reason: fault.reason, err: error, hasEvent: true }, 'sync ended unexpectedly')
    this.#take({ kind: 'syncFailed', fault, at: this.#now() })
    return { waitMs: this.#retryMs() }
  }

  #retryMs(): number {
    const { clock } = this.#deps
    return retryAfterMs(this.#state.failures, startupHoldOf(this.#state, clock.monotonicMs()), clock.random())
  }

  /** Waits for a change or until the next sync is due. A gateway that reaches the awaited state counts as a change. */
  async #rest({ waitMs, isReached }: Rest, signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps
    const hold = startupHoldOf(this.#state, clock.monotonicMs())
    // A gateway that starts without a commit is reported immediately.
    const untilMs =
      clock.monotonicMs() + Math.min(waitMs ?? Number.POSITIVE_INFINITY, hold.kind === 'held' ? hold.forMs : Number.POSITIVE_INFINITY)
    while (isReached !== undefined && untilMs - clock.monotonicMs() > pollGatewayMs) {
      if (await this.#wake.wait(pollGatewayMs, signal)) return
      if (signal.aborted || (await isReachedOrWoken(this.#wake, isReached, signal))) return
    }
    const leftMs = untilMs - clock.monotonicMs()
    await this.#wake.wait(Number.isFinite(leftMs) ? Math.max(0, leftMs) : undefined, signal)
  }
}

/** Recovers an interrupted apply before the first sync; if that fails, the next sync tries again. */
async function recoverFirst(
  { recover, log }: Pick<FollowDeps, 'recover' | 'log'>,
  failed: (fault: Fault) => void,
  signal: AbortSignal,
): Promise<FollowerEvent> {
  try {
    await recover(failed, signal)
  } catch (error) {
    const { reason, message } = asFault(error)
    if (!isAbort(error, signal)) log.warn({ reason, message }, 'recovery of an interrupted sync failed; the next sync retries')
  }
  return { kind: 'recovered' }
}

/** Logs a failure, and a success if it answers a new request. */
function logEnd(log: Log, { commit, requestId }: Extract<Desired, { kind: 'sync' }>, result: CycleResult, isNewAnswer: boolean): void {
  const own = logOf(log, requestId)
  if (result.phase === 'Failed')
    own.warn({ commit, reason: result.reason ?? 'Unexpected', message: result.message ?? '', hasEvent: true }, 'sync failed')
  else if (isNewAnswer) own.info({ commit, reason: result.phase }, 'sync ended')
}

/** Builds the engine's input for this pod. */
function targetOf(
  desired: Extract<Desired, { kind: 'sync' }>,
  pod: PodFacts,
  { dataDir, mode, halt }: { dataDir: string; mode: SyncTarget['facts']['mode']; halt: AbortSignal },
): SyncTarget {
  const { commit, ref, profile, syncHash, paused, validation, requestId } = desired
  const { confirmDeletions, confirmOverwrites, rolledOutBefore, check } = desired
  const { podName, namespace, labels: podLabels } = pod
  const facts = { gatewayName: gatewayName(pod), podName, namespace, ordinal: podOrdinal(pod), podLabels, mode }
  const answers = { confirmDeletions, confirmOverwrites, rolledOutBefore }
  return { commit, ref, profile, syncHash, dataDir, paused, validation, halt, requestId, facts, check, ...answers }
}

/** Caches the latest value until its input changes. */
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
