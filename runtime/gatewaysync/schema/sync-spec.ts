/**
 * Which folders go where and how: `spec.sync`. Pure.
 */
import * as v from 'valibot'
import { checkSettings } from './check-spec.ts'
import { celDuration, duration, durationMs, glob, patchedFiles, path, text } from './fields.ts'
import { crd, rule } from './rule.ts'

const vars = v.pipe(
  v.record(v.pipe(v.string(), v.regex(/^[A-Za-z_][A-Za-z0-9_]{0,62}$/, 'must be a variable name')), v.pipe(v.string(), v.maxLength(4096))),
  v.maxEntries(128),
  v.description('Variables for templates and patches, used as vars.<name>.'),
)

const percentOrNumber = /^(100|[0-9]{1,2})%$/
const maxDeletions = v.pipe(
  v.union([v.pipe(v.string(), v.maxLength(8)), v.pipe(v.number(), v.integer(), v.minValue(0))]),
  rule(
    'must be a percentage such as 50% or a number of files',
    "type(self) == int ? self >= 0 : string(self).matches('^(100|[0-9]{1,2})%$')",
    (value) => typeof value === 'number' || percentOrNumber.test(value),
  ),
  crd({ 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }], type: undefined, maxLength: 8 }),
  v.description('More deletions than this stop with MassDeletion until confirmed; applied above 10 deletions.'),
)

const syncPeriod = v.pipe(v.number(), v.integer(), v.minValue(5), v.maxValue(3600), v.description('Seconds between two looks for drift.'))
const excludePatterns = v.pipe(
  v.array(glob),
  v.maxLength(64),
  v.description('Globs of what is left out; those of defaults, profile and mapping add up.'),
)
const designerSessionPolicy = v.pipe(v.picklist(['proceed', 'wait', 'fail']), v.description('What to do while a Designer session is open.'))
const drift = v.pipe(
  v.picklist(['report', 'restore', 'hold']),
  v.description('What to do about local changes of owned files: tell of them, undo them, or keep a commit out that would undo them.'),
)
const prune = v.pipe(
  v.picklist(['owned', 'all', 'none']),
  v.description('What may be deleted: files that this operator wrote, every file of the folder, or nothing.'),
)
const startPolicy = v.pipe(
  v.picklist(['block', 'start']),
  v.description('Whether a gateway whose volume holds no whole commit waits for one before it starts.'),
)
/** The kubelet restarts an agent whose gateway has waited for half an hour, so a wait must be shorter than that. */
const startWait = v.pipe(
  duration,
  rule(
    'must be at most 25m',
    `!self.matches(${celDuration}) || duration(self) <= duration('25m')`,
    (value) => (durationMs(value) ?? 0) <= 25 * 60_000,
  ),
)
const startDeadline = v.pipe(
  startWait,
  v.description('How long startPolicy block holds a gateway at most; then it starts without a commit. At most 25m.'),
)
const startGrace = v.pipe(
  startWait,
  v.description('How long a gateway whose volume holds a whole commit waits for the published one at most, whatever startDeadline says.'),
)

const check = v.pipe(
  checkSettings,
  v.description('In a rollout a gateway counts as healthy only once it has passed this; asked until the rollout ends.'),
)

/** The schema of `spec.sync.defaults`. */
export const syncDefaults = v.object({
  excludePatterns: v.optional(excludePatterns, []),
  vars: v.optional(vars, {}),
  syncPeriod: v.optional(syncPeriod, 30),
  designerSessionPolicy: v.optional(designerSessionPolicy, 'proceed'),
  dryRun: v.optional(v.pipe(v.boolean(), v.description('Plan and report, write nothing.')), false),
  paused: v.optional(v.pipe(v.boolean(), v.description('Write nothing; checking and acknowledging go on.')), false),
  drift: v.optional(drift, 'report'),
  prune: v.optional(prune, 'owned'),
  maxDeletions: v.optional(maxDeletions, '50%'),
  startPolicy: v.optional(startPolicy, 'block'),
  startDeadline: v.optional(startDeadline, '10m'),
  startGrace: v.optional(startGrace, '30s'),
  check: v.optional(check),
})

const patch = v.object({
  file: patchedFiles,
  set: v.pipe(
    v.record(text(512), v.pipe(v.string(), v.maxLength(4096))),
    v.maxEntries(64),
    v.description(
      'JSONPath (RFC 9535; a bare name means $.name) to new value, which may be a template. The type of the replaced value stays.',
    ),
  ),
})

const mapping = v.object({
  source: v.pipe(path, v.minLength(1, 'must not be empty'), v.description('Folder or file in the repository; may be a template.')),
  destination: v.pipe(
    path,
    v.minLength(1, 'must not be empty'),
    v.description("Path below the gateway's data directory; may be a template."),
  ),
  type: v.optional(v.pipe(v.picklist(['dir', 'file']), v.description('Whether the source is a folder or one file.')), 'dir'),
  required: v.optional(v.pipe(v.boolean(), v.description('When false, an absent source leaves the destination alone.')), true),
  template: v.optional(v.pipe(v.boolean(), v.description('Render every file of this mapping with LiquidJS.')), false),
  prune: v.optional(prune),
  excludePatterns: v.optional(excludePatterns),
  patches: v.optional(v.pipe(v.array(patch), v.maxLength(32), v.description('Values to set in JSON files on their way to the gateway.'))),
})

const collections = v.object({
  root: v.pipe(path, v.minLength(1, 'must not be empty'), v.description('Folder in the repository that holds one folder per collection.')),
  mode: v.optional(v.pipe(text(255), v.description('Deployment mode, or auto: what the gateway itself is started with.')), 'auto'),
})

/** The schema of one of `spec.sync.profiles`. */
export const profileSettings = v.pipe(
  v.object({
    collections: v.optional(v.pipe(collections, v.description('Resource collections of the gateway, by deployment mode.'))),
    mappings: v.optional(
      v.pipe(v.array(mapping), v.maxLength(64), v.description('Folders and files and where they go; a later one wins for a path.')),
    ),
    excludePatterns: v.optional(excludePatterns),
    vars: v.optional(vars),
    syncPeriod: v.optional(syncPeriod),
    designerSessionPolicy: v.optional(designerSessionPolicy),
    dryRun: v.optional(v.pipe(v.boolean(), v.description('Plan and report, write nothing.'))),
    paused: v.optional(v.pipe(v.boolean(), v.description('Write nothing; checking and acknowledging go on.'))),
    drift: v.optional(drift),
    prune: v.optional(prune),
    maxDeletions: v.optional(maxDeletions),
    startPolicy: v.optional(startPolicy),
    startDeadline: v.optional(startDeadline),
    startGrace: v.optional(startGrace),
    check: v.optional(check),
  }),
  rule(
    'a profile needs collections or mappings',
    'has(self.collections) || has(self.mappings)',
    (value) => value.collections !== undefined || value.mappings !== undefined,
  ),
)

const profileName = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/
const profiles = v.pipe(
  v.record(v.string(), profileSettings),
  v.minEntries(1, 'at least one profile is needed'),
  v.maxEntries(32),
  rule(
    'profile names are lower-case letters, digits and -, at most 63',
    "self.all(k, k.matches('^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'))",
    (value) => Object.keys(value).every((name) => profileName.test(name)),
  ),
)

/** A profile with the defaults merged in, without its name: the part of `ResolvedProfile` that is hashed. */
export const resolvedProfile = v.object({
  ...syncDefaults.entries,
  collections: v.optional(collections),
  mappings: v.optional(v.array(mapping), []),
})

/** The schema of `spec.sync`. */
export const syncSpec = v.object({
  defaults: v.optional(v.pipe(syncDefaults, v.description('Settings of every profile that does not set them itself.')), {}),
  profiles: v.pipe(profiles, v.description('What goes where; a pod chooses by annotation, default "default".')),
  rollbackOnFailedScan: v.optional(
    v.pipe(
      v.boolean(),
      v.description(
        'A commit that a gateway cannot take, whose scan fails, or that it complains of goes back everywhere: a rollout with one stage of all gateways. spec.rollout takes its place.',
      ),
    ),
    false,
  ),
})
