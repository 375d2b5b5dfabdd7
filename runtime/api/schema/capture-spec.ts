/**
 * Defines the schemas of `spec.capture` and `status.capture`: commits of changes made on gateways. Pure.
 */
import * as v from 'valibot'
import { hostApi } from './commit-status.ts'
import { celDuration, duration, durationMs, crd, listMap, rule } from './fields.ts'
import { gitAuth, gitAuthKinds } from './git-spec.ts'
/** The placeholder for the gateway's name in a branch name. */
export const gatewayNamePlace = /\{\{ ?gateway\.name ?\}\}/

const minQuietMs = 60_000

const quietPeriod = v.pipe(
  duration,
  rule(
    'must be at least 1m',
    `!self.matches(${celDuration}) || duration(self) >= duration('1m')`,
    (value) => (durationMs(value) ?? Infinity) >= minQuietMs,
  ),
  v.description('How long there must be no further local change before trigger Drift captures the changes. At least 1m; defaults to 10m.'),
)

/** The default of `quietPeriod`. */
export const defaultQuietMs = 600_000

/** The schema of `spec.capture`. */
export const captureSpec = v.pipe(
  v.object({
    enabled: v.optional(v.pipe(v.boolean(), v.description('Whether agents submit local changes.')), true),
    branch: v.optional(
      v.pipe(
        v.string(),
        v.maxLength(200),
        v.regex(
          /^[A-Za-z0-9][A-Za-z0-9._/-]*\{\{ ?gateway\.name ?\}\}[A-Za-z0-9._/-]*$/,
          'must contain {{ gateway.name }} after a prefix, such as captured/{{ gateway.name }}',
        ),
        v.description(
          'Branch for the changes of a gateway. The operator never force-pushes it, and refuses to push if others have committed to it.',
        ),
      ),
      'captured/{{ gateway.name }}',
    ),
    auth: v.pipe(
      gitAuth,
      rule(
        'one of token, basic, clientCertificate, sshKey and githubApp must be set',
        `[${gitAuthKinds.map((kind) => `has(self.${kind})`).join(', ')}].exists(x, x)`,
        (value) => gitAuthKinds.some((kind) => value[kind] !== undefined),
      ),
      v.description('Credentials for pushing. They are used only for this, so spec.git.auth needs no write permission.'),
    ),
    trigger: v.optional(
      v.pipe(
        v.picklist(['Request', 'Drift']),
        v.description(
          'What triggers a capture. Request captures only on request; Drift also captures local changes once no further change has been made for the quietPeriod.',
        ),
      ),
      'Request',
    ),
    quietPeriod: v.optional(quietPeriod),
    pullRequest: v.optional(
      v.pipe(
        v.boolean(),
        v.description(
          'Opens one pull request from each branch to spec.git.ref, and keeps its description (files, findings and diff) up to date.',
        ),
      ),
      false,
    ),
    api: v.optional(v.pipe(v.object(hostApi('spec.capture.auth')), v.description('API of the git host for pull requests.'))),
  }),
  rule(
    'quietPeriod requires trigger: Drift',
    "!has(self.quietPeriod) || self.trigger == 'Drift'",
    ({ trigger, quietPeriod }) => quietPeriod === undefined || trigger === 'Drift',
  ),
  rule(
    'pullRequest requires api.provider',
    '!self.pullRequest || has(self.api)',
    ({ pullRequest, api }) => !pullRequest || api !== undefined,
  ),
  rule(
    'api requires its own secretRef, or an auth with token, basic or githubApp',
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

/** Maximum number of gateways in a status, and of excluded files of each. */
export const maxCaptured = 20
export const maxSkipped = 10

/** A changed file that is not committed back. */
export const skipped = v.object({
  path: v.pipe(text(1024), v.description('Path on the gateway.')),
  message: v.pipe(text(256), v.description('Why the change is not captured.')),
})

const pullRequest = v.object({
  state: v.pipe(
    v.picklist(['Waiting', 'Open', 'Refused']),
    v.description('State of the pull request. Waiting: it is being opened; Refused: it could not be opened; the next request retries it.'),
  ),
  url: v.optional(v.pipe(text(2048), v.description('URL of the pull request.'))),
  reason: v.optional(v.pipe(text(64), v.description('Reason why the pull request is not open, as listed in the runbook.'))),
  message: v.optional(v.pipe(text(1024), v.description('Human-readable explanation of the reason.'))),
})

const captured = v.object({
  pod: v.pipe(text(253), v.description('Pod of the gateway.')),
  gateway: v.pipe(text(253), v.description('Name of the gateway.')),
  request: v.pipe(text(64), v.description('ID of the request, or drift-<digest> for an automatic capture.')),
  state: v.pipe(
    v.picklist(['Pushed', 'Nothing', 'Refused', 'Failed']),
    v.description('Result. Nothing: there were no changes; Refused: a user must act; Failed: the capture is retried.'),
  ),
  changesDigest: v.optional(v.pipe(text(64), v.description('Digest of the changes. The same changes are captured only once.'))),
  files: v.optional(v.pipe(count, v.description('Number of files that were changed, added or removed.'))),
  baseCommit: v.optional(v.pipe(hash, v.description('The commit that the gateway ran when the changes were made.'))),
  branch: v.optional(v.pipe(text(255), v.description('Branch that the commit was pushed to.'))),
  commit: v.optional(v.pipe(hash, v.description('The commit that contains the changes.'))),
  pullRequest: v.optional(v.pipe(pullRequest, v.description('Pull request of the branch; absent if none is requested.'))),
  reason: v.optional(v.pipe(text(64), v.description('Reason why the changes were not pushed, as listed in the runbook.'))),
  message: v.optional(v.pipe(text(1024), v.description('Human-readable explanation of the reason.'))),
  skipped: v.optional(v.pipe(v.array(skipped), v.maxLength(maxSkipped), v.description('Changes that cannot be captured.'))),
  skippedFiles: v.optional(v.pipe(count, v.description('Number of changes that cannot be captured.'))),
  at: v.pipe(time, v.description('When the result became known.')),
})

/** The schema of `status.capture`. */
export const captureStatus = v.object({
  repo: v.optional(
    v.pipe(text(2048), v.description('The repository that the results belong to; results for another repository are ignored.')),
  ),
  request: v.optional(v.pipe(text(64), v.description('ID of the current request.'))),
  by: v.optional(v.pipe(text(128), v.description('Who made the request.'))),
  at: v.optional(v.pipe(time, v.description('When the controller first saw the request. It expires after an hour.'))),
  answered: v.optional(v.pipe(count, v.description('Number of gateways that have answered, including those that are not listed.'))),
  gateways: v.optional(v.pipe(v.array(captured), v.maxLength(maxCaptured), listMap('pod'), v.description('Results by gateway.'))),
})

export type CaptureStatus = v.InferOutput<typeof captureStatus>
/** The capture result of one gateway. */
export type CaptureEntry = v.InferOutput<typeof captured>

/** Returns the entry with every text cut to the maximum length; the API server would reject the whole status for a longer one. */
export function cutToFit(entry: CaptureEntry): CaptureEntry {
  const { issues = [] } = v.safeParse(captured, entry)
  const cut = issues.flatMap((issue): [string, string][] => {
    const key = v.getDotPath(issue)
    const isLong = issue.type === 'max_length' && typeof issue.input === 'string' && typeof issue.requirement === 'number'
    return isLong && key !== null ? [[key, issue.input.slice(0, issue.requirement).toWellFormed()]] : []
  })
  return { ...entry, ...Object.fromEntries(cut) }
}
