/**
 * Merges the defaults into one profile, and makes the hash by which controller and agent know that they mean the same. Pure.
 */
import { createHash } from 'node:crypto'
import * as v from 'valibot'
import { Fault } from '../../fault.ts'
import { canonicalJson } from '../canonical-json.ts'
import { type Collections, gatewaySettings, type GatewaySyncSpec, type Mapping, type SyncDefaults } from '../schema/spec.ts'
import { resolvedProfile } from '../schema/sync-spec.ts'
import { withoutDefaults } from '../without-defaults.ts'

/** A profile with every default applied. */
export type ResolvedProfile = SyncDefaults & {
  name: string
  collections: Collections | undefined
  mappings: readonly Mapping[]
}

/** The profile that a pod without the annotation follows. */
export const defaultProfileName = 'default'

/**
 * Merges the defaults into one profile: a variable of the profile wins over the default of the same name, exclude patterns add up,
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
    check: checkOfProfile(sync, name),
  }
}

/** What gateways of a profile are to pass in a rollout; undefined: nothing, also where there is no such profile. */
export function checkOfProfile({ defaults, profiles }: GatewaySyncSpec['sync'], name: string): SyncDefaults['check'] {
  return (Object.hasOwn(profiles, name) ? profiles[name]?.check : undefined) ?? defaults.check
}

/** The rule by which the hash is made; another rule gives other hashes, and says so. */
const hashRule = 'v1'

const hashed = v.object({ profile: resolvedProfile, gateway: gatewaySettings })

/**
 * Everything besides the commit that decides how a gateway is written, as one word: `v1-` and the SHA-256, in hex, of the resolved profile
 * and `spec.gateway`. Members that equal their default are left out, so that a release with a new field changes no hash. Neither ref, commit,
 * mode nor anything about a pod is included, so that controller and agent compute the same.
 */
export function syncHash(profile: ResolvedProfile, gateway: GatewaySyncSpec['gateway']): string {
  const told = withoutDefaults(hashed, { profile, gateway })
  return `${hashRule}-${createHash('sha256').update(canonicalJson(told)).digest('hex')}`
}

/** Nobody changes a spec, and every pass and look at its gateways asks for the same few hashes again. */
const wanted = new WeakMap<GatewaySyncSpec, Map<string, string>>()

/** The hash that agents of a profile report once they follow this spec. Throws UnknownProfile. */
export function wantedHash(spec: GatewaySyncSpec, profile: string): string {
  const known = wanted.get(spec) ?? new Map<string, string>()
  const hash = known.get(profile) ?? syncHash(resolveProfile(spec.sync, profile), spec.gateway)
  wanted.set(spec, known.set(profile, hash))
  return hash
}
