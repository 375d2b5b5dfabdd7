/**
 * Defines the state of a staged rollout: `status.rollout`. It holds everything that the next step depends on, so that another controller
 * can continue it, and an agent can read whether its gateway is admitted. Pure.
 */
import * as v from 'valibot'
import { crd, listMap } from './fields.ts'

const text = (max: number) => v.pipe(v.string(), v.maxLength(max))
const time = v.pipe(v.string(), v.maxLength(64), crd({ format: 'date-time' }))
const count = v.pipe(v.number(), v.integer(), v.minValue(0))
const hash = v.pipe(v.string(), v.regex(/^([0-9a-f]{40}|[0-9a-f]{64})$/))

/** Keeps the status of a large fleet far below the API server's size limit. */
export const maxAllowed = 4_000
/** Maximum number of failed gateways named. */
export const maxNamedFailures = 10

/** The selector of `spec.git`, beside the ref it selected. */
export const selectedBy = v.optional(
  v.pipe(
    text(255),
    v.description(
      'What selected the ref: HEAD, semver:<range> or tagPattern:<pattern>; absent if the ref was given by name. For an artifact, its tag.',
    ),
  ),
)

const version = v.object({
  commit: v.pipe(hash, v.description('The commit.')),
  ref: v.pipe(text(255), v.description('The ref that the commit was resolved from.')),
  specRef: selectedBy,
  repo: v.optional(v.pipe(text(2048), v.description('The repository of the commit.'))),
})

/** The states of a rollout. */
export const rolloutStates = ['Progressing', 'Stopped', 'RolledBack', 'Done'] as const

const stageStatus = v.object({
  name: v.pipe(text(63), v.description('Name of the stage.')),
  gateways: v.pipe(count, v.description('Number of gateways in the stage.')),
  updated: v.pipe(count, v.description('Number of gateways that run the new commit and configuration.')),
  failed: v.pipe(count, v.description('Number of gateways that failed.')),
  silent: v.optional(
    v.pipe(
      count,
      v.description(
        'Number of gateways of a completed stage that did not update and reported no failure, such as gateways that are off; absent if there are none. The counts of a stage do not change after the rollout has ended.',
      ),
    ),
  ),
  held: v.optional(
    v.pipe(
      count,
      v.description('Number of gateways that wait until their local changes are captured or discarded; absent if there are none.'),
    ),
  ),
  excused: v.optional(
    v.pipe(
      count,
      v.description('Number of failures of a completed stage that a user accepted by resuming the rollout; absent if there are none.'),
    ),
  ),
  startedAt: v.optional(v.pipe(time, v.description('When the first gateway was allowed to update.'))),
  finishedAt: v.optional(v.pipe(time, v.description('When the stage was completed.'))),
  approvedBy: v.optional(v.pipe(text(128), v.description('Who approved the stage, according to the caller.'))),
  approvedAt: v.optional(v.pipe(time, v.description('When the stage was approved.'))),
})

/** A stage of a rollout that has ended. */
export const pastStage = v.pick(stageStatus, ['name', 'gateways', 'failed', 'silent', 'startedAt', 'finishedAt', 'approvedBy'])

export const rolloutStatus = v.object({
  state: v.pipe(
    v.picklist(rolloutStates),
    v.description('State of the rollout. Stopped: it waits until a user resumes or aborts it, or another commit is published.'),
  ),
  id: v.pipe(text(64), v.description('ID of the rollout, used in approvals and other actions.')),
  commit: v.pipe(hash, v.description('The commit that is rolled out: the published commit.')),
  configurations: v.pipe(
    v.record(v.string(), text(32)),
    v.maxEntries(32),
    v.description('Hash of the configuration that is rolled out, by profile.'),
  ),
  previous: v.optional(
    v.pipe(version, v.description('The previous commit: gateways keep it until they are updated, and return to it in a rollback.')),
  ),
  startedAt: v.pipe(time, v.description('When the rollout started.')),
  finishedAt: v.optional(v.pipe(time, v.description('When the rollout was completed, stopped or rolled back.'))),
  stage: v.optional(v.pipe(text(63), v.description('The current stage.'))),
  waitsFor: v.optional(
    v.pipe(v.picklist(['Gateways', 'Soak', 'Approval', 'Window', 'Pause']), v.description('What the current stage is waiting for.')),
  ),
  progressAt: v.optional(v.pipe(time, v.description('When a gateway of the stage last started or completed its update.'))),
  healthySince: v.optional(v.pipe(time, v.description('When all gateways of the current stage became healthy.'))),
  excused: v.optional(v.pipe(count, v.description('Number of failures that a user accepted by resuming the rollout.'))),
  reason: v.optional(v.pipe(text(64), v.description('Reason why the rollout was stopped or rolled back.'))),
  message: v.optional(v.pipe(text(1024), v.description('Human-readable explanation of the reason.'))),
  refused: v.optional(
    v.pipe(
      version,
      v.description(
        'The commit that was rolled back. It is not published again until a user resumes the rollout or requests the commit by its hash.',
      ),
    ),
  ),
  stages: v.optional(v.pipe(v.array(stageStatus), v.maxLength(16), listMap('name'), v.description('State of each stage.'))),
  failures: v.optional(
    v.pipe(
      v.array(
        v.object({
          pod: v.pipe(text(253), v.description('The pod of the gateway.')),
          reason: v.pipe(text(64), v.description('Machine-readable reason in CamelCase.')),
        }),
      ),
      v.maxLength(maxNamedFailures),
      listMap('pod'),
      v.description('The first failed gateways of the current and earlier stages.'),
    ),
  ),
  allowed: v.optional(
    v.pipe(
      v.array(text(8)),
      v.maxLength(maxAllowed),
      v.description('Gateways that may update: the first 8 characters of the base64url SHA-256 of each pod name.'),
    ),
  ),
  lastAction: v.optional(v.pipe(text(32), v.description('Digest of the action annotations that were last handled.'))),
})

export type RolloutStatus = v.InferOutput<typeof rolloutStatus>
export type StageStatus = v.InferOutput<typeof stageStatus>

/** Whether the rollout is in progress or stopped: gateways that it does not admit keep their commits. */
export function isUnderWay(rollout: RolloutStatus | undefined): rollout is RolloutStatus {
  return rollout?.state === 'Progressing' || rollout?.state === 'Stopped'
}
