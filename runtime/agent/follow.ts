/**
 * Flow C in one pod: follows one GatewaySync and keeps the gateway's data directory at exactly what is published for it:
 * watch -> desired -> cycle -> report. Any number of changes during a cycle cause exactly one more. `follower-state.ts` decides what is
 * remembered and what follows from each event; this file has the loop that reads, waits and acts.
 */
import { backoffMs, type Clock, timestamp } from '../clock.ts'
import type { Source } from '../delivery/protocol.ts'
import { asFault, type Fault, isAbort } from '../fault.ts'
import type { Gateway } from '../gateway/gateway.ts'
import type { SyncReportStatus } from '../gatewaysync/schema/report.ts'
import type { GatewaySyncSpec } from '../gatewaysync/schema/spec.ts'
import { type Log, logOf } from '../log.ts'
import type { CycleResult, Wanted } from '../sync/cycle.ts'
import { type Desired, type FollowedSync, gatewayName, type InPlace, type PodFacts, podOrdinal } from './desired.ts'
import { type FollowerEffect, type FollowerEvent, gateOf, healthOf, initialState, isMove, next, tellsForMs } from './follower-state.ts'
import { type Drift, driftAfter, handOn, type HandOnDeps } from './hand-on.ts'
import type { AgentHealth } from './health.ts'
import { awaitedOf, type HasCome, hasComeOrCalled, retryAfterMs, waitAfter, waitingMs } from './next-look.ts'
import { createWake } from './wake.ts'

/** What a follower works with; the agent's entry builds it. */
export type FollowDeps = HandOnDeps & {
  clock: Clock
  /** Where content comes from; called when the delivery address changes. */
  source(delivery: { url: string; caBundle: string }): Source
  /** The gateway of this data directory, if there is one to talk to; called when its address changes. */
  gateway(spec: GatewaySyncSpec['gateway']): Gateway | undefined
  /** The deployment mode that the gateway has; undefined: nobody can tell. */
  mode(gateway: Gateway | undefined, signal: AbortSignal): Promise<Wanted['facts']['mode']>
  /** Reads the downward API's files. */
  podFacts(): Promise<PodFacts>
  /** What the data directory held when the agent started, so that a commit already in place is not reported as Syncing. */
  readSynced(): { commit: string; syncHash: string } | undefined
  /** Ends a publish in which an earlier process was killed; called once, before anything else. `failed`: told why a try was in vain. */
  recover(failed: (fault: Fault) => void, signal: AbortSignal): Promise<void>
  /** One cycle of the sync engine. */
  cycle(source: Source, gateway: Gateway | undefined, wanted: Wanted, signal: AbortSignal): Promise<CycleResult>
  report(status: SyncReportStatus): void
}

/** Which gateway this is. */
export type FollowOptions = {
  /** The GatewaySync that the pod names, for messages; undefined: it follows the only one of its namespace. */
  gatewaySync: string | undefined
  dataDir: string
  agentVersion: string
  /** For how long, in ms, earlier processes of this agent have already held back the gateway's start. */
  waitedMs?: number
  /** For how long, in ms, earlier processes of this agent have tried to end a publish that was interrupted. */
  recoveringMs?: number
}

/** One agent's loop, and what the watch and the probes ask of it. */
export type Follower = {
  /** The GatewaySync as it is now; undefined: it does not exist. */
  observe(followed: FollowedSync | undefined): void
  health(): AgentHealth
  run(signal: AbortSignal): Promise<void>
}

/** The longest wait after changes that could not be handed on. */
const longestOfferMs = 300_000
/** When to read the pod again while there is nothing to do: its annotations may name another profile or GatewaySync by then. */
const readPodAgainMs = 30_000
/** How often a gateway is asked for what a look waits for. */
const askGatewayMs = 1_000
/** When to look again: after `waitMs`, or as soon as `hasCome` says so. */
type Rest = { waitMs: number | undefined; hasCome?: HasCome | undefined }

/** For one data directory. `run` settles soon after its signal and never throws. */
export function createFollower(deps: FollowDeps, options: FollowOptions): Follower {
  const { clock, log } = deps
  const wake = createWake(clock)
  const sources = keepLatest(deps.source)
  const gateways = keepLatest(deps.gateway)
  const { gatewaySync, agentVersion, dataDir, waitedMs = 0, recoveringMs = 0 } = options
  let state = initialState({ gatewaySync, agentVersion, waitedMs, recoveringMs, bornMs: clock.monotonicMs() })
  /** How often in a row changes could not be handed on. */
  let failedOffers = 0
  let drift: Drift | undefined
  /** Stops the cycle under way from publishing, if it has not begun to. */
  let halt: AbortController | undefined

  const carryOut = (effect: FollowerEffect): void => {
    if (effect.kind === 'report') deps.report(effect.status)
    else if (effect.kind === 'wake') wake.call()
    else if (effect.kind === 'halt') halt?.abort(new Error('paused'))
    else log.warn({}, 'the gateway starts though its volume holds no whole commit: none came in time')
  }
  const take = (event: FollowerEvent): void => {
    const after = next(state, event, clock.monotonicMs())
    state = after.state
    after.effects.forEach(carryOut)
  }
  const noteGate = (): void => {
    const isUnread = state.recovered && state.opened === undefined && state.whole === undefined
    take(isUnread ? { kind: 'volumeRead', whole: deps.readSynced() !== undefined } : { kind: 'gateAsked' })
  }
  const inPlace = (): InPlace => (state.reported?.commit === undefined ? deps.readSynced() : state.reported)
  const now = (): string => timestamp(clock.now())

  /** One look: decides what should be in place, runs one cycle for it, and says when to look again. */
  const look = async (signal: AbortSignal): Promise<Rest> => {
    const pod = await deps.podFacts()
    const [held, startedAt, failuresBefore] = [inPlace(), now(), state.failures]
    take({ kind: 'podRead', pod, inPlace: held, at: startedAt })
    const desired = state.looked?.desired
    if (desired?.kind !== 'sync') return { waitMs: readPodAgainMs }
    // Before the gateway, because its API key comes over delivery too.
    const source = sources(desired.delivery)
    const gateway = gateways(desired.gateway)
    const mode = await deps.mode(gateway, signal)
    halt = new AbortController()
    const wanted = wantedOf(desired, pod, { dataDir, mode, halt: halt.signal })
    const { uid, changes: tell, capture, captureQuiet: quiet } = desired
    const handed = await handOn(deps, source, wanted, { uid, tell, capture, quiet, drift }, signal)
    failedOffers = handed.againMs === 'failed' ? failedOffers + 1 : 0
    take({ kind: 'cycleBegan', inPlace: held, at: startedAt })
    const result = await deps.cycle(source, gateway, wanted, signal)
    drift = driftAfter(drift, result)
    take({ kind: 'cycleEnded', result: { ...result, ...handed.told }, startedAt, at: now() })
    logEnd(log, desired, result, failuresBefore > 0 || isMove(desired, held))
    const hasCome = gateway === undefined ? undefined : awaitedOf(result, desired, { gateway, mode, modeOf: deps.mode })
    const waitMs = waitAfter(result, desired, gateway !== undefined)
    const againMs = handed.againMs === 'failed' ? backoffMs(failedOffers, waitingMs, longestOfferMs, clock.random()) : handed.againMs
    // What is told no longer is to leave the report in time.
    const toldForMs =
      handed.told.changes === undefined ? Number.POSITIVE_INFINITY : Math.max(0, Math.ceil(tellsForMs(state, clock.monotonicMs()))) + 1
    // An offer that is made again has the cycle run again too, so a cycle that failed decides when.
    return { waitMs: Math.min(waitMs === undefined ? retryMs() : Math.min(waitMs, againMs), toldForMs), hasCome }
  }

  const retryMs = (): number => retryAfterMs(state.failures, gateOf(state, clock.monotonicMs()), clock.random())

  /** Waits for a change or until the next look is due. A gateway that has done what was waited for counts as a change. */
  const rest = async ({ waitMs, hasCome }: Rest, signal: AbortSignal): Promise<void> => {
    const gate = gateOf(state, clock.monotonicMs())
    // A gateway that starts without a commit is reported at once.
    const untilMs =
      clock.monotonicMs() + Math.min(waitMs ?? Number.POSITIVE_INFINITY, gate.kind === 'held' ? gate.forMs : Number.POSITIVE_INFINITY)
    while (hasCome !== undefined && untilMs - clock.monotonicMs() > askGatewayMs) {
      if (await wake.wait(askGatewayMs, signal)) return
      if (signal.aborted || (await hasComeOrCalled(wake, hasCome, signal))) return
    }
    const leftMs = untilMs - clock.monotonicMs()
    await wake.wait(Number.isFinite(leftMs) ? Math.max(0, leftMs) : undefined, signal)
  }

  return {
    observe(followed) {
      take({ kind: 'observed', followed, inPlace: state.looked === undefined ? undefined : inPlace(), at: now() })
    },
    health() {
      noteGate()
      return healthOf(state, clock.monotonicMs())
    },
    async run(signal) {
      let due: Rest = { waitMs: undefined }
      take(await recoverFirst(deps, (fault) => take({ kind: 'recoveryFailed', fault, at: now() }), signal))
      while (!signal.aborted) {
        noteGate()
        await rest(due, signal).catch(() => undefined)
        if (signal.aborted || state.observed === undefined) continue
        take({ kind: 'lookBegan' })
        try {
          due = await look(signal)
        } catch (error) {
          if (isAbort(error, signal)) break
          const fault = asFault(error)
          const desired = state.looked?.desired
          const own = desired?.kind === 'sync' ? logOf(log, desired.requestId) : log
          own.error({ reason: fault.reason, err: error }, 'a sync ended with an error that is a bug')
          take({ kind: 'lookFailed', fault, at: now() })
          due = { waitMs: retryMs() }
        }
        take({ kind: 'lookEnded' })
      }
      take({ kind: 'stopped' })
    },
  }
}

/** A publish that was interrupted is ended before the first look; where that fails, the next sync tries again. */
async function recoverFirst(
  { recover, log }: Pick<FollowDeps, 'recover' | 'log'>,
  failed: (fault: Fault) => void,
  signal: AbortSignal,
): Promise<FollowerEvent> {
  try {
    await recover(failed, signal)
  } catch (error) {
    const { reason, message } = asFault(error)
    if (!isAbort(error, signal))
      log.warn({ reason, message }, 'what an interrupted publish may have left could not be looked at; the next sync tries again')
  }
  return { kind: 'recovered' }
}

/** Tells of a failure, and of an end where it `isNews`. */
function logEnd(log: Log, { commit, requestId }: Extract<Desired, { kind: 'sync' }>, result: CycleResult, isNews: boolean): void {
  const own = logOf(log, requestId)
  if (result.phase === 'Failed') own.warn({ commit, reason: result.reason ?? 'Unexpected', message: result.message ?? '' }, 'sync failed')
  else if (isNews) own.info({ commit, reason: result.phase }, 'sync ended')
}

/** What the engine has to put in place for this pod. */
function wantedOf(
  desired: Extract<Desired, { kind: 'sync' }>,
  pod: PodFacts,
  { dataDir, mode, halt }: { dataDir: string; mode: Wanted['facts']['mode']; halt: AbortSignal },
): Wanted {
  const { commit, ref, profile, syncHash, paused, validation, requestId } = desired
  const { confirmDeletions, confirmOverwrites, rolledOutBefore, check } = desired
  const { podName, namespace, labels: podLabels } = pod
  const facts = { gatewayName: gatewayName(pod), podName, namespace, ordinal: podOrdinal(pod), podLabels, mode }
  const answers = { confirmDeletions, confirmOverwrites, rolledOutBefore }
  return { commit, ref, profile, syncHash, dataDir, paused, validation, halt, requestId, facts, check, ...answers }
}

/** Caches the latest value, until what it is made from changes. */
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
