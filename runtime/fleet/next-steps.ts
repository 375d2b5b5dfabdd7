/**
 * What somebody can do about a GatewaySync that is not in step, and about each of its gateways. Pure.
 */
import { type Reason, reasons } from '../fault.ts'
import type { FleetFacts } from './facts.ts'
import { runbookEntry } from './runbook.ts'
import type { Step, SyncStep } from './steps.ts'
import type { GatewayView, SyncView } from './view.ts'

type Stuck = Omit<SyncView, 'next' | 'steps'>
type Row = Pick<GatewayView, 'pod' | 'state' | 'level' | 'reason'>

/** Most useful first; none for what passes by itself or is as it should be. */
export function nextSteps(sync: Stuck, from: FleetFacts['from']): SyncStep[] {
  const { published, gateways } = sync
  const steps = [
    ...(from === 'cluster' ? stepsOfRollout(sync) : []),
    ...stepsOfSync(sync, from),
    ...gateways.flatMap((gateway) => ownSteps(gateway, published?.commit, from)),
  ]
  const entries = [sync.reason, ...gateways.filter(({ level }) => level === 'error').map(({ reason }) => reason)].flatMap(runbookSteps)
  return [...new Map([...steps, ...entries].map((step) => [JSON.stringify(step), step])).values()]
}

/** What somebody who looks at one gateway alone can do about it; a sentence at most where nothing but to wait is left. */
export function stepsOfGateway(gateway: Row, published: string | undefined, from: FleetFacts['from']): Step[] {
  const { state, level, reason } = gateway
  const own = ownSteps(gateway, published, from)
  const others: Step[] =
    own.length > 0 ? own : state === 'drifted' ? [{ kind: 'lookAtChanges' }] : level === 'error' ? retriedThere(reason) : []
  return [...others, ...(level === 'error' ? runbookSteps(reason) : [])]
}

function runbookSteps(reason: string | undefined): SyncStep[] {
  const entry = runbookEntry(reason)
  return entry === undefined || reason === undefined ? [] : [{ kind: 'runbook', reason, entry }]
}

function retryOf(reason: string | undefined): 'backoff' | 'on-change' | undefined {
  return reason === undefined || !Object.hasOwn(reasons, reason) ? undefined : reasons[reason as Reason].retry
}

function retriedThere(reason: string | undefined): Step[] {
  const retry = retryOf(reason)
  return retry === undefined ? [] : [{ kind: retry === 'backoff' ? 'gatewayTriesAgain' : 'gatewayWaitsForChange' }]
}

function stepsOfRollout({ rollout }: Stuck): SyncStep[] {
  if (rollout?.state === 'Progressing' && rollout.waitsFor === 'Approval') return [{ kind: 'approve', stage: rollout.stage ?? '' }]
  if (rollout?.state === 'Stopped') return [{ kind: 'resumeRollout' }, { kind: 'abortRollout' }]
  return rollout?.state === 'RolledBack' ? [{ kind: 'retryRollout' }] : []
}

function stepsOfSync(sync: Stuck, from: FleetFacts['from']): SyncStep[] {
  const { reason, level } = sync
  const published = sync.published?.commit
  if (reason === 'CollectionsInvalid' || reason === 'CheckFailed') return [{ kind: 'correctFindings', published }]
  if (reason === 'NotVerified') return [{ kind: 'sign', published }]
  if (reason === 'Paused') return [{ kind: from === 'cluster' ? 'resume' : 'resumeInFile' }]
  if (reason === 'DryRun') return [{ kind: 'leaveDryRun' }]
  if (level === 'working' && sync.ready === 'Unknown' && from === 'cluster') return [{ kind: 'checkOperator' }]
  const retry = level === 'error' ? retryOf(reason) : undefined
  return retry === undefined ? [] : [{ kind: retry === 'backoff' ? 'passes' : 'waitsForChange', published }]
}

function ownSteps({ pod, reason, state }: Row, published: string | undefined, from: FleetFacts['from']): SyncStep[] {
  if (from === 'standalone') return [...(stepsOfTarget[reason ?? ''] ?? [])]
  if (state === 'missingAgent' || reason === 'AgentOutdated' || reason === 'AgentDown') return [{ kind: 'recreatePod', pod }]
  if (reason === 'MassDeletion' && published !== undefined) return [{ kind: 'confirmDeletions', commit: published }]
  if (reason === 'LocalChanges' && published !== undefined) return [{ kind: 'confirmOverwrites', commit: published }]
  return []
}

/** What to do about a blocked target of the standalone runner, whose file has no annotations. */
const stepsOfTarget: Readonly<Record<string, readonly SyncStep[]>> = {
  MassDeletion: [{ kind: 'raiseMaxDeletions' }],
  LocalChanges: [{ kind: 'captureOrGiveUp' }],
}
