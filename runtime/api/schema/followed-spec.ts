/**
 * Parses the parts of a GatewaySync that an agent uses, for its own profile. An agent runs as long as its pod, so the spec may contain
 * fields and values of a later release. Those in unused parts are ignored; an unknown field is dropped and reported; only an unusable value
 * makes the spec invalid for the agent. Pure.
 */
import * as v from 'valibot'
import type { FollowedMembers } from '../followed-ref.ts'
import { sourceOfArtifact } from './oci-spec.ts'
import { gatewaySettings, type GatewaySyncSpec, type SyncDefaults, validationSettings } from './spec.ts'
import { profileSettings, syncDefaults } from './sync-spec.ts'
import { unknownMembers } from '../without-defaults.ts'

/** A spec as an agent sees it, with every default applied. With any `rollout`, the gateway waits until it is admitted. */
export type FollowedSpec = Pick<GatewaySyncSpec, 'gateway' | 'sync' | 'validation' | 'paused'> & {
  git: { repo: string } & FollowedMembers
  rollout?: unknown
  /** Whether the agent submits local changes on request. */
  capture?: unknown
}

/** `ignoredFields` are paths such as `sync.defaults.x`; `path` and `message` name the first invalid member. */
export type ReadSpec =
  | { kind: 'read'; spec: FollowedSpec; profiles: readonly string[]; ignoredFields: readonly string[] }
  | { kind: 'invalid'; path: string; message: string }

/** Maximum number of fields in a report. */
const maxIgnored = 20

/** Reads `spec` for one profile: `sync.profiles` of the result holds only that one, if it exists. Never throws. */
export function readFollowedSpec(document: unknown, profile: string): ReadSpec {
  const outline = v.safeParse(v.object({ sync: v.object({ profiles: v.record(v.string(), v.unknown()) }) }), document)
  const profiles = outline.success ? outline.output.sync.profiles : {}
  const own = Object.hasOwn(profiles, profile) ? { [profile]: profileSettings } : {}
  const schema = v.object({
    git: v.optional(
      v.object({ repo: v.string(), ref: v.optional(v.string()), semver: v.optional(v.string()), tagPattern: v.optional(v.string()) }),
    ),
    oci: v.optional(
      v.object({
        url: v.string(),
        tag: v.optional(v.string()),
        semver: v.optional(v.string()),
        digest: v.optional(v.string()),
        insecure: v.optional(v.boolean()),
      }),
    ),
    gateway: v.optional(gatewaySettings, {}),
    sync: v.object({
      defaults: v.optional(syncDefaults, {}),
      profiles: v.object(own),
      rollbackOnFailedScan: v.optional(v.boolean(), false),
    }),
    validation: v.optional(validationSettings, {}),
    paused: v.optional(v.boolean(), false),
    rollout: v.optional(v.unknown()),
    capture: v.optional(v.unknown()),
  })
  const parsed = v.safeParse(schema, document)
  if (!parsed.success) {
    const [issue] = parsed.issues
    return { kind: 'invalid', path: v.getDotPath(issue) ?? '', message: issue.message }
  }
  const { git, oci, ...read } = parsed.output
  const source = git ?? (oci === undefined ? undefined : sourceOfArtifact(oci))
  if (source === undefined) return { kind: 'invalid', path: 'git', message: 'is missing, and so is spec.oci' }
  const { gateway, sync, validation } = document as { gateway?: unknown; sync: { defaults?: unknown }; validation?: unknown }
  const ignored = [
    ...unknownMembers(gatewaySettings, gateway, 'gateway'),
    ...unknownMembers(validationSettings, validation, 'validation'),
    ...unknownMembers(schema.entries.sync, { ...sync, defaults: {}, profiles: {} }, 'sync'),
    ...unknownMembers(syncDefaults, sync.defaults, 'sync.defaults'),
    ...unknownMembers(profileSettings, profiles[profile], `sync.profiles.${profile}`),
  ]
  const ignoredFields = ignored.filter((path) => path.length <= 256).slice(0, maxIgnored)
  return { kind: 'read', spec: { ...read, git: source }, profiles: Object.keys(profiles), ignoredFields }
}

/** The start settings of a profile, or the defaults without such a profile. */
export type StartFields = Pick<SyncDefaults, 'startPolicy' | 'startDeadline' | 'startGrace' | 'dryRun' | 'paused'>

const { startPolicy, startDeadline, startGrace, dryRun, paused } = syncDefaults.entries
const startDefaults = v.object({ startPolicy, startDeadline, startGrace, dryRun, paused })

/** Reads them from any `spec`, even an invalid one or one without that profile: unreadable values have their default. Never throws. */
export function readStartFields(document: unknown, profile: string): StartFields {
  const parts = [memberOf(document, 'sync', 'defaults'), memberOf(document, 'sync', 'profiles', profile)]
  const start = { ...v.parse(startDefaults, {}) }
  for (const part of parts)
    for (const [name, entry] of Object.entries(startDefaults.entries)) {
      const value = memberOf(part, name)
      const read = v.safeParse(entry, value)
      if (value !== undefined && read.success) Object.assign(start, { [name]: read.output })
    }
  return { ...start, paused: start.paused || memberOf(document, 'paused') === true }
}

function memberOf(value: unknown, ...names: readonly string[]): unknown {
  return names.reduce<unknown>(
    (at, name) => (typeof at === 'object' && at !== null && Object.hasOwn(at, name) ? (at as Record<string, unknown>)[name] : undefined),
    value,
  )
}
