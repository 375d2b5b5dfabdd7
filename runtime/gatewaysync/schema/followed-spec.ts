/**
 * What an agent reads of a GatewaySync: the parts that it acts on, for its own profile. An agent lives as long as its pod, so the spec may hold
 * fields and values of a later release. Those in parts that the agent does not use it ignores; an unknown field is left out and reported; only
 * a value that it cannot act on makes the spec invalid for it. Pure.
 */
import * as v from 'valibot'
import { gatewaySettings, type GatewaySyncSpec, validationSettings } from './spec.ts'
import { profileSettings, syncDefaults } from './sync-spec.ts'
import { unknownMembers } from '../without-defaults.ts'

/** A spec as an agent sees it, with every default applied. With `rollout`, whatever it says, the gateway waits for its turn. */
export type FollowedSpec = Pick<GatewaySyncSpec, 'gateway' | 'sync' | 'validation' | 'paused'> & {
  git: { repo: string; ref: string }
  rollout?: unknown
  /** Whether the gateway hands on what was changed on it when it is asked. */
  capture?: unknown
}

/** `ignoredFields` are paths such as `sync.defaults.x`; `path` and `message` name the first invalid member. */
export type ReadSpec =
  | { kind: 'read'; spec: FollowedSpec; profiles: readonly string[]; ignoredFields: readonly string[] }
  | { kind: 'invalid'; path: string; message: string }

/** The most that a report may name. */
const maxIgnored = 20

/** Reads `spec` for one profile: `sync.profiles` of the result holds only that one, if it exists. Never throws. */
export function readFollowedSpec(document: unknown, profile: string): ReadSpec {
  const outline = v.safeParse(v.object({ sync: v.object({ profiles: v.record(v.string(), v.unknown()) }) }), document)
  const profiles = outline.success ? outline.output.sync.profiles : {}
  const own = Object.hasOwn(profiles, profile) ? { [profile]: profileSettings } : {}
  const schema = v.object({
    git: v.object({ repo: v.string(), ref: v.string() }),
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
  const { gateway, sync } = document as { gateway?: unknown; sync: { defaults?: unknown } }
  const ignored = [
    ...unknownMembers(gatewaySettings, gateway, 'gateway'),
    ...unknownMembers(syncDefaults, sync.defaults, 'sync.defaults'),
    ...unknownMembers(profileSettings, profiles[profile], `sync.profiles.${profile}`),
  ]
  const ignoredFields = ignored.filter((path) => path.length <= 256).slice(0, maxIgnored)
  return { kind: 'read', spec: parsed.output, profiles: Object.keys(profiles), ignoredFields }
}
