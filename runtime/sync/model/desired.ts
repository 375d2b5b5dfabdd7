/**
 * Describes what one gateway should hold, and for which deployment mode. Pure.
 */
import type { Mode } from '../../api/mode.ts'
import type { ResolvedProfile } from '../../api/schema/profile.ts'
import type { GatewaySyncSpec, HttpCheck } from '../../api/schema/spec.ts'
import { type CommitHash, foldName } from '../../api/values.ts'
import { baseCollections } from '../../validation/model/inheritance.ts'
import type { State } from './manifest.ts'

/** Known facts about one gateway. `mode.name` is `''` if it runs without a mode. */
export type GatewayFacts = {
  gatewayName: string
  podName: string
  ordinal: number
  podLabels: Readonly<Record<string, string>>
  namespace: string
  mode?: Mode | undefined
}

/** What one gateway should hold: the input of one cycle, built by the agent or the standalone runner. */
export type SyncTarget = {
  commit: CommitHash
  ref: string
  profile: ResolvedProfile
  syncHash: string
  dataDir: string
  facts: GatewayFacts
  /** The commit whose deletions beyond `maxDeletions` a user has confirmed. */
  confirmDeletions?: CommitHash | undefined
  /** The commit that may undo local changes although `drift` is `Hold`. */
  confirmOverwrites?: CommitHash | undefined
  /** Before a rollout: the last commit that every gateway had; undefined: no rollout, or unknown. */
  rolledOutBefore?: string | undefined
  /** The HTTP check to run once everything is in place; undefined: no rollout waits for one. */
  check?: HttpCheck | undefined
  paused: boolean
  /** How rendered resources of collections are validated. */
  validation: GatewaySyncSpec['validation']
  /** Check for local changes even with a new commit; otherwise the next cycle for the same commit does. */
  checkDrift?: boolean
  /** The push or request that triggered the commit, for the log. */
  requestId?: string | undefined
  /** Aborted if nothing more may be written: staged files are discarded, but an apply that has started is finished. */
  halt?: AbortSignal | undefined
}

/** `lastKnown`: the mode is unknown now, so the mode of the folder's last sync stays in force. */
export type ActiveMode = Mode & { lastKnown?: true }

/**
 * Returns the mode that selects the collections of a profile; undefined without collections. A stopped gateway does not report its mode,
 * which must not delete its files, so the last known mode is kept in `state`, the manifest's.
 */
export function activeMode({ profile, facts }: Pick<SyncTarget, 'profile' | 'facts'>, state: State | undefined): ActiveMode | undefined {
  if (profile.collections === undefined) return undefined
  if (profile.collections.mode !== 'auto') return { name: profile.collections.mode, from: 'Spec' }
  if (facts.mode !== undefined && facts.mode.from !== 'None') return facts.mode
  const last = lastKnownMode(state)
  return last === undefined || last.name === '' ? { name: '', from: 'None' } : { ...last, lastKnown: true }
}

/** The state of an earlier version has no `mode`, but its chain of collections ends with the mode's. */
function lastKnownMode(state: State | undefined): Mode | undefined {
  if (state?.mode !== undefined) return state.mode
  const name = state?.chain.at(-1)
  return name === undefined || baseCollections.includes(foldName(name)) ? undefined : { name, from: 'None' }
}
