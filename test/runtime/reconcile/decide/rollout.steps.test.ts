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
import { actionText } from '../../../../runtime/reconcile/rollout/action.ts'
import { matchObject } from '../../../support/assertions.ts'
import { podWith, specWith } from '../../../support/gatewaysync.ts'
import { commitOf, pushedFleet, type StagedFleet, stages } from '../../../support/staged-fleet.ts'

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
