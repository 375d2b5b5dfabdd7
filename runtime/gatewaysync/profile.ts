/**
 * What one profile means once the defaults are merged in, and the hash by which controller and agent know they mean the same. Pure.
 */
import { createHash } from 'node:crypto'
import { Fault } from '../fault.ts'
import type { Collections, GatewaySyncSpec, Mapping, SyncDefaults } from './spec.ts'
import { parseRelativePath, type RelativePath } from './values.ts'

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
  }
}

/**
 * The folders and files of the repository that a profile reads, canonical and without one that lies below another; `''` is the whole
 * repository. A source that is a template counts up to its last folder before the first `{{` or `{%`.
 */
export function sourceRoots(profile: Pick<ResolvedProfile, 'collections' | 'mappings'>): RelativePath[] {
  const sources = profile.mappings.map((mapping) => parseRelativePath(beforeTemplate(mapping.source)))
  if (profile.collections !== undefined) sources.push(parseRelativePath(profile.collections.root))
  const sorted = [...new Set(sources)].toSorted()
  return sorted.filter((path) => !sorted.some((other) => other !== path && (other === '' || path.startsWith(`${other}/`))))
}

function beforeTemplate(source: string): string {
  const start = source.search(/\{\{|\{%/)
  return start < 0 ? source : source.slice(0, source.lastIndexOf('/', start) + 1)
}

/**
 * SHA-256, in hex, of what decides how a gateway is written besides the commit: the resolved profile and the gateway's address.
 * Neither ref, commit, mode nor anything of a pod takes part, so that controller and agent compute the same.
 */
export function syncHash(profile: ResolvedProfile, gateway: GatewaySyncSpec['gateway']): string {
  return createHash('sha256').update(canonicalJson({ profile, gateway })).digest('hex')
}

/** JSON with sorted keys and without undefined members: equal values give equal text. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  )
}
