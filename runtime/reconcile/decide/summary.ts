/**
 * Derives all conditions of a GatewaySync. Pure.
 */
import { counted } from '../../platform/text/counted.ts'
import type { Fault, Reason } from '../../platform/fault.ts'
import { type ConditionInput, nextConditions, normalConditions } from '../../api/schema/conditions.ts'
import { type Gateway, type GatewayState, isOutdated } from './gateways.ts'
import type { RolloutStatus } from '../../api/schema/rollout-status.ts'
import type { GatewaySyncSpec } from '../../api/schema/spec.ts'
import type { Condition, GatewayCounts, GatewaySyncStatus, StatusFinding } from '../../api/schema/status.ts'
import { requestAnnotations } from '../../api/names.ts'
import { describeFollowed, followedRef } from '../../api/followed-ref.ts'
import { isSameRef } from './request.ts'
import { shortRef } from '../../api/values.ts'
import { heldText } from '../rollout/stages.ts'
import { shownPlace } from '../../api/findings.ts'

type Summary = {
  generation: number
  spec: GatewaySyncSpec
  gateways: readonly Gateway[]
  /** Why the source could not be followed. */
  fault: Fault | undefined
  /** The present spec has not been resolved yet. */
  pending: boolean
  throttled?: string | undefined
  /** The next status without its conditions. */
  status: GatewaySyncStatus
  at: string
}

/** Returns the next conditions; the transition time of a previous condition changes only with its status. */
export function summarize(input: Summary, previous: readonly Condition[]): Condition[] {
  const sourceReady = sourceCondition(input)
  const collections = collectionsCondition(input)
  const gateways = gatewaysCondition(input)
  const agents = agentsCondition(input)
  const ready = readyCondition(input, [sourceReady, collections, gateways, agents])
  const conditions = [ready, sourceReady, collections, gateways, agents, ...abnormal(input, ready), ...progressing(input)]
  return nextConditions(previous, conditions, input.generation, input.at)
}

/**
 * Returns the conditions for a spec that is not accepted. Those of the previous spec stay, except Reconciling and Throttled; without a
 * previous spec, the others that are always present are unknown.
 */
export function summarizeInvalid(fault: Fault, previous: readonly Condition[], generation: number, at: string): Condition[] {
  const { reason, message } = fault
  const found: ConditionInput[] = [
    { type: 'Ready', status: 'False', reason, message },
    { type: 'SourceReady', status: 'False', reason, message },
    { type: 'Stalled', status: 'True', reason, message },
  ]
  const kept = previous.filter(
    ({ type }) => type !== 'Reconciling' && type !== 'Throttled' && !found.some((condition) => condition.type === type),
  )
  const unknown = normalConditions
    .filter((type) => ![...found, ...kept].some((condition) => condition.type === type))
    .map((type): ConditionInput => ({ type, status: 'Unknown', reason: 'Pending', message: 'no valid spec has been reconciled yet' }))
  return [...nextConditions(previous, [...found, ...unknown], generation, at), ...kept]
}

function sourceCondition({ spec, fault, pending, status }: Summary): ConditionInput {
  if (fault !== undefined) return { type: 'SourceReady', status: 'False', reason: fault.reason, message: fault.message }
  if (pending || status.source?.commit === undefined) {
    return { type: 'SourceReady', status: 'Unknown', reason: 'Pending', message: 'the git host has not been contacted for this spec yet' }
  }
  const { ref, commit, requested, resolvedRef } = status.source
  const specRef = followedRef(spec.git)
  const instead = requested === undefined || isSameRef(ref, specRef) ? '' : `; ${insteadOf(specRef)}`
  const isAnyHostKeyTaken = spec.git.auth?.sshKey?.insecureIgnoreHostKey === true
  const anyHostKey = isAnyHostKeyTaken ? '; the host key of the git host was not checked (insecureIgnoreHostKey)' : ''
  return {
    type: 'SourceReady',
    status: 'True',
    reason: 'Fetched',
    message: `${describeFollowed(ref, resolvedRef)} is commit ${commit}${instead}${anyHostKey}`,
  }
}

/** Describes what a request for another ref does, and how it ends. */
export function insteadOf(specRef: string): string {
  return `requested instead of ${shortRef(specRef)}; pushes to ${shortRef(specRef)} are ignored until another request is made or the annotation ${requestAnnotations.ref} is removed`
}

function collectionsCondition({ spec, pending, status }: Summary): ConditionInput {
  const type = 'CollectionsValid'
  if (pending || status.source?.commit === undefined)
    return { type, status: 'Unknown', reason: 'Pending', message: 'no commit to validate yet' }
  const unverified: Reason = 'NotVerified'
  if (status.source.held === unverified)
    return { type, status: 'Unknown', reason: 'Pending', message: 'an unverified commit is not validated' }
  const { findings } = status
  if (findings === undefined || spec.validation.policy === 'Off') {
    return { type, status: 'True', reason: 'NotValidated', message: 'no validation applies to this commit' }
  }
  const reason = status.source.unfinishedValidation === undefined ? 'CollectionsInvalid' : 'ValidationFailed'
  if (findings.errors > 0) return { type, status: 'False', reason, message: describeErrors(findings) }
  const message = `no errors and ${counted(findings.warnings, 'warning')} in commit ${status.source.commit}`
  return { type, status: 'True', reason: findings.warnings > 0 ? 'HasWarnings' : 'Valid', message }
}

function gatewaysCondition({ gateways, spec, status }: Summary): ConditionInput {
  const type = 'GatewaysSynced'
  const counts = status.gateways
  if (counts === undefined || counts.total === 0) {
    return status.published === undefined
      ? { type, status: 'Unknown', reason: 'NothingPublished', message: 'no commit is published yet' }
      : { type, status: 'True', reason: 'NoGateways', message: 'no gateway follows this GatewaySync yet' }
  }
  const worst = worstState(counts)
  const stopped = status.rollout?.state === 'Stopped' ? status.rollout : undefined
  if (stopped !== undefined && worst !== undefined) {
    return { type, status: 'False', reason: stoppedReason(stopped), message: stopped.message ?? '' }
  }
  if (worst === undefined && spec.paused) return { type, status: 'False', reason: 'Paused', message: 'spec.paused is true' }
  if (worst === undefined) {
    const drifted = counts.drifted > 0 ? `, ${counts.drifted} of them with local changes` : ''
    return {
      type,
      status: 'True',
      reason: 'Synced',
      message: `${counts.total} of ${counts.total} gateways run the published commit${drifted}`,
    }
  }
  return { type, status: 'False', reason: stateReasons[worst], message: namesOf(gateways, ({ state }) => state === worst) }
}

const stateReasons = {
  failed: 'GatewaysFailed',
  blocked: 'GatewaysBlocked',
  missingAgent: 'MissingAgent',
  pending: 'GatewaysPending',
  waiting: 'GatewaysWaiting',
  paused: 'Paused',
  dryRun: 'DryRun',
} as const satisfies Partial<Record<GatewayState, ConditionInput['reason']>>

function worstState(counts: GatewayCounts): keyof typeof stateReasons | undefined {
  const order = ['failed', 'blocked', 'missingAgent', 'pending', 'waiting', 'paused', 'dryRun'] as const
  return order.find((state) => (counts[state] ?? 0) > 0)
}

function unverifiedFolders(gateways: readonly Gateway[]): string {
  const why = gateways.map((gateway) => ({ ...gateway, reason: undefined, message: gateway.unverified }))
  return namesOf(why, ({ unverified }) => unverified !== undefined)
}

/** Names at most five gateways with their reasons, so that the message stays readable with hundreds. */
function namesOf(gateways: readonly Gateway[], concerns: (gateway: Gateway) => boolean): string {
  const concerned = gateways.filter(concerns)
  const named = concerned
    .slice(0, 5)
    .map(({ pod, reason, message }) => [pod, [reason, message].filter(Boolean).join(', ')].filter(Boolean).join(': '))
  const more = concerned.length > named.length ? `; and ${concerned.length - named.length} more` : ''
  return `${concerned.length} of ${gateways.length} gateways: ${named.join('; ')}${more}`
}

function agentsCondition({ gateways, status }: Summary): ConditionInput {
  const type = 'AgentsInjected'
  const missing = status.gateways?.missingAgent ?? 0
  if (missing > 0)
    return { type, status: 'False', reason: 'MissingAgent', message: namesOf(gateways, ({ state }) => state === 'missingAgent') }
  if ((status.outdatedAgents ?? 0) === 0)
    return { type, status: 'True', reason: 'Injected', message: 'every pod that requests an agent has one' }
  return { type, status: 'False', reason: 'AgentOutdated', message: namesOf(gateways, isOutdated) }
}

/** True only when all parts are true; otherwise repeats the first condition that is not, in the order from git to gateway. */
function readyCondition({ status, spec }: Summary, parts: readonly ConditionInput[]): ConditionInput {
  const type = 'Ready'
  const bad = parts.find((part) => part.status !== 'True')
  // Warn publishes despite errors: the findings are in CollectionsValid and do not affect Ready.
  const held = status.source?.held !== undefined || spec.validation.policy === 'Enforce'
  const first = bad?.type === 'CollectionsValid' && !held ? parts.find((part) => part.status !== 'True' && part !== bad) : bad
  if (first !== undefined) return { type, status: first.status, reason: first.reason, message: first.message }
  if (status.published === undefined) return { type, status: 'False', reason: 'NothingPublished', message: 'no commit is published yet' }
  if (status.published.commit !== status.source?.commit) {
    return {
      type,
      status: 'False',
      reason: status.rollout?.state === 'RolledBack' ? stoppedReason(status.rollout) : 'NotPublished',
      message: `commit ${status.source?.commit ?? 'unknown'} is desired, ${status.published.commit} is published`,
    }
  }
  if (spec.paused) return { type, status: 'False', reason: 'Paused', message: 'spec.paused is true' }
  const gateways = parts.find((part) => part.type === 'GatewaysSynced')
  return { type, status: 'True', reason: gateways?.reason ?? 'Synced', message: gateways?.message ?? '' }
}

function abnormal({ spec, fault, pending, status, gateways, throttled }: Summary, ready: ConditionInput): ConditionInput[] {
  const found: ConditionInput[] = []
  const isStopped = status.rollout?.state === 'Stopped' && ready.status !== 'True'
  const lasting = !pending && (fault?.retry === 'on-change' || status.source?.held !== undefined || isStopped)
  const moving = pending || gateways.some(({ state }) => state === 'pending' || state === 'waiting') || status.published === undefined
  if (lasting) found.push({ type: 'Stalled', status: 'True', reason: ready.reason, message: ready.message })
  else if (ready.status !== 'True' && moving)
    found.push({ type: 'Reconciling', status: 'True', reason: ready.reason, message: ready.message })
  if (spec.paused)
    found.push({ type: 'Paused', status: 'True', reason: 'Paused', message: 'spec.paused is true: nothing is written to any gateway' })
  if (gateways.some(({ unverified }) => unverified !== undefined))
    found.push({ type: 'FoldersUnverified', status: 'True', reason: 'FolderUnverified', message: unverifiedFolders(gateways) })
  if (throttled !== undefined) found.push({ type: 'Throttled', status: 'True', reason: 'NamespaceShareUsed', message: throttled })
  return found
}

function stoppedReason({ reason }: RolloutStatus): 'RolloutFailed' | 'RolloutAborted' {
  return reason === 'RolloutAborted' ? 'RolloutAborted' : 'RolloutFailed'
}

/** Like `Progressing` of a Deployment: True while the rollout moves or waits, and once it is done. */
function progressing({ status: { rollout } }: Summary): ConditionInput[] {
  if (rollout === undefined) return []
  const { state, commit, stage = '', waitsFor = 'Gateways', message = '' } = rollout
  const type = 'Progressing'
  if (state === 'Done') return [{ type, status: 'True', reason: 'RolledOut', message: `every stage has commit ${commit}` }]
  if (state === 'Stopped') return [{ type, status: 'False', reason: stoppedReason(rollout), message }]
  if (state === 'RolledBack') return [{ type, status: 'False', reason: 'RolledBack', message }]
  const held = rollout.stages?.find(({ name }) => name === stage)?.held ?? 0
  if (waitsFor === 'Gateways' && held > 0) {
    return [{ type, status: 'True', reason: 'LocalChanges', message: `stage ${stage}: ${heldText(held)}` }]
  }
  return [{ type, status: 'True', reason: waitReasons[waitsFor], message: `stage ${stage}: ${waitTexts[waitsFor]}` }]
}

const waitReasons = {
  Gateways: 'RollingOut',
  Soak: 'Soaking',
  Approval: 'WaitsForApproval',
  Window: 'WaitsForWindow',
  Pause: 'Paused',
} as const satisfies Record<NonNullable<RolloutStatus['waitsFor']>, ConditionInput['reason']>

const waitTexts: Record<NonNullable<RolloutStatus['waitsFor']>, string> = {
  Gateways: 'gateways are applying the commit',
  Soak: 'its gateways are healthy; the soak time is running',
  Approval: 'waiting for approval',
  Window: 'waiting for the next window',
  Pause: 'spec.paused is true',
}

/** `2 errors, first: <path>:<line>: <message> (<rule>)`. */
export function describeErrors({ errors, items }: { errors: number; items: readonly StatusFinding[] }): string {
  const first = items.find(({ severity }) => severity === 'error')
  const example = first === undefined ? '' : `${errors === 1 ? '' : ', first'}: ${shownPlace(first)}: ${first.message} (${first.rule})`
  return `${counted(errors, 'error')}${example}`
}
