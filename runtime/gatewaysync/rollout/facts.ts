/**
 * What a step of a staged rollout is decided from, and what it comes to. Pure.
 */
import type { CheckQuestion } from './check-question.ts'
import type { RolloutStatus } from '../schema/rollout-status.ts'
import type { RolloutSpec } from '../schema/spec.ts'
import type { RolloutAction } from './action.ts'
import type { StagedGateway } from './stages.ts'

/** What is wanted of every gateway; `configurations` are short syncHashes by profile. */
export type Target = { version: Version; configurations: Readonly<Record<string, string>> }

/** A commit, and what it was published for. */
export type Version = NonNullable<RolloutStatus['before']>

/** How a gateway is, seen from what is rolled out. */
export type GatewayProgress = StagedGateway & {
  /** What is to be asked about it as long as the rollout is under way. */
  asks?: CheckQuestion
} & (
    | { progress: 'updated' }
    /** `lacks`: what it does not have yet, where it is more than the commit, and why in words. `isBare`: no agent is there that could begin. */
    | { progress: 'moving'; lacks?: string; why?: string; isBare?: true }
    /** It would lose local changes, so it waits until somebody captures them or gives them up; nobody knows how long that takes. */
    | { progress: 'held' }
    /** It cannot take what is rolled out; `reason` in one word, `why` in more. */
    | { progress: 'failed'; reason: string; why?: string }
    /** It writes nothing, so nobody waits for it. */
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
  /** Nothing is written to any gateway now. */
  paused: boolean
  now: Temporal.Instant
}

/** `rollout` is the new `status.rollout`; the step is taken by writing it. */
export type Step = {
  rollout: RolloutStatus
  /** When something may follow without any change; undefined: nothing will. */
  wakeAt: Temporal.Instant | undefined
}
