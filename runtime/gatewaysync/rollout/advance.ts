/**
 * One step of a staged rollout: given the stages, the gateways, what is wanted and how far the rollout was, how far it is now and when it may
 * go on by itself. A state machine whose whole state is the status: any pass, of whichever controller, continues the one before. Pure.
 *
 *     Progressing --every stage done--> Done
 *        | ^                              \
 *  failed| |resume                         another commit or configuration
 *        v |                                \
 *     Stopped --abort--> RolledBack ---------> Progressing, from the first stage
 *        \______ another commit ____________/
 */
import { durationMs } from '../schema/fields.ts'
import type { RolloutSpec, Stage } from '../schema/spec.ts'
import { maxAllowed, maxNamedFailures, type RolloutStatus, type StageStatus } from '../schema/rollout-status.ts'
import { timestamp } from '../../clock.ts'
import type { RolloutAction } from './action.ts'
import { amountOf, membersOf, type StagedGateway } from './stages.ts'
import { markOf } from './turn.ts'
import { isOpen, nextOpening } from './windows.ts'

/** What is wanted of every gateway; `configurations` are short syncHashes by profile. */
export type Target = { version: Version; configurations: Readonly<Record<string, string>> }

/** A commit, and what it was published for. */
export type Version = NonNullable<RolloutStatus['before']>

/** How a gateway is, seen from what is rolled out. */
export type GatewayProgress = StagedGateway &
  (
    | { progress: 'updated' | 'moving' }
    /** It cannot take what is rolled out; `reason` in one word. */
    | { progress: 'failed'; reason: string }
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

export type Step = {
  rollout: RolloutStatus
  /** When something may follow without any change; undefined: nothing will. */
  wakeAt: Temporal.Instant | undefined
}

/** How far the rollout is now. Never throws. */
export function advance(facts: RolloutFacts): Step {
  const began = begin(facts)
  if (began.state !== 'Progressing' && began.state !== 'Stopped') return { rollout: acted(began, facts), wakeAt: undefined }
  const asked = act(began, facts)
  if (asked.state !== 'Progressing') return { rollout: withCounts(asked, facts), wakeAt: undefined }
  if (isSkipped(asked, facts.skip)) return { rollout: done(asked, facts), wakeAt: undefined }
  if (facts.paused) return { rollout: withCounts({ ...asked, waitsFor: 'Pause' }, facts), wakeAt: undefined }
  // The time of a pause is not time in which a gateway could have moved.
  const resumed = asked.waitsFor === 'Pause' ? { ...asked, progressAt: timestamp(facts.now) } : asked
  return runStages(resumed, facts)
}

/** The rollout that goes on, or a new one where something else is wanted than before. */
function begin({ target, before, previous, now, gateways }: RolloutFacts): RolloutStatus {
  const { version, configurations } = target
  const { commit } = version
  if (previous !== undefined && previous.commit === commit && sameConfigurations(previous.configurations, configurations)) return previous
  const at = timestamp(now)
  const isNewCommit = previous?.commit !== commit
  const rollout: RolloutStatus = {
    state: 'Progressing',
    id: previous?.startedAt === at ? `${at}.${Number(previous.id.split('.')[1] ?? 1) + 1}` : at,
    commit,
    configurations: { ...configurations },
    startedAt: at,
    progressAt: at,
  }
  // A commit that never reached every gateway is nobody's base: those that wait keep what they have, and go straight to the new one.
  const base = previous?.state === 'Progressing' || previous?.state === 'Stopped' ? previous.before : before
  if (base !== undefined) rollout.before = base
  if (previous?.refused !== undefined && !isNewCommit) rollout.refused = previous.refused
  if (previous?.lastAction !== undefined) rollout.lastAction = previous.lastAction
  // The first commit of all finds no gateway with an earlier one that it could keep.
  if (base === undefined || (previous === undefined && isSettled(gateways))) return finished(rollout, 'Done', at)
  return rollout
}

function sameConfigurations(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean {
  const names = Object.keys(a)
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name])
}

/** A commit alone may skip the stages: left behind, the annotation says nothing about a later change of the configuration. */
function isSkipped({ commit, before }: RolloutStatus, skip: string | undefined): boolean {
  return skip === commit && before?.commit !== commit
}

/** Whether every gateway has what is wanted already. */
function isSettled(gateways: readonly GatewayProgress[]): boolean {
  return gateways.every(({ progress }) => progress === 'updated')
}

/** What was asked of a rollout that has ended is noted, so that it is not done later. */
function acted(rollout: RolloutStatus, { action }: RolloutFacts): RolloutStatus {
  return action === undefined || action.digest === rollout.lastAction ? rollout : { ...rollout, lastAction: action.digest }
}

function act(rollout: RolloutStatus, facts: RolloutFacts): RolloutStatus {
  const { action, now, spec, gateways } = facts
  if (action === undefined || action.digest === rollout.lastAction) return rollout
  const noted = { ...rollout, lastAction: action.digest }
  if (action.id !== rollout.id) return noted
  const at = timestamp(now)
  if (action.verb === 'abort') return stop(noted, 'RolloutAborted', `${action.by} aborted it`, facts, 'Rollback')
  if (action.verb === 'approve') {
    if (!spec.stages.some(({ name }) => name === action.stage)) return noted
    const stages = spec.stages.map(({ name }) => stageStatusOf(noted, name))
    const approved = stages.map((stage) => (stage.name === action.stage ? { ...stage, approvedBy: action.by, approvedAt: at } : stage))
    return { ...noted, stages: approved }
  }
  if (rollout.state !== 'Stopped') return noted
  const { reason: _reason, message: _message, finishedAt: _finishedAt, healthySince: _since, ...going } = noted
  const members = membersOf(spec.stages, gateways)[spec.stages.findIndex(({ name }) => name === rollout.stage)] ?? []
  const failures = failuresOf(noted, members, spec, now).length
  return { ...going, state: 'Progressing', progressAt: at, excused: failures }
}

/** The stages one after the other, as far as they are done. */
function runStages(rollout: RolloutStatus, facts: RolloutFacts): Step {
  const { spec, gateways, now } = facts
  const members = membersOf(spec.stages, gateways)
  const at = timestamp(now)
  let state = rollout
  for (const [index, stage] of spec.stages.entries()) {
    const of = members[index] ?? []
    // Whoever joins a stage that is done takes part at once. A stage that was put before the present one comes first.
    if (stageStatusOf(state, stage.name).finishedAt !== undefined) {
      state = allowMore(state, stage, of, facts)
      continue
    }
    const step = runStage(entering(state, stage.name), stage, of, facts)
    if (step.kind === 'waits') return { rollout: withCounts(step.rollout, facts), wakeAt: step.wakeAt }
    if (step.kind === 'failed') return { rollout: withCounts(step.rollout, facts), wakeAt: undefined }
    state = { ...changeStage(step.rollout, stage.name, { finishedAt: at }), progressAt: at }
  }
  return { rollout: done(state, facts), wakeAt: undefined }
}

/** What was noted of another stage says nothing about this one. */
function entering(rollout: RolloutStatus, stage: string): RolloutStatus {
  if (rollout.stage === stage) return rollout
  const { healthySince: _healthySince, excused: _excused, waitsFor: _waitsFor, ...others } = rollout
  return { ...others, stage }
}

type StageStep =
  { kind: 'waits'; rollout: RolloutStatus; wakeAt: Temporal.Instant | undefined } | { kind: 'failed' | 'done'; rollout: RolloutStatus }

function runStage(before: RolloutStatus, stage: Stage, members: readonly GatewayProgress[], facts: RolloutFacts): StageStep {
  const { spec, now } = facts
  const at = timestamp(now)
  const known = stageStatusOf(before, stage.name)
  // A stage of which every gateway has everything already needs neither leave nor watching.
  const hasWork = known.startedAt !== undefined || members.some(needsMove)
  if (!hasWork) return { kind: 'done', rollout: allowMore(before, stage, members, facts) }
  if (stage.approval === 'Manual' && known.startedAt === undefined && known.approvedAt === undefined) {
    return { kind: 'waits', rollout: { ...before, waitsFor: 'Approval' }, wakeAt: undefined }
  }
  const started = known.startedAt === undefined ? changeStage({ ...before, progressAt: at }, stage.name, { startedAt: at }) : before
  const progressed = noteProgress(started, stage, members, at)
  const failures = failuresOf(progressed, members, spec, now)
  const limit = amountOf(spec.failAfter, members.length, Math.ceil) + (progressed.excused ?? 0)
  if (failures.length >= limit) {
    const named = failures.slice(0, 5).map(({ pod, reason }) => `${pod}: ${reason}`)
    const message = `${failures.length} of ${members.length} gateways of stage ${stage.name} failed: ${named.join(', ')}`
    return { kind: 'failed', rollout: stop(progressed, 'RolloutFailed', message, facts, spec.onFailure) }
  }
  const allowed = allowMore(progressed, stage, members, facts)
  const failed = new Set(failures.map(({ pod }) => pod))
  const open = members.filter((gateway) => needsMove(gateway) && !failed.has(gateway.pod))
  if (open.length > 0) return waitForGateways(allowed, open, facts)
  const healthySince = allowed.healthySince ?? at
  const healthy: RolloutStatus = { ...allowed, healthySince }
  const soakEnds = Temporal.Instant.from(healthySince).add({ milliseconds: Math.round(durationMs(stage.soak) ?? 0) })
  if (Temporal.Instant.compare(soakEnds, now) > 0) {
    return { kind: 'waits', rollout: { ...healthy, waitsFor: 'Soak' }, wakeAt: soakEnds }
  }
  return { kind: 'done', rollout: healthy }
}

/** Whether a gateway is to take something yet, whatever its present state says about it. */
function needsMove({ progress }: GatewayProgress): boolean {
  return progress === 'moving' || progress === 'failed'
}

/** Gateways that have not ended: some may not have begun. */
function waitForGateways(rollout: RolloutStatus, open: readonly GatewayProgress[], { spec, now }: RolloutFacts): StageStep {
  const { healthySince: _healthySince, ...waiting } = rollout
  const begun = begunOf(rollout)
  if (!open.some(({ pod }) => begun.has(markOf(pod)))) {
    return { kind: 'waits', rollout: { ...waiting, waitsFor: 'Window' }, wakeAt: nextOpening(spec.windows, now) }
  }
  const isMoreToBegin = open.some(({ pod }) => !begun.has(markOf(pod)))
  const opening = isMoreToBegin ? nextOpening(spec.windows, now) : undefined
  const wakeAt = [overdueAt(rollout, spec), ...(opening === undefined ? [] : [opening])].toSorted((a, b) =>
    Temporal.Instant.compare(a, b),
  )[0]
  return { kind: 'waits', rollout: { ...waiting, waitsFor: 'Gateways' }, wakeAt }
}

/** Lets as many gateways of a stage begin as may be under way at once, where a window is open. */
function allowMore(rollout: RolloutStatus, stage: Stage, members: readonly GatewayProgress[], facts: RolloutFacts): RolloutStatus {
  const { spec, now } = facts
  const begun = begunOf(rollout)
  const failed = new Set(failuresOf(rollout, members, spec, now).map(({ pod }) => pod))
  const waiting = members.filter((gateway) => !begun.has(markOf(gateway.pod)) && needsMove(gateway))
  const underWay = members.filter(({ pod, progress }) => begun.has(markOf(pod)) && progress === 'moving' && !failed.has(pod)).length
  // What is there already needs nobody's leave, and a gateway that writes nothing takes nobody's place.
  const free = members.filter(({ pod, progress }) => !begun.has(markOf(pod)) && progress === 'updated')
  const places = isOpen(spec.windows, now) ? amountOf(stage.maxConcurrent, members.length, Math.floor) - underWay : 0
  const next = waiting.slice(0, Math.max(0, places))
  if (next.length + free.length === 0) return rollout
  const marks = [...(rollout.allowed ?? []), ...[...free, ...next].map(({ pod }) => markOf(pod))]
  const present = new Set(facts.gateways.map(({ pod }) => markOf(pod)))
  // A pod that is made anew keeps its turn; only of names that never come back there may be no end.
  const kept =
    marks.length <= maxAllowed ? marks : [...marks.filter((mark) => !present.has(mark)), ...marks.filter((mark) => present.has(mark))]
  return { ...rollout, allowed: kept.slice(-maxAllowed), ...(next.length > 0 ? { progressAt: timestamp(now) } : {}) }
}

/** The time of the last progress moves when a gateway has ended. */
function noteProgress(rollout: RolloutStatus, stage: Stage, members: readonly GatewayProgress[], at: string): RolloutStatus {
  const { updated } = stageStatusOf(rollout, stage.name)
  return members.filter(({ progress }) => progress === 'updated').length > updated ? { ...rollout, progressAt: at } : rollout
}

/** Gateways that have begun and cannot, or did not in time, take what is rolled out. */
function failuresOf(
  rollout: RolloutStatus,
  members: readonly GatewayProgress[],
  spec: RolloutSpec,
  now: Temporal.Instant,
): { pod: string; reason: string }[] {
  const begun = begunOf(rollout)
  const isOverdue = Temporal.Instant.compare(now, overdueAt(rollout, spec)) >= 0
  return members
    .filter(({ pod }) => begun.has(markOf(pod)))
    .flatMap((gateway) => {
      if (gateway.progress === 'failed') return [{ pod: gateway.pod, reason: gateway.reason }]
      return gateway.progress === 'moving' && isOverdue ? [{ pod: gateway.pod, reason: 'ProgressDeadline' }] : []
    })
}

function overdueAt({ progressAt, startedAt }: RolloutStatus, { progressDeadline }: RolloutSpec): Temporal.Instant {
  const milliseconds = Math.round(durationMs(progressDeadline) ?? 7_200_000)
  return Temporal.Instant.from(progressAt ?? startedAt).add({ milliseconds })
}

/** Ends a rollout that failed or was aborted: back to what was there before where that is asked for and possible, else not any further. */
function stop(
  rollout: RolloutStatus,
  reason: 'RolloutFailed' | 'RolloutAborted',
  message: string,
  { now, target }: RolloutFacts,
  how: RolloutSpec['onFailure'],
): RolloutStatus {
  const { waitsFor: _waitsFor, ...others } = rollout
  const { before, commit } = rollout
  const ended = { ...others, reason, message: message.slice(0, 1024), finishedAt: timestamp(now) }
  // A configuration alone has no commit to go back to, and that of another repository can no longer be fetched.
  const canGoBack = before !== undefined && before.commit !== commit && before.repo === target.version.repo
  if (how === 'Hold' || !canGoBack) return { ...ended, state: 'Stopped' }
  return { ...ended, state: 'RolledBack', commit: before.commit, refused: target.version }
}

function done(rollout: RolloutStatus, facts: RolloutFacts): RolloutStatus {
  return finished(withCounts(rollout, facts), 'Done', timestamp(facts.now))
}

/** Every gateway may have what is published now: of what kept some back nothing is left. */
function finished(rollout: RolloutStatus, state: 'Done', at: string): RolloutStatus {
  const { before: _before, allowed: _allowed, stage: _stage, waitsFor: _waitsFor, ...others } = rollout
  const { progressAt: _progressAt, healthySince: _healthySince, excused: _excused, failures: _failures, ...kept } = others
  const { reason: _reason, message: _message, ...rest } = kept
  return { ...rest, state, finishedAt: at }
}

/** The stages as they are shown, one for each of the spec. */
function withCounts(rollout: RolloutStatus, { spec, gateways, now }: RolloutFacts): RolloutStatus {
  const members = membersOf(spec.stages, gateways)
  const stages = spec.stages.map(({ name }, index): StageStatus => {
    const of = members[index] ?? []
    const updated = of.filter(({ progress }) => progress === 'updated').length
    return { ...stageStatusOf(rollout, name), gateways: of.length, updated, failed: failuresOf(rollout, of, spec, now).length }
  })
  const present = members[spec.stages.findIndex(({ name }) => name === rollout.stage)] ?? []
  const failures = failuresOf(rollout, present, spec, now).slice(0, maxNamedFailures)
  const { failures: _failures, ...others } = rollout
  return { ...others, stages, ...(failures.length > 0 ? { failures } : {}) }
}

function stageStatusOf({ stages = [] }: RolloutStatus, name: string): StageStatus {
  return stages.find((stage) => stage.name === name) ?? { name, gateways: 0, updated: 0, failed: 0 }
}

function changeStage(rollout: RolloutStatus, name: string, change: Partial<StageStatus>): RolloutStatus {
  const { stages = [] } = rollout
  const changed = { ...stageStatusOf(rollout, name), ...change }
  const isKnown = stages.some((stage) => stage.name === name)
  return { ...rollout, stages: isKnown ? stages.map((stage) => (stage.name === name ? changed : stage)) : [...stages, changed] }
}

function begunOf({ allowed = [] }: RolloutStatus): ReadonlySet<string> {
  return new Set(allowed)
}
