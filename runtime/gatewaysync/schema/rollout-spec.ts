/**
 * In which order, how many at once and when gateways take a new commit or a new configuration: `spec.rollout`. Pure.
 */
import * as v from 'valibot'
import { brokenRefGlobRule } from '../glob.ts'
import { duration, text } from './fields.ts'
import { crd, rule } from './rule.ts'

/** A number of gateways, at least one, or a part of those of the stage. */
const amount = v.pipe(
  v.union([v.pipe(v.string(), v.maxLength(4)), v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(100_000))]),
  rule(
    'must be a number of gateways from 1, or a percentage from 1% to 100%',
    "type(self) == int ? self >= 1 && self <= 100000 : string(self).matches('^(100|[1-9][0-9]?)%$')",
    (value) => typeof value === 'number' || /^(?:100|[1-9][0-9]?)%$/.test(value),
  ),
  crd({ 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }], type: undefined, maxLength: 4 }),
)

const gatewayGlob = v.pipe(
  text(253),
  v.rawCheck(({ dataset, addIssue }) => {
    const broken = dataset.typed ? brokenRefGlobRule(dataset.value) : undefined
    if (broken !== undefined) addIssue({ message: broken })
  }),
)

const chosen = v.object({
  names: v.optional(
    v.pipe(
      v.array(gatewayGlob),
      v.minLength(1, 'must name at least one gateway'),
      v.maxLength(64),
      v.description('Globs of gateway names: of the annotation clustersync.io/gateway-name, else of the pod.'),
    ),
  ),
  labels: v.optional(
    v.pipe(
      v.object({
        matchLabels: v.pipe(
          v.record(v.string(), v.pipe(v.string(), v.maxLength(63))),
          v.minEntries(1, 'must hold at least one label'),
          v.maxEntries(16),
          v.description('Labels that the pod has, all of them.'),
        ),
      }),
      v.description('Labels of the pod.'),
    ),
  ),
})

const stage = v.object({
  name: v.pipe(
    text(63),
    v.regex(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/, 'must be lower-case letters, digits and -, at most 63'),
    v.description('By which the stage is shown and approved.'),
  ),
  gateways: v.optional(
    v.pipe(
      chosen,
      rule(
        'needs names or labels',
        'has(self.names) || has(self.labels)',
        (value) => value.names !== undefined || value.labels !== undefined,
      ),
      v.description(
        'Which gateways, of those that no earlier stage has; both conditions must hold. The last stage takes all that are left.',
      ),
    ),
  ),
  maxConcurrent: v.optional(
    v.pipe(amount, v.description('How many gateways of the stage may be under way at once: a number, or a part such as 25%.')),
    '100%',
  ),
  soak: v.optional(
    v.pipe(duration, v.description('How long every gateway of the stage must be healthy before the next stage begins.')),
    '0s',
  ),
  approval: v.optional(
    v.pipe(v.picklist(['Automatic', 'Manual']), v.description('Manual: the stage begins once somebody has approved it.')),
    'Automatic',
  ),
})

const clockTime = v.pipe(v.string(), v.regex(/^([01][0-9]|2[0-3]):[0-5][0-9]$/, 'must be a time of day such as 22:00'))

const window = v.object({
  days: v.pipe(
    v.array(v.picklist(['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'])),
    v.minLength(1, 'must name at least one day'),
    v.maxLength(7),
    v.description('Days on which the window opens.'),
  ),
  from: v.pipe(clockTime, v.description('When it opens.')),
  to: v.pipe(clockTime, v.description('When it closes: on the next day where this is not later than from.')),
  timeZone: v.optional(
    v.pipe(
      text(64),
      v.check(isTimeZone, 'must be a time zone such as Europe/Vienna'),
      v.description('Whose clocks are meant, as the IANA database names it.'),
    ),
    'UTC',
  ),
})

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

/** The schema of `spec.rollout`. */
export const rolloutSpec = v.object({
  stages: v.pipe(
    v.array(stage),
    v.minLength(1, 'at least one stage is needed'),
    v.maxLength(16),
    v.check((stages) => new Set(stages.map(({ name }) => name)).size === stages.length, 'names of stages must differ'),
    // The API server refuses two of one name by itself, which costs it less than a rule.
    crd({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] }),
    rule(
      'the last stage takes every gateway that is left, so it must not choose any',
      '!has(self[size(self) - 1].gateways)',
      (stages) => stages.at(-1)?.gateways === undefined,
    ),
    v.description('One after the other; a gateway belongs to the first that chooses it.'),
  ),
  onFailure: v.optional(
    v.pipe(
      v.picklist(['Hold', 'Rollback']),
      v.description('Hold: nothing moves any further. Rollback: gateways that took the commit go back to the one before.'),
    ),
    'Hold',
  ),
  failAfter: v.optional(
    v.pipe(amount, v.description('So many failed gateways of a stage, or such a part of it, are a failure of the rollout.')),
    1,
  ),
  windows: v.optional(
    v.pipe(
      v.array(window),
      v.minLength(1, 'must hold at least one window'),
      v.maxLength(16),
      v.description('When gateways may begin to take a commit; absent: always. What has begun ends; to go back is always allowed.'),
    ),
  ),
  progressDeadline: v.optional(
    v.pipe(duration, v.description('A gateway that has not taken the commit this long after the last progress of its stage has failed.')),
    '2h',
  ),
})
