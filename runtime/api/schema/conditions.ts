/**
 * Defines the conditions of a GatewaySync, with their polarity, and derives the next set. Pure.
 */
import { type Reason, reasons } from '../../platform/fault.ts'
import type { Condition } from './status.ts'

/** Always present; true is normal. */
export const normalConditions = ['Ready', 'SourceReady', 'CollectionsValid', 'GatewaysSynced', 'AgentsInjected'] as const
/** Present only while true, for people and tools such as kstatus. */
export const abnormalConditions = ['Reconciling', 'Stalled', 'Paused', 'FoldersUnverified', 'Throttled'] as const

/** Present only with `spec.rollout`. */
export const rolloutConditions = ['Progressing'] as const

/** Every condition type of a GatewaySync. */
export type ConditionType = (typeof normalConditions)[number] | (typeof abnormalConditions)[number] | (typeof rolloutConditions)[number]

/** Reasons of conditions that are not faults, with their meaning; docs/reference/operations.md lists them beside the faults. */
export const conditionReasons = {
  Synced: 'every gateway runs the published commit',
  NoGateways: 'a commit is published and no gateway follows this GatewaySync yet',
  Fetched: 'the desired ref was resolved and its commit is in the mirror',
  Pending: 'not yet reconciled',
  Valid: 'validation found no error',
  HasWarnings: 'validation found warnings only',
  NotValidated: 'validation.policy is Off, or no profile uses collections',
  Injected: 'every pod that requests an agent has one',
  GatewaysPending: 'at least one gateway does not run the published commit yet',
  GatewaysFailed: 'at least one gateway reports a failure',
  GatewaysBlocked: 'at least one gateway refuses the commit until the commit, the GatewaySync or the pod changes',
  MissingAgent: 'at least one pod that requests an agent runs without one',
  DryRun: 'dry run: changes are reported and nothing is written',
  Paused: 'paused: nothing is written',
  FolderUnverified: 'the data directory of at least one gateway may not match any commit; its next sync verifies every file by hash',
  NamespaceShareUsed: 'work for this GatewaySync waits because other work of its namespace uses up the share of the namespace',
  NothingPublished: 'no commit has passed verification and validation yet',
  NotPublished: 'the desired commit is not published',
  RollingOut: 'a new commit is being rolled out to the gateways',
  RolledOut: 'every stage of the rollout is done',
  RolledBack: 'the rollout failed or was aborted, and gateways returned to the previous commit',
  Soaking: 'the gateways of a stage are healthy and are observed for the soak time',
  WaitsForApproval: 'the next stage of the rollout is waiting for approval',
  WaitsForWindow: 'the rollout continues when its next window opens',
  GatewaysWaiting: 'at least one gateway keeps its commit until its stage of the rollout begins',
} as const

/** A reason of the table above, or that of a fault. */
export type ConditionReason = keyof typeof conditionReasons | Reason

/** Reasons that are not faults but need attention. */
const alarming: ReadonlySet<string> = new Set([
  'GatewaysFailed',
  'GatewaysBlocked',
  'MissingAgent',
] satisfies (keyof typeof conditionReasons)[])

/** Whether a condition needs attention: it shows a fault or failing gateways, not work in progress or a chosen setting. */
export function needsAttention({ status, reason }: Pick<Condition, 'status' | 'reason'>): boolean {
  return status !== 'True' && (Object.hasOwn(reasons, reason) || alarming.has(reason))
}

/** Returns the constant meaning of a reason; undefined for an unknown one. */
export function meaningOf(reason: string): string | undefined {
  if (Object.hasOwn(conditionReasons, reason)) return conditionReasons[reason as keyof typeof conditionReasons]
  return Object.hasOwn(reasons, reason) ? reasons[reason as Reason].help : undefined
}

/** A condition without its generation and time; `message` is cut to 4,096 characters. */
export type ConditionInput = { type: ConditionType; status: Condition['status']; reason: ConditionReason; message: string }

/**
 * Returns the conditions after a decision: those not in `next` are dropped, and a transition time changes only when the status does. `at`
 * is the time of the decision, `generation` that of its spec.
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
