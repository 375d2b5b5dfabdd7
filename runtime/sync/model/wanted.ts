/**
 * What one gateway should hold, and for which deployment mode. Pure.
 */
import type { Mode } from '../../collections/model/mode.ts'
import type { ResolvedProfile } from '../../gatewaysync/decide/profile.ts'
import type { GatewaySyncSpec, HttpCheck } from '../../gatewaysync/schema/spec.ts'
import { type CommitHash, foldName } from '../../gatewaysync/values.ts'
import { baseCollections } from '../../collections/model/inheritance.ts'
import type { State } from './manifest.ts'

/** What is known about one gateway. `mode.name` is `''` when it runs without a mode. */
export type Facts = {
  gatewayName: string
  podName: string
  ordinal: number
  podLabels: Readonly<Record<string, string>>
  namespace: string
  mode?: Mode | undefined
}

/** What one gateway should hold: made by the agent or the standalone runner, for one cycle. */
export type Wanted = {
  commit: CommitHash
  ref: string
  profile: ResolvedProfile
  syncHash: string
  dataDir: string
  facts: Facts
  /** The commit whose deletions beyond `maxDeletions` somebody has confirmed. */
  confirmDeletions?: CommitHash | undefined
  /** The commit that may undo local changes although `drift` is `hold`. */
  confirmOverwrites?: CommitHash | undefined
  /** Before a rollout: the last commit that every gateway had; undefined: there is no rollout, or it knows none. */
  rolledOutBefore?: string | undefined
  /** What the gateway is asked once everything is in place; undefined: nothing, as no rollout waits for it. */
  check?: HttpCheck | undefined
  paused: boolean
  /** How rendered resources of collections are judged. */
  validation: GatewaySyncSpec['validation']
  /** Look for local changes even with a new commit; otherwise the next cycle for the same commit does that. */
  thorough?: boolean
  /** The push or request that asked for the commit, for the log. */
  requestId?: string | undefined
  /** Aborted when nothing more may be written: staged files are discarded, but a publish that has begun is finished. */
  halt?: AbortSignal | undefined
}

/** `lastKnown`: the mode cannot be found now, so the one that the folder was last synced for stays in force. */
export type ActiveMode = Mode & { lastKnown?: true }

/**
 * The mode that the collections of a profile are delivered for; undefined without collections. A gateway that is down cannot tell its mode,
 * and that must not delete its files, so `state`, the manifest's, remembers the last known one.
 */
export function activeMode({ profile, facts }: Pick<Wanted, 'profile' | 'facts'>, state: State | undefined): ActiveMode | undefined {
  if (profile.collections === undefined) return undefined
  if (profile.collections.mode !== 'auto') return { name: profile.collections.mode, from: 'spec' }
  if (facts.mode !== undefined && facts.mode.from !== 'none') return facts.mode
  const last = lastKnownMode(state)
  return last === undefined || last.name === '' ? { name: '', from: 'none' } : { ...last, lastKnown: true }
}

/** A state by an earlier version has no `mode`, but its chain of collections ends with the mode's. */
function lastKnownMode(state: State | undefined): Mode | undefined {
  if (state?.mode !== undefined) return state.mode
  const name = state?.chain.at(-1)
  return name === undefined || baseCollections.includes(foldName(name)) ? undefined : { name, from: 'none' }
}
