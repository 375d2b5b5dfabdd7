/**
 * The conditions of a GatewaySync, with their polarity, and how one set follows another. Pure.
 */
import { type Reason, reasons } from '../../fault.ts'
import type { Condition } from '../schema/status.ts'

/** Conditions that are always present, true when all is well. */
export const normalConditions = ['Ready', 'SourceReady', 'CollectionsValid', 'GatewaysSynced', 'AgentsInjected'] as const
/** Conditions that are present only while true, for people and tools such as kstatus to notice. */
export const abnormalConditions = ['Reconciling', 'Stalled', 'Paused'] as const

/** Conditions that are present only with `spec.rollout`. */
export const rolloutConditions = ['Progressing'] as const

/** Every type that a GatewaySync can have. */
export type ConditionType = (typeof normalConditions)[number] | (typeof abnormalConditions)[number] | (typeof rolloutConditions)[number]

/** Reasons of conditions that are not faults, with their meaning; docs/operations.md prints them beside the faults. */
export const conditionReasons = {
  Synced: 'every gateway runs the published commit',
  NoGateways: 'a commit is published and no gateway follows this GatewaySync yet',
  Fetched: 'the wanted ref was resolved and its commit is in the mirror',
  Pending: 'not looked at yet',
  Valid: 'the checks found no error',
  HasWarnings: 'the checks found warnings only',
  NotChecked: 'validation.policy is Off, or no profile uses collections',
  Injected: 'every annotated pod has its agent',
  GatewaysPending: 'at least one gateway has not reported the published commit yet',
  GatewaysFailed: 'at least one gateway reports a failure',
  GatewaysBlocked: 'at least one gateway refuses to publish until something changes',
  MissingAgent: 'at least one annotated pod runs without an agent',
  DryRun: 'dry run: what would change is told, and nothing is written',
  Paused: 'paused: nothing is written',
  NothingPublished: 'no commit has passed verification and checks yet',
  NotPublished: 'the wanted commit is not published',
  RollingOut: 'a new commit is on its way to the gateways',
  RolledOut: 'every stage of the rollout is done',
  RolledBack: 'the rollout failed or was aborted, and gateways went back to the commit before',
  Soaking: 'the gateways of a stage are healthy and are watched for a while',
  WaitsForApproval: 'the next stage of the rollout begins once somebody has approved it',
  WaitsForWindow: 'the rollout goes on when its next window opens',
  GatewaysWaiting: 'at least one gateway keeps what it has until its stage of the rollout begins',
} as const

/** A reason of the table above, or that of a fault. */
export type ConditionReason = keyof typeof conditionReasons | Reason

/** Reasons that are not faults but that somebody should look at all the same. */
const alarming: ReadonlySet<string> = new Set([
  'GatewaysFailed',
  'GatewaysBlocked',
  'MissingAgent',
] satisfies (keyof typeof conditionReasons)[])

/** Whether somebody should look at a condition: it shows a fault or gateways in trouble, not work under way or a chosen setting. */
export function needsSomebody({ status, reason }: Pick<Condition, 'status' | 'reason'>): boolean {
  return status !== 'True' && (Object.hasOwn(reasons, reason) || alarming.has(reason))
}

/** What a reason means, in constant words; undefined for a word that is not one of ours. */
export function meaningOf(reason: string): string | undefined {
  if (Object.hasOwn(conditionReasons, reason)) return conditionReasons[reason as keyof typeof conditionReasons]
  return Object.hasOwn(reasons, reason) ? reasons[reason as Reason].help : undefined
}

/** A condition without its generation and time; `message` is cut to 4,096 characters. */
export type ConditionInput = { type: ConditionType; status: Condition['status']; reason: ConditionReason; message: string }

/**
 * The conditions after a decision: those not in `next` are dropped, and a transition time changes only when the status does. `at` is the time
 * of the decision, `generation` that of the spec it was made from.
 */
export function nextConditions(
  previous: readonly Condition[],
  next: readonly ConditionInput[],
  generation: number,
  at: string,
): Condition[] {
  return next.map((input) => {
    const before = previous.find(({ type }) => type === input.type)
    return {
      type: input.type,
      status: input.status,
      observedGeneration: generation,
      lastTransitionTime: before?.status === input.status ? before.lastTransitionTime : at,
      reason: input.reason,
      message: input.message.slice(0, 4096),
    }
  })
}
