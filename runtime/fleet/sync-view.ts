/**
 * Builds the view of one GatewaySync: readiness with its reason, desired and published commit, gateways, and next steps. Pure.
 */
import { digestIn } from '../api/artifact-revision.ts'
import { meaningOf, needsAttention } from '../api/schema/conditions.ts'
import { countGateways, type Gateway, type GatewayPod, observeGateways, withWaiting } from '../reconcile/decide/gateways.ts'
import { followedRef } from '../api/followed-ref.ts'
import type { RolloutStatus, StageStatus } from '../api/schema/rollout-status.ts'
import { specOf } from '../api/schema/spec-of.ts'
import type { GatewaySyncSpec } from '../api/schema/spec.ts'
import type { Condition, GatewayCounts, GatewaySyncStatus } from '../api/schema/status.ts'
import { shortCommit, shortHashes, shortRef } from '../api/values.ts'
import { type Reason, reasons } from '../platform/fault.ts'
import type { FleetFacts, ReportFacts, SyncFacts } from './facts.ts'
import { gatewayView } from './gateway-view.ts'
import { pollingInterval } from './last-checked.ts'
import type { GatewayView, Level, RolloutView, SyncView } from './view.ts'
import { isSameRef } from '../reconcile/decide/request.ts'
import { heldText } from '../reconcile/rollout/stages.ts'
import { runbookEntry, type Step, type SyncStep, stepText } from './steps.ts'

/** The level of a request's outcome. */
const requestLevels = { Handled: 'ok', Pending: 'working', Superseded: 'warning', Refused: 'error' } as const

/** `pods` and `reports` are those that follow it. */
export function syncView(
  facts: SyncFacts,
  pods: readonly GatewayPod[],
  reports: readonly ReportFacts[],
  { from, context }: Pick<FleetFacts, 'from' | 'context'>,
): SyncView {
  const { status, generation } = facts
  const spec = specOf(facts)
  const byPod = new Map(reports.map((report) => [report.pod, report]))
  const gateways = gatewaysOf(spec, status, pods, byPod)
  const rows = gateways.map((gateway): GatewayView => {
    const row = gatewayView(gateway, byPod.get(gateway.pod))
    return { ...row, steps: stepsOfGateway(row, status.published?.commit, from) }
  })
  const counts = status.gateways ?? (gateways.length > 0 ? countGateways(gateways) : undefined)
  const ready = readyOf(status, generation)
  const { source, published } = status
  const specRef = spec === undefined ? undefined : followedRef(spec.git)
  const ref = digestIn(source?.resolvedRef) === undefined ? (source?.ref ?? specRef) : source?.resolvedRef
  const view: Omit<SyncView, 'next' | 'steps'> = {
    context,
    namespace: facts.namespace,
    name: facts.name,
    level: levelOf(ready, counts),
    ready: ready.status,
    reason: ready.reason,
    message: shortHashes(ready.message),
    meaning: meaningOf(ready.reason),
    repo: spec?.git.repo ?? published?.repo,
    desired: {
      ref: ref === undefined ? undefined : shortRef(ref),
      requestedBy: source?.requested === undefined ? undefined : (source.requested.by ?? 'an unknown user'),
      insteadOf: source?.requested === undefined || specRef === undefined || isSameRef(source.ref, specRef) ? undefined : specRef,
      commit: source?.commit,
      committedAt: source?.committedAt,
      checkedAt: source?.checkedAt,
      pollingInterval: pollingInterval(facts, spec),
      held: source?.held,
    },
    published: published === undefined ? undefined : { commit: published.commit, ref: shortRef(published.ref), at: published.at },
    rollout: rolloutView(status.rollout),
    counts,
    upToDate: counts === undefined ? 0 : upToDateOf(rows, counts, published?.commit),
    gateways: rows,
    findings: status.findings,
    requests: (status.requests ?? []).toReversed().map((request) => ({
      ...request,
      ref: shortRef(request.ref),
      level: requestLevels[request.outcome],
      meaning: request.reason === undefined ? undefined : meaningOf(request.reason),
    })),
  }
  const steps = nextSteps(view, from)
  return { ...view, next: steps.map((step) => stepText(view, step)), steps }
}

/** Without reports, uses the controller's counts; they count a paused or failed gateway as such, regardless of its commit. */
function upToDateOf(rows: readonly GatewayView[], { total, synced, drifted }: GatewayCounts, published: string | undefined): number {
  const known = rows.filter(({ commit }) => commit !== undefined)
  return known.length === 0 ? synced + drifted : Math.min(total, known.filter(({ commit }) => commit === published).length)
}

type Ready = Pick<Condition, 'status' | 'reason' | 'message'>

/** A condition of an earlier generation belongs to an outdated spec. */
function readyOf({ conditions }: GatewaySyncStatus, generation: number): Ready {
  const ready = conditions?.find(({ type }) => type === 'Ready')
  if (ready === undefined) return { status: 'Unknown', reason: 'Pending', message: 'not yet reconciled by the controller' }
  if (ready.observedGeneration !== undefined && ready.observedGeneration < generation)
    return { status: 'Unknown', reason: 'Pending', message: 'the current spec is not yet reconciled' }
  return ready
}

const chosen: ReadonlySet<string> = new Set(['Paused', 'DryRun'])

function levelOf(ready: Ready, counts: GatewayCounts | undefined): Level {
  if (needsAttention(ready)) return 'error'
  if (chosen.has(ready.reason)) return 'warning'
  if (ready.status !== 'True') return 'working'
  return (counts?.drifted ?? 0) > 0 ? 'warning' : 'ok'
}

/** Applies the controller's rule, or uses the reports alone if the spec is unknown or invalid. */
function gatewaysOf(
  spec: GatewaySyncSpec | undefined,
  status: GatewaySyncStatus,
  pods: readonly GatewayPod[],
  reports: ReadonlyMap<string, ReportFacts>,
): Gateway[] {
  if (spec !== undefined) return withWaiting(observeGateways(spec, status.published?.commit, pods, reports), status.rollout)
  return pods.map(({ name }) => {
    const report = reports.get(name)?.status
    return {
      pod: name,
      state: report?.phase === 'Synced' && report.commit === status.published?.commit ? 'synced' : 'pending',
      reason: report?.reason ?? (report === undefined ? 'NoReport' : undefined),
      message: report?.message,
      commit: report?.commit,
      mode: report?.mode?.name,
    }
  })
}

type Stuck = Omit<SyncView, 'next' | 'steps'>
type Row = Pick<GatewayView, 'pod' | 'state' | 'level' | 'reason'>

/** Most useful first; empty if the state is fine or resolves automatically. */
function nextSteps(sync: Stuck, from: FleetFacts['from']): SyncStep[] {
  const { published, gateways } = sync
  const steps = [
    ...(from === 'cluster' ? stepsOfRollout(sync) : []),
    ...stepsOfSync(sync, from),
    ...gateways.flatMap((gateway) => ownSteps(gateway, published?.commit, from)),
  ]
  const entries = [sync.reason, ...gateways.filter(({ level }) => level === 'error').map(({ reason }) => reason)].flatMap(runbookSteps)
  return [...new Map([...steps, ...entries].map((step) => [JSON.stringify(step), step])).values()]
}

/** The steps for one gateway on its own; at most one sentence if waiting is all that is left. */
function stepsOfGateway(gateway: Row, published: string | undefined, from: FleetFacts['from']): Step[] {
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
  if (reason === 'CollectionsInvalid' || reason === 'ValidationFailed') return [{ kind: 'correctFindings', published }]
  if (reason === 'NotVerified') return [{ kind: 'sign', published }]
  if (reason === 'Paused') return [{ kind: from === 'cluster' ? 'resume' : 'resumeInFile' }]
  if (reason === 'DryRun') return [{ kind: 'leaveDryRun' }]
  if (level === 'working' && sync.ready === 'Unknown' && from === 'cluster') return [{ kind: 'checkOperator' }]
  const retry = level === 'error' ? retryOf(reason) : undefined
  return retry === undefined ? [] : [{ kind: retry === 'backoff' ? 'passes' : 'waitsForChange', published }]
}

function ownSteps({ pod, reason, state }: Row, published: string | undefined, from: FleetFacts['from']): SyncStep[] {
  if (from === 'standalone') {
    const kind = stepOfTarget[reason ?? '']
    return kind === undefined || published === undefined ? [] : [{ kind, commit: published }]
  }
  if (state === 'missingAgent' || reason === 'AgentOutdated' || reason === 'AgentDown') return [{ kind: 'recreatePod', pod }]
  if (reason === 'MassDeletion' && published !== undefined) return [{ kind: 'confirmDeletions', commit: published }]
  if (reason === 'LocalChanges' && published !== undefined) return [{ kind: 'confirmOverwrites', commit: published }]
  return []
}

/** What to do about a blocked target of the standalone runner, by reason. */
const stepOfTarget: Readonly<Record<string, 'confirmDeletionsInFile' | 'confirmOverwritesInFile'>> = {
  MassDeletion: 'confirmDeletionsInFile',
  LocalChanges: 'confirmOverwritesInFile',
}

/** Returns the view of a rollout; undefined if there is none. */
export function rolloutView(rollout: RolloutStatus | undefined): RolloutView | undefined {
  if (rollout === undefined) return undefined
  const { state, commit, stage, waitsFor, startedAt, finishedAt, message, stages = [] } = rollout
  return {
    state,
    commit,
    stage,
    waitsFor,
    startedAt,
    finishedAt,
    message,
    level: levels[state],
    summary: summaryOf(rollout),
    stages: stages.map((one) => ({ ...one, level: levelOfStage(one, state) })),
  }
}

const levels: Readonly<Record<RolloutStatus['state'], Level>> = {
  Progressing: 'working',
  Stopped: 'error',
  RolledBack: 'error',
  Done: 'ok',
}

function levelOfStage({ failed, silent = 0, finishedAt, startedAt }: StageStatus, state: RolloutStatus['state']): Level {
  if (failed > 0) return 'error'
  // Silent gateways are no longer counted once the rollout is done or rolled back: they may have received the commit since.
  if (silent > 0 && state !== 'Done' && state !== 'RolledBack') return 'warning'
  if (finishedAt !== undefined) return 'ok'
  return startedAt === undefined ? 'warning' : 'working'
}

const waits: Readonly<Record<NonNullable<RolloutStatus['waitsFor']>, string>> = {
  Gateways: 'gateways are applying the commit',
  Soak: 'its gateways are healthy; the soak time is running',
  Approval: 'waiting for approval',
  Window: 'waiting for the next window',
  Pause: 'paused',
}

function summaryOf({ state, commit, stage = '', stages = [], waitsFor = 'Gateways', refused }: RolloutStatus): string {
  const of = shortCommit(commit)
  if (state === 'Done') return `commit ${of} is rolled out to every stage`
  if (state === 'Stopped') return `commit ${of}, stage ${stage}: stopped`
  if (state === 'RolledBack') return `gateways returned from commit ${shortCommit(refused?.commit ?? commit)} to ${of}`
  const held = stages.find(({ name }) => name === stage)?.held ?? 0
  return `commit ${of}, stage ${stage}: ${waitsFor === 'Gateways' && held > 0 ? heldText(held) : waits[waitsFor]}`
}
