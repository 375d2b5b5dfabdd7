/**
 * What the kubelet is told about the agent: whether the gateway may start, whether the agent is alive. Pure.
 */
import { durationMs } from '../gatewaysync/schema/fields.ts'
import type { ResolvedProfile } from '../gatewaysync/decide/profile.ts'

export type AgentHealth = {
  /** The gateway may start. */
  started: boolean
  /** The agent's own loop is at work. */
  live: boolean
  /** Why not, for the body of the probe's answer. */
  why: string | undefined
}

/** How a gateway is held back at its start. */
export type StartSettings = {
  /** `start`: not at all. */
  policy: 'block' | 'start'
  deadlineMs: number
  graceMs: number
}

/** What holds as long as nobody knows what the GatewaySync says: the schema's own defaults. */
export const unknownStart: StartSettings = { policy: 'block', deadlineMs: 600_000, graceMs: 30_000 }

/** A profile that writes nothing has nothing that its gateway could wait for. */
export function startSettings(profile: ResolvedProfile, paused: boolean): StartSettings {
  const { startPolicy, startDeadline, startGrace, dryRun } = profile
  return {
    policy: paused || dryRun ? 'start' : startPolicy,
    deadlineMs: durationMs(startDeadline) ?? unknownStart.deadlineMs,
    graceMs: durationMs(startGrace) ?? unknownStart.graceMs,
  }
}

type StartFacts = {
  /** Undefined: the GatewaySync has not been read yet. */
  settings: StartSettings | undefined
  /** The published commit is in place, brought or found there by this process. */
  synced: boolean
  /** The volume holds a whole commit, be it the published one or not. */
  whole: boolean
  /** Milliseconds since the agent of this pod first started. */
  sinceStartMs: number
}

export type StartGate =
  | { kind: 'open'; by: 'synced' | 'policy' | 'grace' | 'deadline' }
  /** It opens by itself after this time, whatever happens or does not. */
  | { kind: 'held'; forMs: number; why: string }

/**
 * Whether the gateway may start (design section 3, "Start gate"): one whose volume holds no whole commit waits for the first, for a
 * bounded time; one that could run with what it has waits a moment for the published commit and then starts, whatever delivery, a check or a
 * template says.
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

/** A look of the agent's loop may take this long before the agent counts as stuck: longer than any deadline inside it. */
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
