/**
 * The answers to the kubelet's probes: whether the gateway may start, and whether the agent is alive. Pure.
 */
import type { Fault } from '../fault.ts'
import { durationMs } from '../gatewaysync/schema/fields.ts'
import type { StartWish } from '../gatewaysync/schema/followed-spec.ts'

/** `started` answers /startz, `live` answers /livez. */
export type AgentHealth = {
  /** Whether the gateway may start. */
  started: boolean
  /** Whether the agent's own loop works. */
  live: boolean
  /** Why not, for the body of the answer. */
  why: string | undefined
}

/** How long a gateway's start is held back. */
export type StartSettings = {
  /** `start`: not at all. */
  policy: 'block' | 'start'
  deadlineMs: number
  graceMs: number
}

/** Used until the GatewaySync has been read: the schema's own defaults. */
export const unknownStart: StartSettings = { policy: 'block', deadlineMs: 600_000, graceMs: 30_000 }

/** The settings that a profile asks for. One that is paused or a dry run writes nothing, so its gateway does not wait. */
export function startSettings({ startPolicy, startDeadline, startGrace, dryRun, paused }: StartWish): StartSettings {
  return {
    policy: paused || dryRun ? 'start' : startPolicy,
    deadlineMs: durationMs(startDeadline) ?? unknownStart.deadlineMs,
    graceMs: durationMs(startGrace) ?? unknownStart.graceMs,
  }
}

type StartFacts = {
  /** Undefined: the GatewaySync has not been read yet. */
  settings: StartSettings | undefined
  /** Whether the published commit is in place, put or found there by this process. */
  synced: boolean
  /** Whether the volume holds a complete commit, the published one or another. */
  whole: boolean
  /** Milliseconds since the agent of this pod first started. */
  sinceStartMs: number
}

/** Whether the gateway may start, and why. */
export type StartGate =
  | { kind: 'open'; by: 'synced' | 'policy' | 'grace' | 'deadline' }
  /** Opens by itself after `forMs`, in any case. */
  | { kind: 'held'; forMs: number; why: string }

/**
 * Decides whether the gateway may start. One whose volume holds no complete commit waits for the first, up to `deadlineMs`; one that could run
 * with what it has waits up to `graceMs` for the published commit and then starts, whatever delivery, a check or a template says.
 */
export function startGate({ settings = unknownStart, synced, whole, sinceStartMs }: StartFacts): StartGate {
  if (synced) return { kind: 'open', by: 'synced' }
  if (settings.policy === 'start') return { kind: 'open', by: 'policy' }
  const limitMs = whole ? settings.graceMs : settings.deadlineMs
  if (sinceStartMs >= limitMs) return { kind: 'open', by: whole ? 'grace' : 'deadline' }
  const why = whole
    ? 'the published commit is not in place yet; the gateway soon starts with the one that it has'
    : 'the data volume holds no whole commit yet'
  return { kind: 'held', forMs: limitMs - sinceStartMs, why }
}

/** Why a gateway waits while a publish that was interrupted is ended; `fault`: why that could not be done so far. */
export function endsFirst(fault: Fault | undefined): string {
  const first = 'the agent first ends a publish that was interrupted'
  return fault === undefined ? first : `${first}, and tries again: ${fault.message} (${fault.reason})`
}

/** After this long a look of the agent's loop counts as stuck: longer than any deadline inside it. */
const stuckAfterMs = 900_000

type Activity = {
  gate: StartGate
  /** For how long the look under way has been at work; 0 between two looks. */
  lookingForMs: number
  stopping: boolean
}

/** What the probes of the agent's container answer. */
export function agentHealth({ gate, lookingForMs, stopping }: Activity): AgentHealth {
  const live = lookingForMs < stuckAfterMs
  if (stopping) return { started: true, live, why: 'shutting down' }
  if (gate.kind === 'held') return { started: false, live, why: gate.why }
  return { started: true, live, why: live ? undefined : 'the last look has not ended' }
}
