/**
 * Defines the input and the result of a rollout step. Pure.
 */
import type { Temporal } from '../../platform/temporal.ts'
import type { CheckQuestion } from './check-question.ts'
import type { RolloutStatus } from '../../api/schema/rollout-status.ts'
import type { RolloutSpec } from '../../api/schema/spec.ts'
import type { RolloutAction } from './action.ts'
import type { StagedGateway } from './stages.ts'

/** The target of every gateway; `configurations` are short syncHashes by profile. */
export type Target = { version: Version; configurations: Readonly<Record<string, string>> }

/** A commit, with the ref and repository it was published for. */
export type Version = NonNullable<RolloutStatus['previous']>

/** The rollout progress of a gateway. */
export type GatewayProgress = StagedGateway & {
  /** The question to ask about it while the rollout is in progress. */
  question?: CheckQuestion
} & (
    | { progress: 'updated' }
    /** `lacks`: what is missing if it is more than the commit, and why. `hasNoAgent`: the pod has no agent. */
    | { progress: 'moving'; lacks?: string; why?: string; hasNoAgent?: true }
    /** Taking the commit would lose local changes, so it waits for a capture or discard, without a deadline. */
    | { progress: 'held' }
    /** It cannot take the target; `reason` is CamelCase, `why` is the message. */
    | { progress: 'failed'; reason: string; why?: string }
    /** It is paused or off; the rollout does not wait for it. */
    | { progress: 'excluded' }
  )

export type RolloutFacts = {
  spec: RolloutSpec
  target: Target
  /** What was published before the target; undefined: nothing. */
  before: Version | undefined
  previous: RolloutStatus | undefined
  gateways: readonly GatewayProgress[]
  action: RolloutAction | undefined
  /** A commit that may skip the stages. */
  skip: string | undefined
  /** Sync is paused for all gateways. */
  paused: boolean
  now: Temporal.Instant
}

/** With the gateways of each stage, which take long to find. */
export type StagedFacts = RolloutFacts & { members: readonly (readonly GatewayProgress[])[] }

/** `rollout` is the new `status.rollout`; writing it completes the step. */
export type Step = {
  rollout: RolloutStatus
  /** When to continue without any change; undefined: never. */
  wakeAt: Temporal.Instant | undefined
}
