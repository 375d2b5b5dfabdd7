/**
 * The answers to the kubelet's probes: whether the gateway may start, and whether the agent is alive. Pure.
 */
import type { Fault } from '../platform/fault.ts'
import { durationMs } from '../api/schema/fields.ts'
import type { StartFields } from '../api/schema/followed-spec.ts'

/** `started` answers /startz, `live` answers /livez. */
export type AgentHealth = {
  /** Whether the gateway may start. */
  started: boolean
  /** Whether the agent's own loop makes progress. */
  live: boolean
  /** The reason if not, for the response body. */
  why: string | undefined
}

/** How long a gateway's start is held. */
export type StartSettings = {
  /** `Start`: not at all. */
  policy: 'Block' | 'Start'
  deadlineMs: number
  graceMs: number
}

/** Used until the GatewaySync has been read: the schema's own defaults. */
export const unknownStart: StartSettings = { policy: 'Block', deadlineMs: 600_000, graceMs: 30_000 }

/** Returns the start settings of a profile. A paused or dry-run profile writes nothing, so its gateway is not held. */
export function startSettings({ startPolicy, startDeadline, startGrace, dryRun, paused }: StartFields): StartSettings {
  return {
    policy: paused || dryRun ? 'Start' : startPolicy,
    deadlineMs: durationMs(startDeadline) ?? unknownStart.deadlineMs,
    graceMs: durationMs(startGrace) ?? unknownStart.graceMs,
  }
}

type StartFacts = {
  /** Undefined: the GatewaySync has not been read yet. */
  settings: StartSettings | undefined
  /** Whether this process put the published commit in place or found it there. */
  synced: boolean
  /** Whether the volume holds a complete commit, the published one or another. */
  hasCommit: boolean
  /** Milliseconds since the agent of this pod first started. */
  sinceStartMs: number
}

/** Whether the gateway may start, and why. */
export type StartupHold =
  | { kind: 'open'; by: 'synced' | 'policy' | 'grace' | 'deadline' }
  /** Opens after `forMs` in any case. */
  | { kind: 'held'; forMs: number; why: string }

/**
 * Decides whether the gateway may start. A gateway whose volume has no complete commit waits for the first one, up to `deadlineMs`; one
 * with a complete commit waits up to `graceMs` for the published commit and then starts, even if delivery, a check or a template fails.
 */
export function startupHold({ settings = unknownStart, synced, hasCommit, sinceStartMs }: StartFacts): StartupHold {
  if (synced) return { kind: 'open', by: 'synced' }
  if (settings.policy === 'Start') return { kind: 'open', by: 'policy' }
  const limitMs = hasCommit ? settings.graceMs : settings.deadlineMs
  if (sinceStartMs >= limitMs) return { kind: 'open', by: hasCommit ? 'grace' : 'deadline' }
  const why = hasCommit
    ? 'the published commit is not in place yet; the gateway will soon start with its current commit'
    : 'the data volume has no complete commit yet'
  return { kind: 'held', forMs: limitMs - sinceStartMs, why }
}

/** Why a gateway waits during recovery of an interrupted apply; `fault`: why recovery has failed so far. */
export function recoveryMessage(fault: Fault | undefined): string {
  const first = 'the agent is recovering an interrupted apply'
  return fault === undefined ? first : `${first}, and retries: ${fault.message} (${fault.reason})`
}

/** A sync that runs longer than this counts as stuck: the value is above every deadline inside a sync. */
const stuckAfterMs = 900_000

type Activity = {
  hold: StartupHold
  /** Duration of the running sync; 0 between syncs. */
  syncingForMs: number
  stopping: boolean
}

/** Returns the probe results of the agent's container. */
export function agentHealth({ hold, syncingForMs, stopping }: Activity): AgentHealth {
  const live = syncingForMs < stuckAfterMs
  if (stopping) return { started: true, live, why: 'shutting down' }
  if (hold.kind === 'held') return { started: false, live, why: hold.why }
  return { started: true, live, why: live ? undefined : 'a sync did not finish in time' }
}
