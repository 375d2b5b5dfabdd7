/**
 * Staged rollouts as a plant sees them: the controller's decisions and the agents' on a fleet in memory.
 */
import t from 'tap'
import { skipStagesAnnotation } from '../../../runtime/gatewaysync/names.ts'
import { commitOf, conditionOf, lines, pushedFleet, stagedFleet, stages } from '../../support/staged-fleet.ts'

void t.test('without stages every gateway takes a commit at once', async (t) => {
  const fleet = pushedFleet(undefined)
  fleet.pass()
  for (const name of fleet.pods.keys()) t.ok(fleet.look(name), name)
  t.equal(fleet.rollout(), undefined)
})

void t.test('the first commit of all reaches every gateway at once: none has an earlier one to keep', async (t) => {
  const fleet = stagedFleet({ stages }, lines)
  fleet.settle()
  t.same(new Set(Object.values(fleet.commits())), new Set([commitOf(1)]))
  t.match(fleet.rollout(), { state: 'Done', commit: commitOf(1) })
  t.match(conditionOf(fleet, 'Ready'), { status: 'True' })
})

void t.test('one stage after the other takes a commit, and of each stage no more at once than it permits', async (t) => {
  const fleet = pushedFleet({ stages })
  fleet.pass()
  t.match(fleet.rollout(), { state: 'Progressing', stage: 'test', waitsFor: 'Gateways', before: { commit: commitOf(1) } })
  t.match(conditionOf(fleet, 'Progressing'), { status: 'True', reason: 'RollingOut' })
  const order: string[][] = []
  for (let round = 0; round < 10 && fleet.rollout()?.state !== 'Done'; round += 1) {
    order.push([...fleet.pods.keys()].filter((name) => fleet.look(name)))
    fleet.pass()
  }
  t.same(order, [['gw-test'], ['gw-a'], ['gw-b'], ['gw-c']])
  t.match(fleet.rollout(), {
    state: 'Done',
    stages: [
      { name: 'test', gateways: 1 },
      { name: 'plant', gateways: 3 },
    ],
  })
  t.notOk(fleet.rollout()?.allowed, 'nobody needs leave any more')
  fleet.settle()
  t.match(conditionOf(fleet, 'Ready'), { status: 'True' })
  t.match(conditionOf(fleet, 'Progressing'), { status: 'True', reason: 'RolledOut' })
})

void t.test('a gateway whose turn has not come keeps its commit and says so', async (t) => {
  const fleet = pushedFleet({ stages: [{ ...stages[0], name: 'test', soak: '10m' }, { name: 'plant' }] })
  fleet.settle()
  t.same(fleet.commits(), { 'gw-test': commitOf(2), 'gw-a': commitOf(1), 'gw-b': commitOf(1), 'gw-c': commitOf(1) })
  t.match(fleet.pods.get('gw-a')?.report, { phase: 'Pending', reason: 'WaitsForStage', commit: commitOf(1) })
  t.match(fleet.status.gateways, { total: 4, synced: 1, waiting: 3, pending: 0 })
  t.match(conditionOf(fleet, 'Ready'), { status: 'False', reason: 'GatewaysWaiting' })
  t.match(conditionOf(fleet, 'Progressing'), { status: 'True', reason: 'Soaking' })
  t.match(conditionOf(fleet, 'Reconciling'), { status: 'True' })
  t.notOk(conditionOf(fleet, 'Stalled'))
})

void t.test('a stage is watched for as long as it says, and a pass is due when that has passed', async (t) => {
  const fleet = pushedFleet({ stages: [{ ...stages[0], name: 'test', soak: '10m' }, { name: 'plant' }] })
  fleet.settle()
  const { wakeAt } = fleet.pass()
  t.equal(String(wakeAt), String(fleet.now.add({ minutes: 10 })))
  fleet.wait(599_000)
  fleet.settle()
  t.match(fleet.rollout(), { stage: 'test', waitsFor: 'Soak' })
  fleet.wait(1_000)
  fleet.settle()
  t.match(fleet.rollout(), { state: 'Done' })
})

void t.test('a stage that wants approval begins once somebody has given it for this rollout', async (t) => {
  const fleet = pushedFleet({ stages: [...stages.slice(0, 1), { name: 'plant', approval: 'Manual' }] })
  fleet.settle()
  t.match(fleet.rollout(), { stage: 'plant', waitsFor: 'Approval' })
  t.match(conditionOf(fleet, 'Progressing'), { reason: 'WaitsForApproval' })
  const old = { ...fleet.annotations }
  fleet.act('approve', 'plant')
  const approval = { ...fleet.annotations }
  fleet.annotations = Object.fromEntries(
    Object.entries(approval).map(([key, value]) => [key, value.replace(fleet.rollout()?.id ?? '', 'other')]),
  )
  fleet.settle()
  t.match(fleet.rollout(), { stage: 'plant', waitsFor: 'Approval' }, 'that of another rollout is none')
  fleet.annotations = { ...old, ...approval }
  const { events } = fleet.pass()
  t.match(
    events.map(({ reason }) => reason),
    ['StageApproved'],
  )
  fleet.settle()
  t.match(fleet.rollout(), { state: 'Done', stages: [{}, { approvedBy: 'somebody', approvedAt: String }] })
})

void t.test('a commit that fails stops the rollout; nobody else ever sees it', async (t) => {
  const fleet = pushedFleet({ stages })
  fleet.bad.add(commitOf(2))
  fleet.settle()
  t.match(fleet.rollout(), { state: 'Stopped', reason: 'RolloutFailed', failures: [{ pod: 'gw-test', reason: 'TemplateFailed' }] })
  t.match(conditionOf(fleet, 'Stalled'), { status: 'True', reason: 'RolloutFailed' })
  t.match(conditionOf(fleet, 'Progressing'), { status: 'False', reason: 'RolloutFailed' })
  t.same(
    [...fleet.pods.values()].flatMap(({ had }) => had),
    [1, 1, 1, 1].map(commitOf),
  )
  fleet.bad.delete(commitOf(2))
  fleet.act('resume')
  fleet.settle()
  t.match(fleet.rollout(), { state: 'Done', commit: commitOf(2) }, 'somebody resumed it')
})

void t.test('a rollout that goes back brings the commit before to every gateway, and the bad one does not come again', async (t) => {
  const fleet = pushedFleet({ stages, onFailure: 'Rollback' })
  fleet.pass()
  fleet.look('gw-test')
  fleet.pass()
  fleet.bad.add(commitOf(2))
  fleet.settle()
  t.match(fleet.rollout(), { state: 'RolledBack', commit: commitOf(1), refused: { commit: commitOf(2) } })
  t.same(new Set(Object.values(fleet.commits())), new Set([commitOf(1)]))
  t.match(fleet.status.published, { commit: commitOf(1) })
  t.match(fleet.status.source, { commit: commitOf(2), held: 'RolloutFailed' })
  t.match(fleet.status.history?.[0], { commit: commitOf(2), outcome: 'Refused', reason: 'RolloutFailed', by: 'rollout' })
  t.match(conditionOf(fleet, 'Ready'), { status: 'False', reason: 'RolloutFailed' })
  t.match(conditionOf(fleet, 'Stalled'), { status: 'True', reason: 'RolloutFailed' })
  fleet.head = commitOf(3)
  fleet.settle()
  t.match(fleet.rollout(), { state: 'Done', commit: commitOf(3) }, 'the next commit is rolled out')
})

void t.test('what was rolled back is tried again from the first stage when somebody resumes it', async (t) => {
  const fleet = pushedFleet({ stages, onFailure: 'Rollback' })
  fleet.bad.add(commitOf(2))
  fleet.settle()
  t.match(fleet.rollout(), { state: 'RolledBack' })
  fleet.bad.clear()
  fleet.act('resume')
  fleet.pass(false)
  t.match(fleet.rollout(), { state: 'Progressing', stage: 'test', commit: commitOf(2) })
  fleet.settle()
  t.match(fleet.rollout(), { state: 'Done', commit: commitOf(2) })
  t.match(conditionOf(fleet, 'Ready'), { status: 'True' })
})

void t.test('somebody who aborts a rollout sends its gateways back', async (t) => {
  const fleet = pushedFleet({ stages: [{ ...stages[0], name: 'test', soak: '1h' }, { name: 'plant' }] })
  fleet.settle()
  t.equal(fleet.commits()['gw-test'], commitOf(2))
  fleet.act('abort')
  fleet.settle()
  t.match(fleet.rollout(), { state: 'RolledBack', reason: 'RolloutAborted', message: 'somebody aborted it' })
  t.same(new Set(Object.values(fleet.commits())), new Set([commitOf(1)]))
})

void t.test('a newer commit begins at the first stage, and no gateway is taken through the one that nobody wants any more', async (t) => {
  const fleet = pushedFleet({ stages: [{ ...stages[0], name: 'test', soak: '1h' }, { name: 'plant' }] })
  fleet.settle()
  fleet.head = commitOf(3)
  fleet.settle()
  t.match(fleet.rollout(), { state: 'Progressing', stage: 'test', before: { commit: commitOf(1) } })
  t.equal(fleet.commits()['gw-test'], commitOf(3))
  fleet.wait(3_600_000)
  fleet.settle()
  t.same(fleet.pods.get('gw-a')?.had, [commitOf(1), commitOf(3)])
})

void t.test('a configuration is rolled out in stages as a commit is, and agents wait for it though they see the spec first', async (t) => {
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
  t.match(fleet.rollout(), { state: 'Stopped', reason: 'RolloutAborted' }, 'there is no commit to go back to')
  fleet.act('resume')
  fleet.settle()
  fleet.wait(3_600_000)
  fleet.settle()
  t.match(fleet.rollout(), { state: 'Done' })
})

void t.test('a pod that is made anew comes up with the commit that its stage has', async (t) => {
  const fleet = pushedFleet({ stages: [{ ...stages[0], name: 'test', soak: '1h' }, { name: 'plant' }] })
  fleet.settle()
  for (const name of ['gw-test', 'gw-a']) {
    const pod = fleet.pods.get(name)
    fleet.pods.delete(name)
    fleet.pass()
    fleet.add(name, pod?.labels)
    t.ok(fleet.look(name), `${name} writes to its empty volume`)
  }
  t.match(fleet.commits(), { 'gw-test': commitOf(2), 'gw-a': commitOf(1) })
})

void t.test('a commit that somebody let skip the stages reaches every gateway at once', async (t) => {
  const fleet = pushedFleet({ stages: [{ name: 'first', approval: 'Manual' }] })
  fleet.annotations = { [skipStagesAnnotation]: commitOf(2) }
  fleet.pass()
  for (const name of fleet.pods.keys()) t.ok(fleet.look(name), name)
  const { sync } = fleet.spec
  fleet.spec = { ...fleet.spec, sync: { ...sync, defaults: { ...sync.defaults, vars: { db: 'new' } } } }
  fleet.settle()
  t.match(fleet.rollout(), { state: 'Progressing', waitsFor: 'Approval' }, 'and no later change of the configuration')
})

void t.test('stages that are put in or taken out while a rollout runs count from then on', async (t) => {
  const fleet = pushedFleet({ stages: [{ ...stages[0], name: 'test', soak: '1h' }, { name: 'plant' }] })
  fleet.settle()
  fleet.change({ stages: [{ name: 'early', gateways: { names: ['gw-c'] }, approval: 'Manual' }, { name: 'plant' }] })
  fleet.settle()
  t.match(fleet.rollout(), { stage: 'early', waitsFor: 'Approval' })
  t.match(fleet.commits(), { 'gw-test': commitOf(2), 'gw-a': commitOf(1), 'gw-c': commitOf(1) })
  fleet.act('approve', 'early')
  fleet.settle()
  t.match(fleet.rollout(), { state: 'Done' })
})
