/**
 * How changes made on gateways become commits: `spec.capture`, and what became of them: `status.capture`. Pure.
 */
import * as v from 'valibot'
import { hostApi } from './commit-status.ts'
import { celDuration, duration, durationMs } from './fields.ts'
import { gitAuth, gitAuthKinds } from './git-spec.ts'
import { crd, rule } from './rule.ts'

/** Where the gateway's name stands in the name of its branch. */
export const gatewayNamePlace = /\{\{ ?gateway\.name ?\}\}/

const leastQuietMs = 60_000

const quiet = v.pipe(
  duration,
  rule(
    'must be at least 1m',
    `!self.matches(${celDuration}) || duration(self) >= duration('1m')`,
    (value) => (durationMs(value) ?? Infinity) >= leastQuietMs,
  ),
  v.description('With on: Drift, for how long the changes of a gateway must have stayed as they are; 10m unless it is said. At least 1m.'),
)

/** `quiet` where the spec says nothing of it. */
export const usualQuietMs = 600_000

/** The schema of `spec.capture`. */
export const captureSpec = v.pipe(
  v.object({
    enabled: v.optional(v.pipe(v.boolean(), v.description('When false, agents hand on nothing.')), true),
    branch: v.optional(
      v.pipe(
        v.string(),
        v.maxLength(200),
        v.regex(
          /^[A-Za-z0-9][A-Za-z0-9._/-]*\{\{ ?gateway\.name ?\}\}[A-Za-z0-9._/-]*$/,
          'must hold {{ gateway.name }} behind a name of its own, such as captured/{{ gateway.name }}',
        ),
        v.description('Branch of a gateway. It belongs to the operator alone, and is never forced.'),
      ),
      'captured/{{ gateway.name }}',
    ),
    auth: v.pipe(
      gitAuth,
      rule(
        'must name one of token, basic, clientCertificate, sshKey and githubApp',
        `[${gitAuthKinds.map((kind) => `has(self.${kind})`).join(', ')}].exists(x, x)`,
        (value) => gitAuthKinds.some((kind) => value[kind] !== undefined),
      ),
      v.description('Credentials to push with, which nothing else uses; spec.git.auth needs no right to write.'),
    ),
    on: v.optional(
      v.pipe(
        v.picklist(['Request', 'Drift']),
        v.description(
          'Request: only when somebody asks; Drift: also by itself, once changes were left alone for quiet. Quote it in YAML: "on".',
        ),
      ),
      'Request',
    ),
    quiet: v.optional(quiet),
    pullRequest: v.optional(
      v.pipe(
        v.boolean(),
        v.description(
          'Opens one pull request of each branch, to spec.git.ref, or brings its text up to date: files, findings and differences.',
        ),
      ),
      false,
    ),
    api: v.optional(v.pipe(v.object(hostApi('spec.capture.auth')), v.description('The API of the git host, for pull requests.'))),
  }),
  rule('quiet needs on: Drift', "!has(self.quiet) || self.on == 'Drift'", ({ on, quiet }) => quiet === undefined || on === 'Drift'),
  rule(
    'pullRequest needs api.provider: which kind of git host it is',
    '!self.pullRequest || has(self.api)',
    ({ pullRequest, api }) => !pullRequest || api !== undefined,
  ),
  rule(
    'api needs a secretRef of its own, or an auth of kind token, basic or githubApp',
    '!has(self.api) || has(self.api.secretRef) || has(self.auth.token) || has(self.auth.basic) || has(self.auth.githubApp)',
    ({ api, auth }) =>
      api === undefined ||
      api.secretRef !== undefined ||
      auth.token !== undefined ||
      auth.basic !== undefined ||
      auth.githubApp !== undefined,
  ),
)

const text = (max: number) => v.pipe(v.string(), v.maxLength(max))
const count = v.pipe(v.number(), v.integer(), v.minValue(0))
const hash = v.pipe(v.string(), v.regex(/^([0-9a-f]{40}|[0-9a-f]{64})$/))
const time = v.pipe(v.string(), v.maxLength(64), crd({ format: 'date-time' }))

/** Of how many gateways a status tells, and of how many files of each that were left out. */
export const mostCaptured = 20
export const mostLeftOut = 10

/** A file that was changed on a gateway and does not go back into the repository. */
export const leftOut = v.object({
  path: v.pipe(text(1024), v.description('Where it stands on the gateway.')),
  why: v.pipe(text(256), v.description('Why it does not go back, as the end of a sentence.')),
})

const pullRequest = v.object({
  state: v.pipe(
    v.picklist(['Waiting', 'Open', 'Refused']),
    v.description('Waiting: it is being opened; Refused: it could not be, and is tried again with the next request.'),
  ),
  url: v.optional(v.pipe(text(2048), v.description('Its page.'))),
  reason: v.optional(v.pipe(text(64), v.description('Why it could not be opened, or not yet, in one word of docs/operations.md.'))),
  message: v.optional(v.pipe(text(1024), v.description('Why it could not be opened, or not yet, in one sentence.'))),
})

const captured = v.object({
  pod: v.pipe(text(253), v.description('Pod of the gateway.')),
  gateway: v.pipe(text(253), v.description('Name of the gateway.')),
  request: v.pipe(text(64), v.description('The request that asked for it; drift-<digest>: none, the changes were left alone.')),
  state: v.pipe(
    v.picklist(['Pushed', 'Nothing', 'Refused', 'Failed']),
    v.description('Nothing: there was nothing to capture; Refused: somebody has to change something; Failed: it is tried again.'),
  ),
  changes: v.optional(v.pipe(text(64), v.description('Tells these changes from any other; the same changes are one commit.'))),
  files: v.optional(v.pipe(count, v.description('How many files were changed, added or removed.'))),
  on: v.optional(v.pipe(hash, v.description('The commit that the changes were made on.'))),
  branch: v.optional(v.pipe(text(255), v.description('Where the commit was pushed to.'))),
  commit: v.optional(v.pipe(hash, v.description('The commit of the changes.'))),
  pullRequest: v.optional(v.pipe(pullRequest, v.description('The pull request of the branch; absent: none was asked for.'))),
  reason: v.optional(v.pipe(text(64), v.description('Why it was not pushed, in one word of docs/operations.md.'))),
  message: v.optional(v.pipe(text(1024), v.description('Why it was not pushed, in one sentence.'))),
  leftOut: v.optional(v.pipe(v.array(leftOut), v.maxLength(mostLeftOut), v.description('Changes that do not go back.'))),
  leftOutFiles: v.optional(v.pipe(count, v.description('How many changes do not go back.'))),
  at: v.pipe(time, v.description('When that was known.')),
})

/** The schema of `status.capture`. */
export const captureStatus = v.object({
  repo: v.optional(v.pipe(text(2048), v.description('The repository of which it tells; what is said of another one counts for nothing.'))),
  request: v.optional(v.pipe(text(64), v.description('The request that is followed.'))),
  by: v.optional(v.pipe(text(128), v.description('Who asked for it.'))),
  at: v.optional(v.pipe(time, v.description('When the controller saw it first; an hour later no gateway begins to answer it any more.'))),
  answered: v.optional(v.pipe(count, v.description('How many gateways have answered it, those that are not listed too.'))),
  gateways: v.optional(v.pipe(v.array(captured), v.maxLength(mostCaptured), v.description('What became of the changes of each gateway.'))),
})

export type CaptureStatus = v.InferOutput<typeof captureStatus>
/** What became of the changes of one gateway. */
export type CaptureEntry = v.InferOutput<typeof captured>

/** The entry with every text cut to the length that the API server takes; it would refuse the whole status for one that is longer. */
export function cutToFit(entry: CaptureEntry): CaptureEntry {
  const { issues = [] } = v.safeParse(captured, entry)
  const cut = issues.flatMap((issue): [string, string][] => {
    const key = v.getDotPath(issue)
    const isLong = issue.type === 'max_length' && typeof issue.input === 'string' && typeof issue.requirement === 'number'
    return isLong && key !== null ? [[key, issue.input.slice(0, issue.requirement).toWellFormed()]] : []
  })
  return { ...entry, ...Object.fromEntries(cut) }
}
