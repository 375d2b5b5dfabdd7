/**
 * Defines which folders are synced to where and how: `spec.sync`. Pure.
 */
import * as v from 'valibot'
import { checkSettings } from './check-spec.ts'
import { celDuration, duration, durationMs, fewPieces, glob, interval, patchedFiles, path, text, crd, rule } from './fields.ts'
/** Limit for each of them and for their sum: the API server stores specs of 1.5 MB, and a controller could keep few of those. */
const maxVarsLength = 64 * 1024
const maxMappingsLength = 64 * 1024

type Texts = Readonly<Record<string, string>>
const lengthOf = (texts: readonly string[]): number => texts.reduce((sum, text) => sum + text.length, 0)

const vars = v.pipe(
  v.record(v.pipe(v.string(), v.regex(/^[A-Za-z_][A-Za-z0-9_]{0,62}$/, 'must be a variable name')), v.pipe(v.string(), v.maxLength(4096))),
  v.maxEntries(128),
  rule(
    `vars must have at most ${maxVarsLength} characters in total`,
    `self.map(n, size(self[n])).sum() <= ${maxVarsLength}`,
    (value) => lengthOf(Object.values(value)) <= maxVarsLength,
  ),
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
  v.description(
    'A commit that deletes more files than this number or percentage waits for confirmation (MassDeletion). Up to 10 deletions are always allowed.',
  ),
)

const syncPeriod = v.pipe(
  interval,
  rule(
    'must be at most 1h',
    `!self.matches(${celDuration}) || duration(self) <= duration('1h')`,
    (value) => (durationMs(value) ?? 0) <= 3_600_000,
  ),
  v.description('Interval between checks for drift, from 5s to 1h.'),
)
const excludePatterns = v.pipe(
  v.array(glob),
  v.maxLength(64),
  fewPieces('path'),
  v.description('Glob patterns of files to exclude, in addition to those of the enclosing levels.'),
)
const designerSessionPolicy = v.pipe(
  v.picklist(['Proceed', 'Wait', 'Fail']),
  v.description('How to sync while a Designer session is open: Proceed writes, Wait waits until it is closed, Fail fails the sync.'),
)
const drift = v.pipe(
  v.picklist(['Report', 'Restore', 'Hold']),
  v.description(
    'How local changes to managed files are handled: Report reports them, Restore reverts them, Hold holds back commits that would overwrite them.',
  ),
)
const prune = v.pipe(
  v.picklist(['Owned', 'All', 'None']),
  v.description('Which files may be deleted: Owned, those that the operator wrote; All, every file in the folder; None, no files.'),
)
const startPolicy = v.pipe(
  v.picklist(['Block', 'Start']),
  v.description('Block delays the start of a gateway until its volume has a complete commit; Start does not.'),
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
  v.description('Maximum time that startPolicy Block delays a gateway, which then starts without a commit. At most 25m.'),
)
const startGrace = v.pipe(
  startWait,
  v.description(
    'Maximum time that a gateway with a complete commit on its volume waits for the published commit. It applies instead of startDeadline.',
  ),
)

const healthCheck = v.pipe(
  checkSettings,
  v.description('Health check that a gateway must pass in a rollout. It is repeated until the rollout ends.'),
)

/** The schema of `spec.sync.defaults`. */
export const syncDefaults = v.object({
  excludePatterns: v.optional(excludePatterns, []),
  vars: v.optional(vars, {}),
  syncPeriod: v.optional(syncPeriod, '30s'),
  designerSessionPolicy: v.optional(designerSessionPolicy, 'Proceed'),
  dryRun: v.optional(v.pipe(v.boolean(), v.description('Reports what a sync would change without writing anything.')), false),
  paused: v.optional(v.pipe(v.boolean(), v.description('Stops writes to the gateway. Validation and reports continue.')), false),
  drift: v.optional(drift, 'Report'),
  prune: v.optional(prune, 'Owned'),
  maxDeletions: v.optional(maxDeletions, '50%'),
  startPolicy: v.optional(startPolicy, 'Block'),
  startDeadline: v.optional(startDeadline, '10m'),
  startGrace: v.optional(startGrace, '30s'),
  healthCheck: v.optional(healthCheck),
})

const patch = v.object({
  file: patchedFiles,
  set: v.pipe(
    v.record(text(512), v.pipe(v.string(), v.maxLength(4096))),
    v.maxEntries(8),
    v.description(
      'New values by JSONPath (RFC 9535); a plain name is short for $.name. Values may be templates and keep the type of the value they replace. At most 8 values; a file may have several patches.',
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
  type: v.optional(v.pipe(v.picklist(['Directory', 'File']), v.description('Whether the source is a folder or one file.')), 'Directory'),
  required: v.optional(
    v.pipe(v.boolean(), v.description('When false, the destination is left unchanged if the source does not exist.')),
    true,
  ),
  template: v.optional(v.pipe(v.boolean(), v.description('Renders every file of this mapping with LiquidJS.')), false),
  prune: v.optional(prune),
  excludePatterns: v.optional(excludePatterns),
  patches: v.optional(
    v.pipe(v.array(patch), v.maxLength(16), v.description('Values to set in JSON files before they are written to the gateway.')),
  ),
})

const collections = v.object({
  root: v.pipe(
    path,
    v.minLength(1, 'must not be empty'),
    v.description('Folder in the repository that contains one folder per collection.'),
  ),
  mode: v.optional(v.pipe(text(255), v.description('Deployment mode, or auto to use the mode of the gateway.')), 'auto'),
})

/** The schema of one of `spec.sync.profiles`. */
export const profileSettings = v.pipe(
  v.object({
    collections: v.optional(v.pipe(collections, v.description('Resource collections of the gateway, by deployment mode.'))),
    mappings: v.optional(
      v.pipe(
        v.array(mapping),
        v.maxLength(64),
        v.description('Folders and files to write. If several mappings contain a path, the last one is used.'),
      ),
    ),
    excludePatterns: v.optional(excludePatterns),
    vars: v.optional(vars),
    syncPeriod: v.optional(syncPeriod),
    designerSessionPolicy: v.optional(designerSessionPolicy),
    dryRun: v.optional(v.pipe(v.boolean(), v.description('Reports what a sync would change without writing anything.'))),
    paused: v.optional(v.pipe(v.boolean(), v.description('Stops writes to the gateway. Validation and reports continue.'))),
    drift: v.optional(drift),
    prune: v.optional(prune),
    maxDeletions: v.optional(maxDeletions),
    startPolicy: v.optional(startPolicy),
    startDeadline: v.optional(startDeadline),
    startGrace: v.optional(startGrace),
    healthCheck: v.optional(healthCheck),
  }),
  rule(
    'a profile needs collections or mappings',
    'has(self.collections) || has(self.mappings)',
    (value) => value.collections !== undefined || value.mappings !== undefined,
  ),
)

const profileName = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/

type MappingTexts = {
  source: string
  destination: string
  excludePatterns?: readonly string[] | undefined
  patches?: readonly { file: string; set: Texts }[] | undefined
}
const mappingLength = ({ source, destination, excludePatterns = [], patches = [] }: MappingTexts): number =>
  lengthOf([source, destination, ...excludePatterns, ...patches.flatMap(({ file, set }) => [file, ...Object.entries(set).flat()])])
/**
 * CEL of the same for a mapping `m`. The API server estimates its cost from the most profiles, mappings, patches and values, and refuses a
 * CRD above its budget. 16 patches of 8 values are close to it; 32 of 8 cost 1.5 times the budget, 32 of 64 values 9.2 times, and 8 times
 * if the names are not added. Counting values instead of adding lengths cannot bound the size, as a value has up to 4,096 characters.
 */
const celMappingLength = [
  'size(m.source) + size(m.destination)',
  '(has(m.excludePatterns) ? m.excludePatterns.map(e, size(e)).sum() : 0)',
  '(has(m.patches) ? m.patches.map(p, size(p.file) + p.set.map(n, size(n) + size(p.set[n])).sum()).sum() : 0)',
].join(' + ')

const profiles = v.pipe(
  v.record(v.string(), profileSettings),
  v.minEntries(1, 'at least one profile is needed'),
  v.maxEntries(32),
  rule(
    `the vars of all profiles must have at most ${maxVarsLength} characters in total`,
    `self.map(k, has(self[k].vars) ? self[k].vars.map(n, size(self[k].vars[n])).sum() : 0).sum() <= ${maxVarsLength}`,
    (value) => lengthOf(Object.values(value).flatMap((profile) => Object.values(profile.vars ?? {}))) <= maxVarsLength,
  ),
  rule(
    `the mappings of all profiles must have at most ${maxMappingsLength} characters in total`,
    `self.map(k, has(self[k].mappings) ? self[k].mappings.map(m, ${celMappingLength}).sum() : 0).sum() <= ${maxMappingsLength}`,
    (value) => {
      const mappings = Object.values(value).flatMap((profile) => profile.mappings ?? [])
      return mappings.reduce((sum, mapping) => sum + mappingLength(mapping), 0) <= maxMappingsLength
    },
  ),
  rule(
    'profile names must be at most 63 lower-case letters, digits and -',
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
  defaults: v.optional(v.pipe(syncDefaults, v.description('Defaults for all profiles.')), {}),
  profiles: v.pipe(profiles, v.description('Profiles by name. A pod selects one with an annotation; the default is "default".')),
  rollbackOnFailedScan: v.optional(
    v.pipe(
      v.boolean(),
      v.description(
        'Rolls back all gateways if one of them cannot apply the commit, fails its scan, or reports new problems. Ignored if spec.rollout is set.',
      ),
    ),
    false,
  ),
})
