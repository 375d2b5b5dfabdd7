/**
 * Merges the defaults into one profile, and computes the hash that controller and agent compare. Pure.
 */
import { createHash } from 'node:crypto'
import * as v from 'valibot'
import { Fault } from '../../platform/fault.ts'
import { type Collections, gatewaySettings, type GatewaySyncSpec, type Mapping, type SyncDefaults } from './spec.ts'
import { resolvedProfile } from './sync-spec.ts'
import { withoutDefaults } from '../without-defaults.ts'
import { canonicalJson } from '../../platform/text/json.ts'

/** A profile with every default applied. */
export type ResolvedProfile = SyncDefaults & {
  name: string
  collections: Collections | undefined
  mappings: readonly Mapping[]
}

/** The profile of a pod without the annotation. */
export const defaultProfileName = 'default'

/**
 * Merges the defaults into one profile: a variable of the profile overrides the default of the same name, exclude patterns add up,
 * everything else of the profile replaces the default. Throws UnknownProfile.
 */
export function resolveProfile(sync: GatewaySyncSpec['sync'], name: string): ResolvedProfile {
  const profile = Object.hasOwn(sync.profiles, name) ? sync.profiles[name] : undefined
  if (profile === undefined) {
    const known = Object.keys(sync.profiles).toSorted().join(', ')
    throw new Fault('UnknownProfile', `profile "${name}" does not exist; spec.sync.profiles has: ${known}`)
  }
  const { defaults } = sync
  return {
    name,
    collections: profile.collections,
    mappings: profile.mappings ?? [],
    excludePatterns: [...defaults.excludePatterns, ...(profile.excludePatterns ?? [])],
    vars: { ...defaults.vars, ...profile.vars },
    syncPeriod: profile.syncPeriod ?? defaults.syncPeriod,
    designerSessionPolicy: profile.designerSessionPolicy ?? defaults.designerSessionPolicy,
    dryRun: profile.dryRun ?? defaults.dryRun,
    paused: profile.paused ?? defaults.paused,
    drift: profile.drift ?? defaults.drift,
    prune: profile.prune ?? defaults.prune,
    maxDeletions: profile.maxDeletions ?? defaults.maxDeletions,
    startPolicy: profile.startPolicy ?? defaults.startPolicy,
    startDeadline: profile.startDeadline ?? defaults.startDeadline,
    startGrace: profile.startGrace ?? defaults.startGrace,
    healthCheck: checkOfProfile(sync, name),
  }
}

/** Returns the health check of a profile in a rollout; undefined: none, also without such a profile. */
export function checkOfProfile({ defaults, profiles }: GatewaySyncSpec['sync'], name: string): SyncDefaults['healthCheck'] {
  return (Object.hasOwn(profiles, name) ? profiles[name]?.healthCheck : undefined) ?? defaults.healthCheck
}

/** The version of the hash rule, part of the hash. */
const hashRule = 'v1'

const hashed = v.object({ profile: resolvedProfile, gateway: gatewaySettings })

/**
 * Hashes everything besides the commit that decides how a gateway is written: `v1-` and the SHA-256, in hex, of the resolved profile and
 * `spec.gateway`. Members that equal their default are left out, so that a release with a new field changes no hash. Neither ref, commit,
 * mode nor anything about a pod is included, so that controller and agent compute the same.
 */
export function syncHash(profile: ResolvedProfile, gateway: GatewaySyncSpec['gateway']): string {
  const explicit = withoutDefaults(hashed, { profile, gateway })
  return `${hashRule}-${createHash('sha256').update(canonicalJson(explicit)).digest('hex')}`
}

/** Specs are never mutated, and every reconcile needs the same few hashes again. */
const hashes = new WeakMap<GatewaySyncSpec, Map<string, string>>()

/** Returns the hash that agents of a profile report once they follow this spec. Throws UnknownProfile. */
export function desiredHash(spec: GatewaySyncSpec, profile: string): string {
  const known = hashes.get(spec) ?? new Map<string, string>()
  const hash = known.get(profile) ?? syncHash(resolveProfile(spec.sync, profile), spec.gateway)
  hashes.set(spec, known.set(profile, hash))
  return hash
}
