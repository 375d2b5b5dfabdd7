/**
 * Tests the single steps of a rollout: its events, rollbacks and what it asks and counts.
 */
import t from 'tap'
import type { FollowedRef } from '../../../../runtime/api/followed-ref.ts'
import { rolloutAnnotations } from '../../../../runtime/api/names.ts'
import { Fault } from '../../../../runtime/platform/fault.ts'
import { Temporal } from '../../../../runtime/platform/temporal.ts'
import { syncEvents } from '../../../../runtime/reconcile/decide/events.ts'
import type { DesiredRef } from '../../../../runtime/reconcile/decide/request.ts'
import { followRollout, rollbackFault } from '../../../../runtime/reconcile/decide/rollout.ts'
import { actionText, parseAction, type RolloutVerb } from '../../../../runtime/reconcile/rollout/action.ts'
import type { Version } from '../../../../runtime/reconcile/rollout/facts.ts'
import { podHash, shortSyncHash } from '../../../../runtime/reconcile/rollout/stage-admission.ts'
import type { GatewayPod, GatewayReport } from '../../../../runtime/reconcile/decide/gateways.ts'
import { desiredHash } from '../../../../runtime/api/schema/profile.ts'
import type { RolloutStatus } from '../../../../runtime/api/schema/rollout-status.ts'
import { matchObject } from '../../../support/assertions.ts'
import { podWith, reportWith, specWith } from '../../../support/gatewaysync.ts'
import { commitOf, lines, pushedFleet, stagedFleet, type StagedFleet, stages } from '../../../support/staged-fleet.ts'

/** Reconciles until nothing changes, and returns the events of the rollout. */
function eventsOf(fleet: StagedFleet): string[] {
  const found: string[] = []
  for (let round = 0; round < 20; round += 1) {
    const { events } = fleet.pass()
    found.push(...events.filter(({ reason }) => reason in syncEvents).map(({ type, reason, note }) => `${type} ${reason}: ${note}`))
    for (const name of fleet.pods.keys()) fleet.look(name)
  }
  return found
}

void t.test('each step of a rollout has one event', async (t) => {
  const fleet = pushedFleet({ stages: [stages[0] ?? { name: 'test' }, { name: 'plant', approval: 'Manual' }] })
  const began = (stage: string) => `Normal StageBegan: the rollout of commit ${commitOf(2)} has reached stage ${stage}`
  t.strictSame(eventsOf(fleet), [`Normal Published: published commit ${commitOf(2)} of main`, began('test'), began('plant')])
  fleet.act('approve', 'plant')
  t.strictSame(eventsOf(fleet), [
    'Normal StageApproved: stage plant was approved by somebody',
    `Normal RolledOut: every stage has commit ${commitOf(2)}`,
  ])

  const failing = pushedFleet({ stages })
  failing.bad.add(commitOf(2))
  const message = '1 of 1 gateways of stage test failed: gw-test: TemplateFailed'
  t.strictSame(eventsOf(failing).slice(2), [`Warning RolloutStopped: the rollout of commit ${commitOf(2)} is stopped: ${message}`])
  failing.act('abort')
  t.strictSame(eventsOf(failing), [`Warning RolledBack: gateways return from commit ${commitOf(2)} to ${commitOf(1)}: aborted by somebody`])
})

void t.test('a rolled-back commit is held with the reason until it is requested by its hash', async (t) => {
  const at = '2026-01-01T00:00:00Z'
  const refused = { commit: commitOf(2), ref: 'main' }
  const status = (more: object) => ({
    rollout: { state: 'RolledBack', id: at, commit: commitOf(1), configurations: {}, startedAt: at, ...more } as const,
  })
  const desired = (ref: string, undecided = false): DesiredRef => ({ ref: ref as FollowedRef, request: undefined, undecided })
  const spec = specWith({ rollout: { stages } })
  const why = (more: object = {}, wanted = desired('main'), of = spec) =>
    rollbackFault(
      { spec: of, status: status({ refused, reason: 'RolloutFailed', message: 'it failed', ...more }), desired: wanted },
      commitOf(2),
    )
  t.strictSame(why(), new Fault('RolloutFailed', 'it failed'))
  t.strictSame(why({ reason: 'RolloutAborted' }), new Fault('RolloutAborted', 'it failed'))
  t.strictSame(why({ reason: undefined, message: undefined }), new Fault('RolloutFailed', 'its rollout has failed'))
  t.equal(why({ refused: { ...refused, commit: commitOf(3) } }), undefined, 'another commit')
  t.equal(why({ refused: undefined }), undefined)
  t.equal(why({}, desired('main'), specWith()), undefined, 'without a rollout in the spec')
  t.equal(why({}, desired(commitOf(2), true)), undefined, 'requested by its hash')
  t.strictSame(why({}, desired(commitOf(2))), new Fault('RolloutFailed', 'it failed'), 'the request has its answer')
  t.strictSame(why({}, desired('v2', true)), new Fault('RolloutFailed', 'it failed'), 'requested by a tag')
  t.equal(rollbackFault({ spec, status: {}, desired: desired('main') }, commitOf(2)), undefined)
})

void t.test('only a resume of that rollout publishes a rolled-back commit again', async (t) => {
  const fleet = pushedFleet({ stages, onFailure: 'Rollback' })
  fleet.bad.add(commitOf(2))
  const history = Array.from(
    { length: 10 },
    (_, index) => ({ commit: commitOf(90 + index), ref: 'main', by: 'spec', at: '2026-01-01T00:00:00Z', outcome: 'Published' }) as const,
  )
  fleet.status = { ...fleet.status, history }
  fleet.settle()
  const { rollout } = fleet.status
  t.strictSame(
    fleet.status.history?.map(({ commit, ref, by, outcome, reason, message }) =>
      [commit, ref, by, outcome, reason, message].filter(Boolean).join(' '),
    ),
    [
      `${commitOf(2)} main rollout Refused RolloutFailed ${rollout?.message}`,
      `${commitOf(2)} main spec Published`,
      ...history.slice(0, 8).map(({ commit }) => `${commit} main spec Published`),
    ],
  )
  fleet.bad.clear()
  fleet.act('approve', 'test')
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'RolledBack' }, 'an approval')
  fleet.act('resume')
  const resumed = fleet.annotations
  fleet.annotations = { ...resumed, [rolloutAnnotations.action]: actionText('resume', 'another') }
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'RolledBack' }, 'of another rollout')
  fleet.annotations = resumed
  fleet.pass(false)
  matchObject(t, fleet.rollout(), { state: 'Progressing', commit: commitOf(2) })
  t.strictSame([fleet.status.published?.commit, fleet.status.source?.held], [commitOf(2), undefined])
})

void t.test('a gateway that is paused by its profile or by default is not waited for', async (t) => {
  const { default: profile = { mappings: [] } } = specWith().sync.profiles
  for (const [own, byDefault, isExcluded] of [
    [undefined, false, false],
    [undefined, true, true],
    [true, false, true],
    [false, true, false],
  ] as const) {
    const fleet = pushedFleet({ stages })
    const { sync } = fleet.spec
    const profiles = { default: own === undefined ? profile : { ...profile, paused: own } }
    fleet.spec = { ...fleet.spec, sync: { ...sync, defaults: { ...sync.defaults, paused: byDefault }, profiles } }
    fleet.pass()
    const pod = fleet.pods.get('gw-test')
    if (pod !== undefined) pod.report = { phase: 'Paused' }
    fleet.pass()
    t.equal(fleet.rollout()?.stage === 'test', !isExcluded, `${own} in the profile, ${byDefault} by default`)
  }
})

void t.test('without a rollout or a published commit the gateways are only counted', async (t) => {
  const at = '2026-01-01T00:00:00Z'
  const observed = { annotations: {}, status: {}, pods: [podWith('gw-0')], reports: new Map(), now: Temporal.Instant.from(at) }
  const followed = { source: undefined, published: undefined, history: [], events: [] }
  const published = { commit: commitOf(1), ref: 'main', at }
  const nothing = { rollout: undefined, wakeAt: undefined, questions: [] }
  for (const [spec, of] of [
    [specWith({ rollout: { stages } }), followed],
    [specWith(), { ...followed, published }],
  ] as const) {
    const { gateways, ...rest } = followRollout({ ...observed, spec }, of)
    t.strictSame(rest, { ...of, ...nothing })
    t.strictSame(
      gateways.map(({ pod, state, reason }) => [pod, state, reason]),
      [['gw-0', 'pending', 'NoReport']],
    )
  }
})

void t.test('Prometheus is asked about gateways only while a rollout is under way', async (t) => {
  const fleet = pushedFleet({ stages })
  const { sync } = fleet.spec
  const prometheus = { url: 'http://prometheus:9090', query: 'up' }
  fleet.spec = { ...fleet.spec, sync: { ...sync, defaults: { ...sync.defaults, healthCheck: { prometheus } } } }
  const asked: string[] = []
  for (let round = 0; round < 20; round += 1) {
    asked.push(...fleet.pass().questions.map(({ pod }) => pod))
    for (const name of fleet.pods.keys()) fleet.look(name)
  }
  matchObject(t, fleet.rollout(), { state: 'Done' })
  t.strictSame([...new Set(asked)], ['gw-test', 'gw-a', 'gw-b', 'gw-c'])
  t.strictSame(fleet.pass().questions, [])
})

const [before, at] = ['2026-01-01T00:00:00Z', '2026-01-01T01:00:00Z']
const inStages = { stages: [{ name: 'test', selector: { names: ['gw-test'] } }, { name: 'plant' }] }
const spec = specWith({ rollout: inStages })
const syncHash = desiredHash(spec, 'default')
const configurations = { default: shortSyncHash(syncHash) }
/** The n-th commit as the newest tag of a selector, and as the followed tag of an earlier release. */
const selected = (n: number): Version => ({ commit: commitOf(n), ref: `refs/tags/v${n}`, specRef: 'semver:*', repo: spec.git.repo })
const plain = (n: number): Version => ({ commit: commitOf(n), ref: `refs/tags/v${n}` })
const moving = { state: 'Progressing', id: 'r', configurations, startedAt: before, progressAt: before } as const
const act = (verb: RolloutVerb, id = 'r') => ({ [rolloutAnnotations.action]: actionText(verb, id) })

type StepGiven = Pick<Parameters<typeof followRollout>[1], 'source'> & {
  published: Version
  rollout?: RolloutStatus
  annotations?: Record<string, string>
  pods?: readonly GatewayPod[]
  reports?: readonly [string, GatewayReport][]
  onFailure?: 'Stop' | 'Rollback'
}

/** One step of the rollout, an hour after the commit was published. */
function step({ source, published, rollout, annotations = {}, pods = [], reports = [], onFailure = 'Stop' }: StepGiven) {
  const current = { ...published, at: before }
  const status = rollout === undefined ? {} : { published: current, rollout }
  const observed = { annotations, status, pods, reports: new Map(reports), now: Temporal.Instant.from(at) }
  const staged = specWith({ rollout: { ...inStages, onFailure } })
  return followRollout({ ...observed, spec: staged }, { source, published: current, history: [], events: [] })
}

void t.test('an abort publishes the whole previous version again, and holds the other one', async (t) => {
  for (const version of [selected, plain]) {
    const rollout = { ...moving, commit: commitOf(2), previous: version(1) }
    const aborted = (source: StepGiven['source']) => step({ source, published: version(2), rollout, annotations: act('abort') })
    const back = aborted({ ref: 'semver:*', commit: commitOf(2) })
    t.strictSame(back.published, { ...version(1), at })
    t.strictSame([back.rollout?.state, back.rollout?.commit, back.rollout?.refused], ['RolledBack', commitOf(1), version(2)])
    t.strictSame(back.source, { ref: 'semver:*', commit: commitOf(2), held: 'RolloutAborted' })
    const { repo: _repo, ...refused } = version(2)
    t.strictSame(back.history, [
      { ...refused, by: 'rollout', at, outcome: 'Refused', reason: 'RolloutAborted', message: 'aborted by annotation' },
    ])
    for (const other of [undefined, { ref: 'semver:*', commit: commitOf(3), held: 'CollectionsInvalid' }])
      t.strictSame(aborted(other).source, other, 'another commit is desired already')
  }
})

void t.test('the history has the beginning of a long reason', async (t) => {
  const name = `gw-${'x'.repeat(250)}`
  const attempt = { commit: commitOf(2), syncHash }
  const { history, rollout } = step({
    source: undefined,
    published: plain(2),
    rollout: { ...moving, commit: commitOf(2), previous: plain(1), stage: 'plant', allowed: [podHash(name)] },
    pods: [podWith(name)],
    reports: [reportWith(name, { phase: 'Blocked', reason: 'TemplateFailed', message: 'bad', attempt }, spec)],
    onFailure: 'Rollback',
  })
  t.equal(rollout?.message, `1 of 1 gateways of stage plant failed: ${name}: TemplateFailed`)
  t.equal(history[0]?.message, rollout?.message?.slice(0, 256))
})

void t.test('a resume publishes the whole version that was rolled back, and nothing else does', async (t) => {
  const rolled = { ...moving, state: 'RolledBack', commit: commitOf(1), refused: selected(2) } as const
  const source = { ref: 'semver:*', commit: commitOf(2), held: 'RolloutFailed' } as const
  const resumed = (rollout: RolloutStatus, of: StepGiven['source'] = source, annotations = act('resume')) =>
    step({ source: of, published: selected(1), rollout, annotations, pods: [podWith('gw-test')] })
  const again = resumed(rolled)
  t.strictSame(
    [again.published, again.source],
    [
      { ...selected(2), at },
      { ref: 'semver:*', commit: commitOf(2) },
    ],
  )
  t.strictSame([again.rollout?.state, again.rollout?.commit, again.rollout?.previous], ['Progressing', commitOf(2), selected(1)])
  t.strictSame(step({ source: undefined, published: selected(1), rollout: rolled, annotations: act('resume') }).source, { ref: 'semver:*' })
  const tag = { ...rolled, refused: plain(2) }
  t.strictSame(step({ source: undefined, published: plain(1), rollout: tag, annotations: act('resume') }).source, { ref: 'refs/tags/v2' })

  const kept = { ...selected(1), at: before }
  const { refused: _refused, ...without } = rolled
  t.strictSame(resumed(without).published, kept, 'nothing was rolled back')
  t.strictSame(resumed({ ...rolled, state: 'Stopped' }).published, kept, 'it is only stopped')
  t.strictSame(resumed(rolled, source, act('approve')).published, kept, 'an approval')
  const lastAction = parseAction(act('resume'))?.digest ?? ''
  t.strictSame(resumed({ ...rolled, lastAction }).published, kept, 'it was resumed before')
  t.strictSame(step({ source, published: selected(1), annotations: act('resume') }).published, kept, 'there is no rollout')
})

void t.test('an event of a stage or of an end is only of a rollout that reached it', async (t) => {
  t.strictSame(eventsOf(stagedFleet({ stages }, lines)), [`Normal Published: published commit ${commitOf(1)} of main`], 'the first commit')

  const paused = pushedFleet({ stages })
  paused.spec = { ...paused.spec, paused: true }
  t.strictSame(eventsOf(paused), [`Normal Published: published commit ${commitOf(2)} of main`], 'no stage while it is paused')

  const soaking = pushedFleet({ stages: [{ ...stages[0], name: 'test', soak: '1h' }, { name: 'plant' }] })
  soaking.settle()
  soaking.head = commitOf(3)
  const began = `Normal StageBegan: the rollout of commit ${commitOf(3)} has reached stage test`
  t.strictSame(eventsOf(soaking), [`Normal Published: published commit ${commitOf(3)} of main`, began], 'a new rollout in the same stage')

  const pods = ['gw-test', 'gw-a'].map((name) => podWith(name))
  const bad = { phase: 'Blocked', reason: 'TemplateFailed', message: 'bad', attempt: { commit: commitOf(2), syncHash } } as const
  const { events, rollout } = step({
    source: undefined,
    published: plain(2),
    rollout: { ...moving, commit: commitOf(2), previous: plain(1), stage: 'test', allowed: pods.map(({ name }) => podHash(name)) },
    pods,
    reports: [reportWith('gw-test', { phase: 'Synced', commit: commitOf(2) }, spec), reportWith('gw-a', bad, spec)],
  })
  t.strictSame(
    [rollout?.state, rollout?.stage, events.map(({ reason }) => reason)],
    ['Stopped', 'plant', ['RolloutStopped']],
    'it failed at once',
  )
})
