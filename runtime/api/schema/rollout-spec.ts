/**
 * Defines the order, batch size and time in which gateways take a new commit or configuration: `spec.rollout`. Pure.
 */
import * as v from 'valibot'
import { brokenGlobListRule, brokenRefGlobRule } from '../glob/glob.ts'
import { duration, text, crd, isSet, listMap, listSet, rule } from './fields.ts'
/** A number of gateways, at least one, or a percentage of the stage. */
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

const selector = v.object({
  names: v.optional(
    v.pipe(
      v.array(gatewayGlob),
      v.minLength(1, 'must name at least one gateway'),
      v.maxLength(64),
      isSet(),
      listSet(),
      v.description('Glob patterns of gateway names. The name is the annotation clustersync.io/gateway-name, or the name of the pod.'),
    ),
  ),
  matchLabels: v.optional(
    v.pipe(
      v.record(v.string(), v.pipe(v.string(), v.maxLength(63))),
      v.minEntries(1, 'must contain at least one label'),
      v.maxEntries(16),
      v.description('Labels that the pod must have.'),
    ),
  ),
})

const stage = v.object({
  name: v.pipe(
    text(63),
    v.regex(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/, 'must be at most 63 lower-case letters, digits and -'),
    v.description('Name of the stage, used in the status and in approvals.'),
  ),
  selector: v.optional(
    v.pipe(
      selector,
      rule(
        'needs names or matchLabels',
        'has(self.names) || has(self.matchLabels)',
        ({ names, matchLabels }) => names !== undefined || matchLabels !== undefined,
      ),
      v.description(
        'Selects gateways that belong to no earlier stage; names and matchLabels must both match. The last stage takes all remaining gateways.',
      ),
    ),
  ),
  maxConcurrent: v.optional(
    v.pipe(
      amount,
      v.description('Maximum number of gateways of the stage that update at the same time: a number, or a percentage such as 25%.'),
    ),
    '100%',
  ),
  soak: v.optional(
    v.pipe(duration, v.description('How long all gateways of the stage must be healthy before the next stage starts.')),
    '0s',
  ),
  approval: v.optional(
    v.pipe(
      v.picklist(['Automatic', 'Manual']),
      v.description('Automatic starts the stage after the previous one; Manual waits for approval.'),
    ),
    'Automatic',
  ),
})

const clockTime = v.pipe(v.string(), v.regex(/^([01][0-9]|2[0-3]):[0-5][0-9]$/, 'must be a time of day such as 22:00'))

const window = v.object({
  days: v.pipe(
    v.array(v.picklist(['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'])),
    v.minLength(1, 'must name at least one day'),
    v.maxLength(7),
    isSet(),
    listSet(),
    v.description('Days when the window opens.'),
  ),
  from: v.pipe(clockTime, v.description('Time of day when the window opens.')),
  to: v.pipe(clockTime, v.description('Time of day when the window closes; on the next day if it is not later than from.')),
  timeZone: v.optional(
    v.pipe(
      text(64),
      v.check(isTimeZone, 'must be a time zone such as Europe/Vienna'),
      v.description('IANA time zone of the window, such as Europe/Vienna.'),
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

/** All gateways of a GatewaySync are matched at once, in the event loop of the controller. */
const maxNamePieces = 1024

/** The schema of `spec.rollout`. */
export const rolloutSpec = v.object({
  stages: v.pipe(
    v.array(stage),
    v.minLength(1, 'at least one stage is needed'),
    v.maxLength(16),
    v.rawCheck(({ dataset, addIssue }) => {
      if (!dataset.typed) return
      const names = dataset.value.flatMap(({ selector: own }) => own?.names ?? [])
      const broken = brokenGlobListRule(names, 'ref', maxNamePieces)
      if (broken !== undefined) addIssue({ message: `selector.names of all stages ${broken}` })
    }),
    v.check((stages) => new Set(stages.map(({ name }) => name)).size === stages.length, 'names of stages must be unique'),
    // The API server rejects duplicate names of a map list, which costs less than a rule.
    listMap('name'),
    rule(
      'the last stage takes all remaining gateways; omit its selector',
      '!has(self[size(self) - 1].selector)',
      (stages) => stages.at(-1)?.selector === undefined,
    ),
    v.description('Stages in order. A gateway belongs to the first stage that selects it.'),
  ),
  onFailure: v.optional(
    v.pipe(
      v.picklist(['Stop', 'Rollback']),
      v.description('Stop stops the rollout. Rollback also returns the updated gateways to the previous commit.'),
    ),
    'Stop',
  ),
  failureThreshold: v.optional(
    v.pipe(amount, v.description('Number or percentage of failed gateways in a stage at which the rollout fails.')),
    1,
  ),
  windows: v.optional(
    v.pipe(
      v.array(window),
      v.minLength(1, 'must contain at least one window'),
      v.maxLength(16),
      v.description(
        'When gateways may start to update; at any time if not set. Updates in progress continue, and a rollback is always allowed.',
      ),
    ),
  ),
  progressDeadline: v.optional(
    v.pipe(
      duration,
      v.description(
        'Maximum time since the last progress of a stage. After that, a gateway that has not applied the commit counts as failed.',
      ),
    ),
    '2h',
  ),
})
