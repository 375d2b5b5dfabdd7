/**
 * Applies a staged rollout to a decision: which gateways may take the published commit, and what is published after a rollback. Pure.
 */
import { timestamp } from '../../platform/clock.ts'
import { Fault } from '../../platform/fault.ts'
import type { Temporal } from '../../platform/temporal.ts'
import type { CheckQuestion } from '../rollout/check-question.ts'
import type { StoredCheck } from '../../api/check-record.ts'
import { skipStagesAnnotation } from '../../api/names.ts'
import { parseAction, type RolloutAction } from '../rollout/action.ts'
import { advance, rolloutOf } from '../rollout/advance.ts'
import type { Target, Version } from '../rollout/facts.ts'
import { shortSyncHash } from '../rollout/stage-admission.ts'
import { isUnderWay, type RolloutStatus } from '../../api/schema/rollout-status.ts'
import type { GatewaySyncSpec } from '../../api/schema/spec.ts'
import type { GatewaySyncStatus } from '../../api/schema/status.ts'
import { type EventToRecord, syncEvent } from './events.ts'
import { progressOf } from './gateway-progress.ts'
import { type Gateway, type GatewayPod, type Reports, observeGateways, withWaiting } from './gateways.ts'
import { checkOfProfile, desiredHash } from '../../api/schema/profile.ts'
import { type Annotations, type DesiredRef } from './request.ts'
import { withStages } from '../rollout/status.ts'

type Observed = {
  spec: GatewaySyncSpec
  annotations: Annotations
  /** The current status. */
  status: GatewaySyncStatus
  pods: readonly GatewayPod[]
  reports: Reports
  answers?: ReadonlyMap<string, StoredCheck>
  now: Temporal.Instant
}

/** The source after resolution, and what a rollout may change in it. */
type Followed = Pick<GatewaySyncStatus, 'source' | 'published'> & {
  history: NonNullable<GatewaySyncStatus['history']>
  events: EventToRecord[]
}

type Rolled = Followed & {
  rollout: RolloutStatus | undefined
  gateways: Gateway[]
  /** When the rollout may continue without a change. */
  wakeAt: Temporal.Instant | undefined
  /** The queries about gateways to run until the next reconcile. */
  questions: CheckQuestion[]
}

/** Advances the rollout by one step; without a rollout in the spec or a published commit there is none. */
export function followRollout(observed: Observed, followed: Followed): Rolled {
  const { spec, annotations, status, pods, reports, answers = new Map<string, StoredCheck>(), now } = observed
  const count = (commit: string | undefined): Gateway[] => observeGateways(spec, commit, pods, reports)
  const desired = rolloutOf(spec)
  if (desired === undefined || followed.published === undefined) {
    const history = withStages(followed.history, status.rollout, undefined)
    return { ...followed, history, rollout: undefined, gateways: count(followed.published?.commit), wakeAt: undefined, questions: [] }
  }
  const action = parseAction(annotations)
  const tried = republish(observed, { ...followed, published: followed.published }, action)
  const target: Target = { version: versionOf(tried.published), configurations: configurationsOf(spec) }
  const counted = count(target.version.commit)
  const gateways = progressOf(counted, pods, reports, {
    target,
    since: isUnderWay(status.rollout) ? status.rollout.startedAt : undefined,
    paused: (profile) => isPaused(spec, profile),
    check: (profile) => checkOfProfile(spec.sync, profile),
    answers,
    nowMs: now.epochMilliseconds,
  })
  const { rollout, wakeAt } = advance({
    spec: desired,
    target,
    before: status.published === undefined ? undefined : versionOf(status.published),
    previous: status.rollout,
    gateways,
    action,
    skip: annotations[skipStagesAnnotation],
    paused: spec.paused,
    now,
  })
  const events = [...tried.events, ...rolloutEvents(status.rollout, rollout)]
  const { refused } = rollout
  const remembered = (rolled: Followed): Followed => ({ ...rolled, history: withStages(rolled.history, status.rollout, rollout) })
  if (rollout.state !== 'RolledBack' || refused === undefined || tried.published.commit === rollout.commit) {
    const questions = isUnderWay(rollout) ? gateways.flatMap(({ question }) => question ?? []) : []
    return { ...remembered(tried), events, rollout, gateways: withWaiting(counted, rollout), wakeAt, questions }
  }
  const back = publishPrevious(tried, rollout, timestamp(now))
  return { ...remembered(back), events, rollout, gateways: withWaiting(count(rollout.commit), rollout), wakeAt, questions: [] }
}

/** Returns why a commit is not published again: it was rolled back, and has not been requested by its hash since. */
export function rollbackFault(
  { spec, status, desired }: Pick<Observed, 'spec' | 'status'> & { desired: DesiredRef },
  commit: string,
): Fault | undefined {
  const { rollout } = status
  if (rolloutOf(spec) === undefined || rollout?.refused?.commit !== commit) return undefined
  if (desired.undecided && desired.ref === commit) return undefined
  return new Fault(rollout.reason === 'RolloutAborted' ? 'RolloutAborted' : 'RolloutFailed', rollout.message ?? 'its rollout has failed')
}

/** Publishes a rolled-back commit again after a resume, and rolls it out from the first stage. */
function republish<Facts extends Followed & { published: Version & { at: string } }>(
  { status: { rollout }, now }: Observed,
  followed: Facts,
  action: RolloutAction | undefined,
): Facts {
  const isRequested = action?.verb === 'resume' && action.id === rollout?.id && action.digest !== rollout.lastAction
  if (!isRequested || rollout?.state !== 'RolledBack' || rollout.refused === undefined) return followed
  const { held: _held, ...source } = followed.source ?? { ref: rollout.refused.specRef ?? rollout.refused.ref }
  return { ...followed, source, published: { ...rollout.refused, at: timestamp(now) } }
}

/** Publishes the previous commit after a rollback. The other one is held like any refused commit. */
function publishPrevious(
  followed: Followed,
  { previous, refused, reason = 'RolloutFailed', message }: RolloutStatus,
  at: string,
): Followed {
  if (previous === undefined || refused === undefined) return followed
  const { source, history } = followed
  const entry: Followed['history'][number] = {
    ...versionOf({ ...refused, repo: undefined }),
    by: 'rollout',
    at,
    outcome: 'Refused',
    reason,
  }
  if (message !== undefined) entry.message = message.slice(0, 256)
  return {
    ...followed,
    published: { ...previous, at },
    history: [entry, ...history].slice(0, 10),
    ...(source?.commit === refused.commit ? { source: { ...source, held: reason } } : {}),
  }
}

/** Whether sync is paused for gateways of a profile. */
function isPaused({ paused, sync: { defaults, profiles } }: GatewaySyncSpec, name: string): boolean {
  return paused || ((Object.hasOwn(profiles, name) ? profiles[name]?.paused : undefined) ?? defaults.paused)
}

function versionOf({ commit, ref, specRef, repo }: Version): Version {
  return { commit, ref, ...(specRef === undefined ? {} : { specRef }), ...(repo === undefined ? {} : { repo }) }
}

/** Returns the configuration of each profile; overrides on a pod are not included. */
function configurationsOf(spec: GatewaySyncSpec): Record<string, string> {
  return Object.fromEntries(Object.keys(spec.sync.profiles).map((name) => [name, shortSyncHash(desiredHash(spec, name))]))
}

/** Records each once: what began, what was done, and what stopped it. */
function rolloutEvents(
  before: RolloutStatus | undefined,
  { id, commit, state, stage, stages = [], message, refused }: RolloutStatus,
): EventToRecord[] {
  const isNew = before?.id !== id
  const what = refused?.commit ?? commit
  const events: EventToRecord[] = []
  if (state === 'Progressing' && stage !== undefined && (isNew || before?.stage !== stage)) {
    events.push(syncEvent('StageBegan', `the rollout of commit ${commit} has reached stage ${stage}`))
  }
  for (const { name, approvedBy } of stages) {
    const known = isNew ? undefined : before?.stages?.find((one) => one.name === name)?.approvedBy
    if (approvedBy !== undefined && known !== approvedBy)
      events.push(syncEvent('StageApproved', `stage ${name} was approved by ${approvedBy}`))
  }
  if (isNew || before?.state === state) return events
  if (state === 'Done') events.push(syncEvent('RolledOut', `every stage has commit ${commit}`))
  if (state === 'Stopped') events.push(syncEvent('RolloutStopped', `the rollout of commit ${what} is stopped: ${message ?? ''}`))
  if (state === 'RolledBack') events.push(syncEvent('RolledBack', `gateways return from commit ${what} to ${commit}: ${message ?? ''}`))
  return events
}
