/**
 * Tests staged rollouts end to end: the decisions of the controller and the agents on an in-memory fleet.
 */
import t from 'tap'
import { rolloutAnnotations, skipStagesAnnotation } from '../../../../runtime/api/names.ts'
import { maxAllowed } from '../../../../runtime/api/schema/rollout-status.ts'
import { actionText } from '../../../../runtime/reconcile/rollout/action.ts'
import { matchObject } from '../../../support/assertions.ts'
import { commitOf, conditionOf, lines, pushedFleet, stagedFleet, stages } from '../../../support/staged-fleet.ts'

void t.test('without stages every gateway takes a commit at once', async (t) => {
  const fleet = pushedFleet(undefined)
  fleet.pass()
  for (const name of fleet.pods.keys()) t.ok(fleet.look(name), name)
  t.equal(fleet.rollout(), undefined)
})

void t.test('the very first commit reaches every gateway at once, because none has an earlier one', async (t) => {
  const fleet = stagedFleet({ stages }, lines)
  fleet.settle()
  t.strictSame(new Set(Object.values(fleet.commits())), new Set([commitOf(1)]))
  matchObject(t, fleet.rollout(), { state: 'Done', commit: commitOf(1) })
  matchObject(t, conditionOf(fleet, 'Ready'), { status: 'True' })
})

void t.test('stages take a commit one after the other, each within its concurrency limit', async (t) => {
  const fleet = pushedFleet({ stages })
  fleet.pass()
  matchObject(t, fleet.rollout(), { state: 'Progressing', stage: 'test', waitsFor: 'Gateways', previous: { commit: commitOf(1) } })
  matchObject(t, conditionOf(fleet, 'Progressing'), { status: 'True', reason: 'RollingOut' })
  const order: string[][] = []
  for (let round = 0; round < 10 && fleet.rollout()?.state !== 'Done'; round += 1) {
    order.push([...fleet.pods.keys()].filter((name) => fleet.look(name)))
    fleet.pass()
  }
  t.strictSame(order, [['gw-test'], ['gw-a'], ['gw-b'], ['gw-c']])
  matchObject(t, fleet.rollout(), {
    state: 'Done',
    stages: [
      { name: 'test', gateways: 1 },
      { name: 'plant', gateways: 3 },
    ],
  })
  t.notOk(fleet.rollout()?.allowed, 'nobody needs leave any more')
  fleet.settle()
  matchObject(t, conditionOf(fleet, 'Ready'), { status: 'True' })
  matchObject(t, conditionOf(fleet, 'Progressing'), { status: 'True', reason: 'RolledOut' })
})

void t.test('a gateway that waits for its stage keeps its commit and reports WaitsForStage', async (t) => {
  const fleet = pushedFleet({ stages: [{ ...stages[0], name: 'test', soak: '10m' }, { name: 'plant' }] })
  fleet.settle()
  t.strictSame(fleet.commits(), { 'gw-test': commitOf(2), 'gw-a': commitOf(1), 'gw-b': commitOf(1), 'gw-c': commitOf(1) })
  matchObject(t, fleet.pods.get('gw-a')?.report, { phase: 'Pending', reason: 'WaitsForStage', commit: commitOf(1) })
  matchObject(t, fleet.status.gateways, { total: 4, synced: 1, waiting: 3, pending: 0 })
  matchObject(t, conditionOf(fleet, 'Ready'), { status: 'False', reason: 'GatewaysWaiting' })
  matchObject(t, conditionOf(fleet, 'Progressing'), { status: 'True', reason: 'Soaking' })
  matchObject(t, conditionOf(fleet, 'Reconciling'), { status: 'True' })
  t.notOk(conditionOf(fleet, 'Stalled'))
})

void t.test('a stage soaks for its configured time, and the next reconcile is due at the end', async (t) => {
  const fleet = pushedFleet({ stages: [{ ...stages[0], name: 'test', soak: '10m' }, { name: 'plant' }] })
  fleet.settle()
  const { wakeAt } = fleet.pass()
  t.equal(String(wakeAt), String(fleet.now.add({ minutes: 10 })))
  fleet.wait(599_000)
  fleet.settle()
  matchObject(t, fleet.rollout(), { stage: 'test', waitsFor: 'Soak' })
  fleet.wait(1_000)
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Done' })
})

void t.test('a stage with manual approval starts once it is approved for this rollout', async (t) => {
  const fleet = pushedFleet({ stages: [...stages.slice(0, 1), { name: 'plant', approval: 'Manual' }] })
  fleet.settle()
  matchObject(t, fleet.rollout(), { stage: 'plant', waitsFor: 'Approval' })
  matchObject(t, conditionOf(fleet, 'Progressing'), { reason: 'WaitsForApproval' })
  const old = { ...fleet.annotations }
  fleet.act('approve', 'plant')
  const approval = { ...fleet.annotations }
  fleet.annotations = Object.fromEntries(
    Object.entries(approval).map(([key, value]) => [key, value.replace(fleet.rollout()?.id ?? '', 'other')]),
  )
  fleet.settle()
  matchObject(t, fleet.rollout(), { stage: 'plant', waitsFor: 'Approval' }, 'that of another rollout is none')
  fleet.annotations = { ...old, ...approval }
  const { events } = fleet.pass()
  matchObject(
    t,
    events.map(({ reason }) => reason),
    ['StageApproved', 'GatewaysPending'],
  )
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Done', stages: [{}, { approvedBy: 'somebody', approvedAt: /./ }] })
})

void t.test('a commit that fails stops the rollout and reaches no other gateway', async (t) => {
  const fleet = pushedFleet({ stages })
  fleet.bad.add(commitOf(2))
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Stopped', reason: 'RolloutFailed', failures: [{ pod: 'gw-test', reason: 'TemplateFailed' }] })
  matchObject(t, conditionOf(fleet, 'Stalled'), { status: 'True', reason: 'RolloutFailed' })
  matchObject(t, conditionOf(fleet, 'Progressing'), { status: 'False', reason: 'RolloutFailed' })
  t.strictSame(
    [...fleet.pods.values()].flatMap(({ had }) => had),
    [1, 1, 1, 1].map(commitOf),
  )
  fleet.bad.delete(commitOf(2))
  fleet.act('resume')
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Done', commit: commitOf(2) }, 'somebody resumed it')
})

void t.test('a rollback restores the earlier commit on every gateway, and the bad one is not applied again', async (t) => {
  const fleet = pushedFleet({ stages, onFailure: 'Rollback' })
  fleet.pass()
  fleet.look('gw-test')
  fleet.pass()
  fleet.bad.add(commitOf(2))
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'RolledBack', commit: commitOf(1), refused: { commit: commitOf(2) } })
  t.strictSame(new Set(Object.values(fleet.commits())), new Set([commitOf(1)]))
  matchObject(t, fleet.status.published, { commit: commitOf(1) })
  matchObject(t, fleet.status.source, { commit: commitOf(2), held: 'RolloutFailed' })
  const message = fleet.rollout()?.message
  matchObject(t, fleet.status.history?.[0], { commit: commitOf(2), outcome: 'Refused', reason: 'RolloutFailed', by: 'rollout', message })
  matchObject(t, conditionOf(fleet, 'Ready'), { status: 'False', reason: 'RolloutFailed' })
  matchObject(t, conditionOf(fleet, 'Stalled'), { status: 'True', reason: 'RolloutFailed' })
  fleet.head = commitOf(3)
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Done', commit: commitOf(3) }, 'the next commit is rolled out')
})

void t.test('a resume after a rollback retries the commit from the first stage', async (t) => {
  const fleet = pushedFleet({ stages, onFailure: 'Rollback' })
  fleet.bad.add(commitOf(2))
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'RolledBack' })
  fleet.bad.clear()
  fleet.act('resume')
  fleet.pass(false)
  matchObject(t, fleet.rollout(), { state: 'Progressing', stage: 'test', commit: commitOf(2) })
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Done', commit: commitOf(2) })
  matchObject(t, conditionOf(fleet, 'Ready'), { status: 'True' })
})

void t.test('an abort rolls the gateways back', async (t) => {
  const fleet = pushedFleet({ stages: [{ ...stages[0], name: 'test', soak: '1h' }, { name: 'plant' }] })
  fleet.settle()
  t.equal(fleet.commits()['gw-test'], commitOf(2))
  fleet.act('abort')
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'RolledBack', reason: 'RolloutAborted', message: 'aborted by somebody' })
  t.strictSame(new Set(Object.values(fleet.commits())), new Set([commitOf(1)]))
})

void t.test('a newer commit starts at the first stage, and later stages skip the superseded one', async (t) => {
  const fleet = pushedFleet({ stages: [{ ...stages[0], name: 'test', soak: '1h' }, { name: 'plant' }] })
  fleet.settle()
  fleet.head = commitOf(3)
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Progressing', stage: 'test', previous: { commit: commitOf(1) } })
  t.equal(fleet.commits()['gw-test'], commitOf(3))
  fleet.wait(3_600_000)
  fleet.settle()
  t.strictSame(fleet.pods.get('gw-a')?.had, [commitOf(1), commitOf(3)])
})

void t.test('a configuration is rolled out in stages like a commit, and agents wait for their stage', async (t) => {
  const fleet = stagedFleet({ stages: [{ ...stages[0], name: 'test', soak: '1h' }, { name: 'plant' }] }, lines)
  fleet.settle()
  const { sync } = fleet.spec
  fleet.spec = { ...fleet.spec, sync: { ...sync, defaults: { ...sync.defaults, vars: { db: 'new' } } } }
  for (const name of fleet.pods.keys()) t.notOk(fleet.look(name), `${name} before the controller has seen it`)
  fleet.settle()
  const hashes = [...fleet.pods.values()].map(({ inPlace }) => inPlace?.syncHash)
  t.not(hashes[0], hashes[1])
  t.equal(new Set(hashes).size, 2)
  fleet.act('abort')
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Stopped', reason: 'RolloutAborted' }, 'there is no commit to go back to')
  fleet.act('resume')
  fleet.settle()
  fleet.wait(3_600_000)
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Done' })
})

void t.test('a recreated pod starts with the commit of its stage', async (t) => {
  const fleet = pushedFleet({ stages: [{ ...stages[0], name: 'test', soak: '1h' }, { name: 'plant' }] })
  fleet.settle()
  for (const name of ['gw-test', 'gw-a']) {
    const pod = fleet.pods.get(name)
    fleet.pods.delete(name)
    fleet.pass()
    fleet.add(name, pod?.labels)
    t.ok(fleet.look(name), `${name} writes to its empty volume`)
  }
  matchObject(t, fleet.commits(), { 'gw-test': commitOf(2), 'gw-a': commitOf(1) })
})

void t.test('a commit that is allowed to skip the stages reaches every gateway at once', async (t) => {
  const fleet = pushedFleet({ stages: [{ name: 'first', approval: 'Manual' }] })
  fleet.annotations = { [skipStagesAnnotation]: commitOf(2) }
  fleet.pass()
  for (const name of fleet.pods.keys()) t.ok(fleet.look(name), name)
  const { sync } = fleet.spec
  fleet.spec = { ...fleet.spec, sync: { ...sync, defaults: { ...sync.defaults, vars: { db: 'new' } } } }
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Progressing', waitsFor: 'Approval' }, 'and no later change of the configuration')
})

void t.test('stages added or removed during a rollout take effect at once', async (t) => {
  const fleet = pushedFleet({ stages: [{ ...stages[0], name: 'test', soak: '1h' }, { name: 'plant' }] })
  fleet.settle()
  fleet.change({ stages: [{ name: 'early', selector: { names: ['gw-c'] }, approval: 'Manual' }, { name: 'plant' }] })
  fleet.settle()
  matchObject(t, fleet.rollout(), { stage: 'early', waitsFor: 'Approval' })
  matchObject(t, fleet.commits(), { 'gw-test': commitOf(2), 'gw-a': commitOf(1), 'gw-c': commitOf(1) })
  fleet.act('approve', 'early')
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Done' })
})

void t.test('stages that are configured later apply to the commit that gateways still lack, and not to one that all have', async (t) => {
  for (const [slow, expected] of [
    [undefined, { state: 'Done', commit: commitOf(1) }],
    ['gw-b', { state: 'Progressing', commit: commitOf(1) }],
  ] as const) {
    const fleet = stagedFleet(undefined, lines)
    if (slow !== undefined) fleet.off.add(slow)
    fleet.settle()
    fleet.change({ stages })
    fleet.settle()
    matchObject(t, fleet.rollout(), expected, String(slow))
  }
})

void t.test('an action for a finished rollout, another rollout or another state changes nothing', async (t) => {
  const finished = pushedFleet({ stages })
  finished.settle()
  for (const verb of ['abort', 'resume'] as const) {
    finished.act(verb)
    finished.settle()
    matchObject(t, finished.rollout(), { state: 'Done', commit: commitOf(2) }, verb)
  }
  const fleet = pushedFleet({ stages: [{ ...stages[0], name: 'test', soak: '10m' }, { name: 'plant' }] })
  fleet.settle()
  const before = fleet.rollout()
  fleet.wait(60_000)
  fleet.act('resume')
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Progressing', progressAt: before?.progressAt, excused: undefined })
  fleet.annotations = {
    ...fleet.annotations,
    [rolloutAnnotations.action]: actionText('abort', 'another'),
    [rolloutAnnotations.at]: 'later',
  }
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Progressing' })
  fleet.act('abort')
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'RolledBack', message: 'aborted by somebody' })
})

void t.test('a stopped rollout stays stopped although the gateway recovers, until it is resumed', async (t) => {
  const fleet = pushedFleet({ stages })
  fleet.bad.add(commitOf(2))
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Stopped' })
  fleet.bad.clear()
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Stopped' })
  t.equal(fleet.commits()['gw-a'], commitOf(1))
  fleet.act('resume')
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Done' })
})

void t.test('admissions of pods that no longer exist are dropped beyond the limit, and those of present pods are kept', async (t) => {
  for (const count of [maxAllowed - 2, maxAllowed]) {
    const fleet = pushedFleet({ stages })
    fleet.pass()
    const { rollout } = fleet.status
    const gone = Array.from({ length: count }, (_, index) => `gone${index}`)
    if (rollout !== undefined) fleet.status = { ...fleet.status, rollout: { ...rollout, allowed: [...(rollout.allowed ?? []), ...gone] } }
    const sizes: number[] = []
    for (let round = 0; round < 10 && fleet.rollout()?.state !== 'Done'; round += 1) {
      for (const name of fleet.pods.keys()) fleet.look(name)
      fleet.pass()
      sizes.push(fleet.rollout()?.allowed?.length ?? 0)
    }
    t.equal(Math.max(...sizes), maxAllowed)
    t.strictSame(new Set(Object.values(fleet.commits())), new Set([commitOf(2)]))
  }
})
