/**
 * How far a staged rollout is: `status.rollout`. Everything that its next step depends on stands here, so that a controller that takes over
 * goes on where the other one ended, and an agent knows from it alone whether its turn has come. Pure.
 */
import * as v from 'valibot'
import { crd } from './rule.ts'

const text = (max: number) => v.pipe(v.string(), v.maxLength(max))
const time = v.pipe(v.string(), v.maxLength(64), crd({ format: 'date-time' }))
const count = v.pipe(v.number(), v.integer(), v.minValue(0))
const hash = v.pipe(v.string(), v.regex(/^([0-9a-f]{40}|[0-9a-f]{64})$/))

/** As many marks as keep a status of a large fleet far below what the API server takes. */
export const maxAllowed = 4_000
/** So many failed gateways are named. */
export const maxNamedFailures = 10

const version = v.object({
  commit: v.pipe(hash, v.description('The commit.')),
  ref: v.pipe(text(255), v.description('The ref that it was published for.')),
  repo: v.optional(v.pipe(text(2048), v.description('The repository that it comes from.'))),
})

/** How a rollout can stand. */
export const rolloutStates = ['Progressing', 'Stopped', 'RolledBack', 'Done'] as const

const stageStatus = v.object({
  name: v.pipe(text(63), v.description('Of spec.rollout.stages.')),
  gateways: v.pipe(count, v.description('How many gateways belong to it.')),
  updated: v.pipe(count, v.description('How many of them run what is rolled out.')),
  failed: v.pipe(
    count,
    v.description('How many of them failed; of a stage that is done, how many say so: one that was silent when it ended counts as silent.'),
  ),
  silent: v.optional(
    v.pipe(
      count,
      v.description(
        'Of a stage that is done, how many of them have not taken what is rolled out and complain of nothing: off, silent, without an agent, or on their way; absent: none. Like each count of a stage it stays as it was when the rollout was done or rolled back.',
      ),
    ),
  ),
  held: v.optional(v.pipe(count, v.description('How many of them wait until their local changes are captured or given up; absent: none.'))),
  excused: v.optional(v.pipe(count, v.description('How many failures of it were accepted by resuming, once it is done; absent: none.'))),
  startedAt: v.optional(v.pipe(time, v.description('When its first gateway might begin.'))),
  finishedAt: v.optional(v.pipe(time, v.description('When it was done.'))),
  approvedBy: v.optional(v.pipe(text(128), v.description('Who approved it, as the caller says.'))),
  approvedAt: v.optional(v.pipe(time, v.description('When it was approved.'))),
})

/** A stage of a rollout that has ended. */
export const pastStage = v.pick(stageStatus, ['name', 'gateways', 'failed', 'silent', 'startedAt', 'finishedAt', 'approvedBy'])

export const rolloutStatus = v.object({
  state: v.pipe(
    v.picklist(rolloutStates),
    v.description('Stopped: nothing moves until somebody resumes or aborts it, or another commit comes.'),
  ),
  id: v.pipe(text(64), v.description('Names this rollout in approvals and other actions.')),
  commit: v.pipe(hash, v.description('What is rolled out; the published commit.')),
  configurations: v.pipe(
    v.record(v.string(), text(32)),
    v.maxEntries(32),
    v.description('Which configuration of each profile goes with it.'),
  ),
  before: v.optional(v.pipe(version, v.description('What gateways keep until their turn comes, and what they go back to.'))),
  startedAt: v.pipe(time, v.description('When it began.')),
  finishedAt: v.optional(v.pipe(time, v.description('When it was done, stopped or rolled back.'))),
  stage: v.optional(v.pipe(text(63), v.description('The present stage.'))),
  waitsFor: v.optional(
    v.pipe(v.picklist(['Gateways', 'Soak', 'Approval', 'Window', 'Pause']), v.description('What the present stage waits for.')),
  ),
  progressAt: v.optional(v.pipe(time, v.description('When a gateway of the stage last began or ended.'))),
  healthySince: v.optional(v.pipe(time, v.description('Since when every gateway of the present stage is healthy.'))),
  excused: v.optional(v.pipe(count, v.description('How many failures were accepted by resuming.'))),
  reason: v.optional(v.pipe(text(64), v.description('Why it was stopped or rolled back, in one word.'))),
  message: v.optional(v.pipe(text(1024), v.description('Why, in one sentence.'))),
  refused: v.optional(
    v.pipe(
      version,
      v.description('A commit that was rolled back: not published again before somebody resumes it or asks for it by its hash.'),
    ),
  ),
  stages: v.optional(v.pipe(v.array(stageStatus), v.maxLength(16), v.description('How far each stage is.'))),
  failures: v.optional(
    v.pipe(
      v.array(
        v.object({
          pod: v.pipe(text(253), v.description('The pod of the gateway.')),
          reason: v.pipe(text(64), v.description('Why, in one word.')),
        }),
      ),
      v.maxLength(maxNamedFailures),
      v.description('The first of the failed gateways, of the present stage and of those before it.'),
    ),
  ),
  allowed: v.optional(
    v.pipe(
      v.array(text(8)),
      v.maxLength(maxAllowed),
      v.description('Gateways whose turn has come: the first 8 characters of the base64url SHA-256 of the name of each pod.'),
    ),
  ),
  lastAction: v.optional(v.pipe(text(32), v.description('Tells the action annotations that were acted on last from any others.'))),
})

export type RolloutStatus = v.InferOutput<typeof rolloutStatus>
export type StageStatus = v.InferOutput<typeof stageStatus>
