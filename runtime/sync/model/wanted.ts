/**
 * What one gateway should hold, and for which deployment mode. Pure.
 */
import type { Mode } from '../../collections/model/mode.ts'
import { type ResolvedProfile } from '../../gatewaysync/decide/profile.ts'
import type { GatewaySyncSpec } from '../../gatewaysync/schema/spec.ts'
import { type CommitHash, foldName } from '../../gatewaysync/values.ts'
import { baseCollections } from '../../collections/model/inheritance.ts'
import type { State } from './manifest.ts'

/** What is known of one gateway. `mode.name` is `''` where the gateway runs without one. */
export type Facts = {
  gatewayName: string
  podName: string
  ordinal: number
  podLabels: Readonly<Record<string, string>>
  namespace: string
  mode?: Mode | undefined
}

/** What one gateway should hold. */
export type Wanted = {
  commit: CommitHash
  ref: string
  profile: ResolvedProfile
  syncHash: string
  dataDir: string
  facts: Facts
  /** Permits the deletions of this commit beyond `maxDeletions`. */
  confirmDeletions?: CommitHash | undefined
  paused: boolean
  /** How what templates and patches make of resource collections is judged. */
  validation: GatewaySyncSpec['validation']
  /** Look for local changes also where a new commit came, which is otherwise left to the next look at the same commit. */
  thorough?: boolean
  /** The push or request that asked for the commit, for the log. */
  requestId?: string | undefined
  /** Aborted when nothing more shall be written: what is staged is given up, a publish that has begun is ended. */
  halt?: AbortSignal | undefined
}

/** `lastKnown`: the mode cannot be found now, so the one that the folder was last synced for stays in force. */
export type ActiveMode = Mode & { lastKnown?: true }

/**
 * The mode that the collections of a profile are delivered for; undefined without collections. A gateway that is down cannot say its
 * mode, and its files must not be deleted for that: `state` is the manifest's, which remembers the last mode that was known.
 */
export function activeMode({ profile, facts }: Pick<Wanted, 'profile' | 'facts'>, state: State | undefined): ActiveMode | undefined {
  if (profile.collections === undefined) return undefined
  if (profile.collections.mode !== 'auto') return { name: profile.collections.mode, from: 'spec' }
  if (facts.mode !== undefined && facts.mode.from !== 'none') return facts.mode
  const last = lastKnownMode(state)
  return last === undefined || last.name === '' ? { name: '', from: 'none' } : { ...last, lastKnown: true }
}

/** A state that an earlier version wrote names no mode; its chain of collections ends with it. */
function lastKnownMode(state: State | undefined): Mode | undefined {
  if (state?.mode !== undefined) return state.mode
  const name = state?.chain.at(-1)
  return name === undefined || baseCollections.includes(foldName(name)) ? undefined : { name, from: 'none' }
}
