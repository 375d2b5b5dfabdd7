/**
 * What the kubelet is told about the agent: whether the gateway may start, whether the agent is alive. Pure.
 */
import type { Desired } from './desired.ts'

export type AgentHealth = {
  /** The gateway may start: the first good sync is done, or nothing that an agent could wait for is to be had. */
  started: boolean
  /** The agent's own loop is at work. */
  live: boolean
  /** Why not, for the body of the probe's answer. */
  why: string | undefined
}

/** A step of the agent's loop may take this long before the agent counts as stuck: longer than any deadline inside it. */
const stuckAfterMs = 900_000

/** A GatewaySync that cannot be read for this long holds the gateway back no more: the API server may be away for a reason. */
const unreadableForMs = 120_000

type Facts = {
  desired: Desired | undefined
  /** The first sync of this pod ended well, or found everything in place. */
  synced: boolean
  /** For how long the step under way has been at work; 0 between two steps. */
  steppingForMs: number
  sinceStartMs: number
  stopping: boolean
}

/**
 * `startPolicy: block` holds the gateway back until its first good sync; whatever makes a sync impossible without a fault of the
 * gateway's (no GatewaySync, nothing published, paused, unknown profile, dry run) never does: no decision of ours keeps a gateway down.
 */
export function agentHealth({ desired, synced, steppingForMs, sinceStartMs, stopping }: Facts): AgentHealth {
  const live = steppingForMs < stuckAfterMs
  if (stopping) return { started: true, live, why: 'shutting down' }
  if (desired === undefined) return { started: sinceStartMs > unreadableForMs, live, why: 'the GatewaySync has not been read yet' }
  if (synced || desired.kind === 'idle') return { started: true, live, why: live ? undefined : 'the last step has not ended' }
  const waits = desired.profile.startPolicy === 'block' && !desired.paused && !desired.profile.dryRun
  return { started: !waits, live, why: waits ? 'the first sync has not ended well yet' : undefined }
}
