/**
 * A fleet in memory that follows one GatewaySync in stages: the controller's own decisions on one side, what agents decide on the other, and
 * a git host that is one variable. The status is all that both share, as in a cluster.
 */
import * as v from 'valibot'
import { type FollowedSync, desiredSync } from '../../runtime/agent/desired.ts'
import { afterAnswer, type CheckAnswer, type CheckRecord, type RememberedCheck } from '../../runtime/gatewaysync/check-record.ts'
import { decide, type Decision } from '../../runtime/gatewaysync/decide/decide.ts'
import { parseReport } from '../../runtime/gatewaysync/decide/gateways.ts'
import { wantedRef } from '../../runtime/gatewaysync/decide/request.ts'
import { rolloutAnnotations } from '../../runtime/gatewaysync/names.ts'
import { actionText, type RolloutVerb } from '../../runtime/gatewaysync/rollout/action.ts'
import type { SyncReportStatus } from '../../runtime/gatewaysync/schema/report.ts'
import { rolloutSpec } from '../../runtime/gatewaysync/schema/rollout-spec.ts'
import type { RolloutStatus } from '../../runtime/gatewaysync/schema/rollout-status.ts'
import type { GatewaySyncSpec, RolloutSpec } from '../../runtime/gatewaysync/schema/spec.ts'
import type { GatewaySyncStatus } from '../../runtime/gatewaysync/schema/status.ts'
import { type CommitHash, parseCommitHash, parseRefName } from '../../runtime/gatewaysync/values.ts'
import { podWith, specWith } from './gatewaysync.ts'

export type StagedPod = {
  labels: Record<string, string>
  /** What its volume holds; undefined: nothing. */
  inPlace: { commit: string; syncHash: string } | undefined
  report: Partial<SyncReportStatus> & Pick<SyncReportStatus, 'phase'>
  /** How its gateway has been since it took what is in place. */
  health?: NonNullable<SyncReportStatus['health']>
  /** What it has answered to the check of its profile. */
  check?: CheckRecord
  /** Every commit that was ever in place. */
  had: string[]
}

/** The n-th commit of the repository. */
export function commitOf(n: number): CommitHash {
  return parseCommitHash(n.toString(16).padStart(40, '0'))
}

export type StagedFleet = ReturnType<typeof stagedFleet>

/** Four gateways, of which one is a test line. */
export const lines = { 'gw-test': { line: 'test' }, 'gw-a': {}, 'gw-b': {}, 'gw-c': {} }
/** The test line first, then the others one by one. */
export const stages = [
  { name: 'test', gateways: { labels: { matchLabels: { line: 'test' } } } },
  { name: 'plant', maxConcurrent: 1 },
]

export const conditionOf = ({ status }: StagedFleet, type: string) => status.conditions?.find((one) => one.type === type)

/** Every gateway has the first commit, and the second one is pushed. */
export function pushedFleet(
  rollout: Parameters<typeof stagedFleet>[0],
  pods: Readonly<Record<string, Record<string, string>>> = lines,
): StagedFleet {
  const fleet = stagedFleet(rollout, pods)
  fleet.settle()
  fleet.head = commitOf(2)
  return fleet
}

/** `rollout` as a user writes it; undefined: all at once. */
export function stagedFleet(rollout: v.InferInput<typeof rolloutSpec> | undefined, pods: Readonly<Record<string, Record<string, string>>>) {
  const fleet = {
    spec: withRollout(specWith(), rollout),
    head: commitOf(1),
    status: {} as GatewaySyncStatus,
    annotations: {} as Record<string, string>,
    now: Temporal.Instant.from('2026-03-02T12:00:00Z'),
    pods: new Map<string, StagedPod>(),
    asked: 0,
    /** A commit that gateways cannot take. */
    bad: new Set<string>(),
    /** A commit that makes a gateway complain of something once it has read it. */
    harmful: new Set<string>(),
    /** When the container of a gateway last ended. */
    ended: new Map<string, string>(),
    /** Gateways on which somebody has changed files that a commit would undo. */
    edited: new Set<string>(),
    /** What a gateway answers to a check; it is right where nothing else is said. */
    answers: new Map<string, CheckAnswer>(),
    /** What Prometheus answers about a gateway; it is right where nothing else is said. */
    figures: new Map<string, CheckAnswer>(),
    /** What the controller that leads knows from it. */
    known: new Map<string, RememberedCheck>(),
    /** Gateways whose agent does nothing, as their pod cannot be scheduled. */
    off: new Set<string>(),
    /** Pods that admission has given no agent. */
    bare: new Set<string>(),

    rollout(): RolloutStatus | undefined {
      return fleet.status.rollout
    },
    add(name: string, labels: Record<string, string> = {}): void {
      fleet.pods.set(name, { labels, inPlace: undefined, report: { phase: 'Pending', reason: 'CommitNotPublished' }, had: [] })
    },
    wait(milliseconds: number): void {
      fleet.now = fleet.now.add({ milliseconds })
    },
    act(verb: RolloutVerb, stage?: string): void {
      fleet.asked += 1
      const id = fleet.rollout()?.id ?? ''
      fleet.annotations = {
        ...fleet.annotations,
        [rolloutAnnotations.action]: actionText(verb, id, stage),
        [rolloutAnnotations.by]: 'somebody',
        [rolloutAnnotations.at]: String(fleet.asked),
      }
    },
    /** One pass of the controller. `asks`: it has asked the git host. */
    pass(asks = true): Decision {
      const { spec, annotations, status, now } = fleet
      const decision = decide({
        generation: 1,
        spec,
        annotations,
        status,
        wanted: wantedRef(parseRefName(spec.git.ref), annotations, status),
        source: asks
          ? {
              kind: 'resolved',
              commit: fleet.head,
              committedAt: undefined,
              fetchedAt: '2026-01-01T00:00:00Z',
              verified: undefined,
              verdict: { kind: 'notChecked' },
              durationMs: 1,
            }
          : { kind: 'unasked', lastFault: undefined },
        pods: [...fleet.pods].map(([name, { labels }]) =>
          podWith(name, {
            labels,
            ...(fleet.ended.has(name) ? { gatewayEndedAt: fleet.ended.get(name) ?? '' } : {}),
            injected: !fleet.bare.has(name),
          }),
        ),
        reports: new Map([...fleet.pods].map(([name, { report }]) => [name, parseReport(`uid-${name}`, report)])),
        delivery: { url: 'https://delivery:9445', caBundle: '' },
        answers: fleet.known,
        now,
      })
      fleet.status = decision.status
      const known = decision.questions.map(({ pod, about }): [string, RememberedCheck] => {
        const before = fleet.known.get(pod)
        const answer = fleet.figures.get(pod) ?? { kind: 'right' }
        return [pod, { about, record: afterAnswer(before?.about === about ? before.record : undefined, answer, now.epochMilliseconds) }]
      })
      fleet.known = new Map(known)
      return decision
    },
    /** One look of the agent of a pod; returns whether it wrote anything. */
    look(name: string): boolean {
      const pod = fleet.pods.get(name)
      if (pod === undefined || fleet.off.has(name) || fleet.bare.has(name)) return false
      const followed: FollowedSync = { uid: 'u', annotations: fleet.annotations, spec: fleet.spec, status: fleet.status }
      const facts = { podName: name, namespace: 'plant', annotations: {}, labels: pod.labels }
      const desired = desiredSync('plant', followed, facts, pod.inPlace)
      const held = pod.inPlace ?? {}
      if (desired.kind === 'idle') {
        pod.report = { ...held, phase: desired.phase, reason: desired.fault.reason, message: desired.fault.message }
        return false
      }
      const { commit, syncHash } = desired
      if (desired.paused) {
        pod.report = { ...held, phase: 'Paused' }
        return false
      }
      if (desired.profile.dryRun) {
        pod.report = { ...held, syncHash, phase: 'DryRun' }
        return false
      }
      const isMove = pod.inPlace?.commit !== commit || pod.inPlace.syncHash !== syncHash
      if (isMove && fleet.bad.has(commit)) {
        pod.report = { ...held, phase: 'Blocked', reason: 'TemplateFailed', message: 'bad', attempt: { commit, syncHash } }
        return false
      }
      if (isMove && fleet.edited.has(name)) {
        pod.report = { ...held, phase: 'Blocked', reason: 'LocalChanges', message: 'a.txt', attempt: { commit, syncHash } }
        return false
      }
      pod.inPlace = { commit, syncHash }
      if (isMove) {
        pod.had.push(commit)
        pod.health = { since: String(fleet.now), ...(fleet.harmful.has(commit) ? { newProblems: ['Project line cannot be read'] } : {}) }
      }
      const waits = desired.waits === undefined ? {} : ({ phase: 'Pending', reason: 'WaitsForStage' } as const)
      const health = pod.health === undefined ? {} : { health: pod.health }
      const check = checkOf(pod, desired.check, isMove)
      pod.report = { ...pod.inPlace, phase: 'Synced', ...waits, ...health, ...check }
      return isMove
    },
    /** Agents and controller until nothing changes any more; at most so many rounds. */
    settle(rounds = 50): void {
      for (let round = 0; round < rounds; round += 1) {
        const before = JSON.stringify([fleet.status, ...fleet.pods, ...fleet.known])
        fleet.pass()
        for (const name of fleet.pods.keys()) fleet.look(name)
        if (JSON.stringify([fleet.status, ...fleet.pods, ...fleet.known]) === before) return
      }
    },
    commits(): Record<string, string | undefined> {
      return Object.fromEntries([...fleet.pods].map(([name, { inPlace }]) => [name, inPlace?.commit]))
    },
    change(rollout: v.InferInput<typeof rolloutSpec> | undefined): void {
      fleet.spec = withRollout(fleet.spec, rollout)
    },
  }
  /** What the agent asks, and says of it in its report. */
  const checkOf = (pod: StagedPod, asked: unknown, isMove: boolean): Pick<SyncReportStatus, 'check'> => {
    const [name = ''] = [...fleet.pods].find(([, one]) => one === pod) ?? []
    if (asked === undefined) {
      delete pod.check
      return {}
    }
    pod.check = afterAnswer(isMove ? undefined : pod.check, fleet.answers.get(name) ?? { kind: 'right' }, fleet.now.epochMilliseconds)
    const { state, sinceMs } = pod.check
    return { check: { state, since: String(Temporal.Instant.fromEpochMilliseconds(sinceMs)) } }
  }
  for (const [name, labels] of Object.entries(pods)) fleet.add(name, labels)
  return fleet
}

function withRollout(
  { rollout: _before, ...spec }: GatewaySyncSpec,
  rollout: v.InferInput<typeof rolloutSpec> | undefined,
): GatewaySyncSpec {
  return rollout === undefined ? spec : { ...spec, rollout: v.parse(rolloutSpec, rollout) satisfies RolloutSpec }
}
