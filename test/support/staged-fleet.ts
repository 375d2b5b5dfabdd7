/**
 * An in-memory fleet that follows one GatewaySync in stages: the controller's decisions on one side, the agents' decisions on the other,
 * and a git host that is one variable. Both share only the status, as in a cluster.
 */
import * as v from 'valibot'
import { type FollowedSync, desiredSync } from '../../runtime/agent/desired.ts'
import { followedRef } from '../../runtime/api/followed-ref.ts'
import { afterAnswer, type CheckAnswer, type CheckRecord, type StoredCheck } from '../../runtime/api/check-record.ts'
import { decide, type Decision } from '../../runtime/reconcile/decide/decide.ts'
import { parseReport } from '../../runtime/reconcile/decide/gateways.ts'
import { desiredRef } from '../../runtime/reconcile/decide/request.ts'
import { rolloutAnnotations } from '../../runtime/api/names.ts'
import { actionText, type RolloutVerb } from '../../runtime/reconcile/rollout/action.ts'
import type { SyncReportStatus } from '../../runtime/api/schema/report.ts'
import { rolloutSpec } from '../../runtime/api/schema/rollout-spec.ts'
import type { RolloutStatus } from '../../runtime/api/schema/rollout-status.ts'
import type { GatewaySyncSpec, RolloutSpec } from '../../runtime/api/schema/spec.ts'
import type { GatewaySyncStatus } from '../../runtime/api/schema/status.ts'
import { type CommitHash, parseCommitHash } from '../../runtime/api/values.ts'
import { Temporal } from '../../runtime/platform/temporal.ts'
import { podWith, specWith } from './gatewaysync.ts'

export type StagedPod = {
  labels: Record<string, string>
  /** The content of its volume; undefined: empty. */
  inPlace: { commit: string; syncHash: string } | undefined
  report: Partial<SyncReportStatus> & Pick<SyncReportStatus, 'phase'>
  /** The health of its gateway since the applied commit. */
  health?: NonNullable<SyncReportStatus['health']>
  /** The result of its profile's check. */
  check?: CheckRecord
  /** Every commit that was ever applied. */
  had: string[]
}

/** The n-th commit of the repository. */
export function commitOf(n: number): CommitHash {
  return parseCommitHash(n.toString(16).padStart(40, '0'))
}

export type StagedFleet = ReturnType<typeof stagedFleet>

/** Four gateways, one of them a test line. */
export const lines = { 'gw-test': { line: 'test' }, 'gw-a': {}, 'gw-b': {}, 'gw-c': {} }
/** The test line first, then the others one by one. */
export const stages = [
  { name: 'test', selector: { matchLabels: { line: 'test' } } },
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
    /** Commits that gateways cannot apply. */
    bad: new Set<string>(),
    /** Commits that make a gateway unhealthy once it has loaded them. */
    harmful: new Set<string>(),
    /** The time at which the container of a gateway last ended. */
    ended: new Map<string, string>(),
    /** Gateways with local changes that a commit would revert. */
    edited: new Set<string>(),
    /** The answer of a gateway to a check; successful by default. */
    answers: new Map<string, CheckAnswer>(),
    /** The answer of Prometheus about a gateway; successful by default. */
    figures: new Map<string, CheckAnswer>(),
    /** The leading controller's knowledge of the Prometheus checks. */
    known: new Map<string, StoredCheck>(),
    /** Gateways with an inactive agent, because their pod cannot be scheduled. */
    off: new Set<string>(),
    /** Pods that admission has admitted without an agent. */
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
    /** One reconcile of the controller. `asks`: it has resolved the source. */
    pass(asks = true): Decision {
      const { spec, annotations, status, now } = fleet
      const decision = decide({
        generation: 1,
        spec,
        annotations,
        status,
        desired: desiredRef(followedRef(spec.git), annotations, status),
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
          : { kind: 'unchanged', lastFault: undefined },
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
      const known = decision.questions.map(({ pod, about }): [string, StoredCheck] => {
        const before = fleet.known.get(pod)
        const answer = fleet.figures.get(pod) ?? { kind: 'right' }
        return [pod, { about, record: afterAnswer(before?.about === about ? before.record : undefined, answer, now.epochMilliseconds) }]
      })
      fleet.known = new Map(known)
      return decision
    },
    /** One cycle of a pod's agent; returns whether it wrote anything. */
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
    /** Runs agents and controller until nothing changes; at most `rounds` rounds. */
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
  /** The check that the agent makes and reports. */
  const checkOf = (pod: StagedPod, asked: unknown, isMove: boolean): Pick<SyncReportStatus, 'healthCheck'> => {
    const [name = ''] = [...fleet.pods].find(([, one]) => one === pod) ?? []
    if (asked === undefined) {
      delete pod.check
      return {}
    }
    pod.check = afterAnswer(isMove ? undefined : pod.check, fleet.answers.get(name) ?? { kind: 'right' }, fleet.now.epochMilliseconds)
    const { state, sinceMs } = pod.check
    return { healthCheck: { state, since: String(Temporal.Instant.fromEpochMilliseconds(sinceMs)) } }
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
