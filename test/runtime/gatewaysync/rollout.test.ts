/**
 * Staged rollouts as a plant sees them: the controller's decisions and the agents' on a fleet in memory.
 */
import t from 'tap'
import { skipStagesAnnotation } from '../../../runtime/gatewaysync/names.ts'
import { commitOf, stagedFleet, type StagedFleet } from '../../support/staged-fleet.ts'

const lines = { 'gw-test': { line: 'test' }, 'gw-a': {}, 'gw-b': {}, 'gw-c': {} }
const stages = [
  { name: 'test', gateways: { labels: { matchLabels: { line: 'test' } } } },
  { name: 'plant', maxConcurrent: 1 },
]

const condition = (fleet: StagedFleet, type: string) => fleet.status.conditions?.find((one) => one.type === type)

/** Every gateway has the first commit, and the second one is pushed. */
function pushed(rollout: Parameters<typeof stagedFleet>[0], pods = lines): StagedFleet {
  const fleet = stagedFleet(rollout, pods)
  fleet.settle()
  fleet.head = commitOf(2)
  return fleet
}

void t.test('without stages every gateway takes a commit at once', async (t) => {
  const fleet = pushed(undefined)
  fleet.pass()
  for (const name of fleet.pods.keys()) t.ok(fleet.look(name), name)
  t.equal(fleet.rollout(), undefined)
})

void t.test('the first commit of all reaches every gateway at once: none has an earlier one to keep', async (t) => {
  const fleet = stagedFleet({ stages }, lines)
  fleet.settle()
  t.same(new Set(Object.values(fleet.commits())), new Set([commitOf(1)]))
  t.match(fleet.rollout(), { state: 'Done', commit: commitOf(1) })
  t.match(condition(fleet, 'Ready'), { status: 'True' })
})

void t.test('one stage after the other takes a commit, and of each stage no more at once than it permits', async (t) => {
  const fleet = pushed({ stages })
  fleet.pass()
  t.match(fleet.rollout(), { state: 'Progressing', stage: 'test', waitsFor: 'Gateways', before: { commit: commitOf(1) } })
  t.match(condition(fleet, 'Progressing'), { status: 'True', reason: 'RollingOut' })
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
  t.match(condition(fleet, 'Ready'), { status: 'True' })
  t.match(condition(fleet, 'Progressing'), { status: 'True', reason: 'RolledOut' })
})

void t.test('a gateway whose turn has not come keeps its commit and says so', async (t) => {
  const fleet = pushed({ stages: [{ ...stages[0], name: 'test', soak: '10m' }, { name: 'plant' }] })
  fleet.settle()
  t.same(fleet.commits(), { 'gw-test': commitOf(2), 'gw-a': commitOf(1), 'gw-b': commitOf(1), 'gw-c': commitOf(1) })
  t.match(fleet.pods.get('gw-a')?.report, { phase: 'Pending', reason: 'WaitsForStage', commit: commitOf(1) })
  t.match(fleet.status.gateways, { total: 4, synced: 1, waiting: 3, pending: 0 })
  t.match(condition(fleet, 'Ready'), { status: 'False', reason: 'GatewaysWaiting' })
  t.match(condition(fleet, 'Progressing'), { status: 'True', reason: 'Soaking' })
  t.match(condition(fleet, 'Reconciling'), { status: 'True' })
  t.notOk(condition(fleet, 'Stalled'))
})

void t.test('a stage is watched for as long as it says, and a pass is due when that has passed', async (t) => {
  const fleet = pushed({ stages: [{ ...stages[0], name: 'test', soak: '10m' }, { name: 'plant' }] })
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
  const fleet = pushed({ stages: [...stages.slice(0, 1), { name: 'plant', approval: 'Manual' }] })
  fleet.settle()
  t.match(fleet.rollout(), { stage: 'plant', waitsFor: 'Approval' })
  t.match(condition(fleet, 'Progressing'), { reason: 'WaitsForApproval' })
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
  const fleet = pushed({ stages })
  fleet.bad.add(commitOf(2))
  fleet.settle()
  t.match(fleet.rollout(), { state: 'Stopped', reason: 'RolloutFailed', failures: [{ pod: 'gw-test', reason: 'TemplateFailed' }] })
  t.match(condition(fleet, 'Stalled'), { status: 'True', reason: 'RolloutFailed' })
  t.match(condition(fleet, 'Progressing'), { status: 'False', reason: 'RolloutFailed' })
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
  const fleet = pushed({ stages, onFailure: 'Rollback' })
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
  t.match(condition(fleet, 'Ready'), { status: 'False', reason: 'RolloutFailed' })
  t.match(condition(fleet, 'Stalled'), { status: 'True', reason: 'RolloutFailed' })
  fleet.head = commitOf(3)
  fleet.settle()
  t.match(fleet.rollout(), { state: 'Done', commit: commitOf(3) }, 'the next commit is rolled out')
})

void t.test('what was rolled back is tried again from the first stage when somebody resumes it', async (t) => {
  const fleet = pushed({ stages, onFailure: 'Rollback' })
  fleet.bad.add(commitOf(2))
  fleet.settle()
  t.match(fleet.rollout(), { state: 'RolledBack' })
  fleet.bad.clear()
  fleet.act('resume')
  fleet.pass(false)
  t.match(fleet.rollout(), { state: 'Progressing', stage: 'test', commit: commitOf(2) })
  fleet.settle()
  t.match(fleet.rollout(), { state: 'Done', commit: commitOf(2) })
  t.match(condition(fleet, 'Ready'), { status: 'True' })
})

void t.test('a commit that makes the first gateway complain goes back, and nobody else ever has it', async (t) => {
  const fleet = pushed({ stages: [{ ...stages[0], name: 'test', soak: '10m' }, { name: 'plant' }], onFailure: 'Rollback' })
  fleet.harmful.add(commitOf(2))
  fleet.settle()
  t.match(fleet.rollout(), { state: 'RolledBack', message: '1 of 1 gateways of stage test failed: gw-test: NewProblems' })
  t.same(fleet.pods.get('gw-test')?.had, [1, 2, 1].map(commitOf))
  for (const name of ['gw-a', 'gw-b', 'gw-c']) t.same(fleet.pods.get(name)?.had, [commitOf(1)], name)
})

void t.test('a gateway that ends by itself while it is watched has failed, and one that ended before has not', async (t) => {
  const fleet = pushed({ stages: [{ ...stages[0], name: 'test', soak: '10m' }, { name: 'plant' }] })
  fleet.ended.set('gw-test', '2026-03-02T11:59:59Z')
  fleet.settle()
  t.match(fleet.rollout(), { state: 'Progressing', stage: 'test', waitsFor: 'Soak' })
  fleet.wait(60_000)
  fleet.ended.set('gw-test', '2026-03-02T12:00:30Z')
  fleet.settle()
  t.match(fleet.rollout(), { state: 'Stopped', failures: [{ pod: 'gw-test', reason: 'GatewayRestarted' }] })
  fleet.act('resume')
  fleet.settle()
  t.match(fleet.rollout(), { state: 'Progressing' }, 'it is accepted')
})

void t.test('a gateway that ends hours after it took its commit ends for another reason', async (t) => {
  const fleet = pushed({ stages: [{ ...stages[0], name: 'test', soak: '10h' }, { name: 'plant' }] })
  fleet.settle()
  fleet.wait(4 * 3_600_000)
  fleet.ended.set('gw-test', String(fleet.now))
  fleet.settle()
  t.match(fleet.rollout(), { state: 'Progressing', waitsFor: 'Soak' })
})

void t.test('what became of a gateway before a rollout began stops none', async (t) => {
  const fleet = pushed({ stages })
  fleet.settle()
  t.match(fleet.rollout(), { state: 'Done' })
  fleet.wait(600_000)
  for (const pod of ['gw-test', 'gw-a']) fleet.ended.set(pod, String(fleet.now))
  fleet.wait(600_000)
  fleet.off.add('gw-b')
  fleet.spec = {
    ...fleet.spec,
    sync: { ...fleet.spec.sync, profiles: { ...fleet.spec.sync.profiles, other: fleet.spec.sync.profiles['default'] ?? { mappings: [] } } },
  }
  fleet.settle()
  t.match(fleet.rollout(), { state: /Progressing|Done/, failures: undefined })
})

void t.test('a gateway that is off sends nobody back from a commit', async (t) => {
  const fleet = stagedFleet(undefined, lines)
  fleet.spec = { ...fleet.spec, sync: { ...fleet.spec.sync, rollbackOnFailedScan: true } }
  fleet.settle()
  fleet.off.add('gw-c')
  fleet.head = commitOf(2)
  fleet.settle()
  fleet.wait(5 * 3_600_000)
  fleet.settle()
  t.match(fleet.commits(), { 'gw-a': commitOf(2), 'gw-c': commitOf(1) })
  fleet.off.clear()
  fleet.settle()
  fleet.wait(120_000)
  fleet.settle()
  t.match(fleet.rollout(), { state: 'Done', commit: commitOf(2) })
})

void t.test('what a gateway complained of before stages were asked for stops none of them', async (t) => {
  const fleet = stagedFleet(undefined, lines)
  fleet.harmful.add(commitOf(1))
  fleet.settle()
  fleet.change({ stages })
  fleet.settle()
  t.match(fleet.rollout(), { state: 'Done' })
})

void t.test('without stages a commit that does harm goes back everywhere where that is asked for, and only there', async (t) => {
  for (const rollbackOnFailedScan of [true, false]) {
    const fleet = stagedFleet(undefined, lines)
    fleet.spec = { ...fleet.spec, sync: { ...fleet.spec.sync, rollbackOnFailedScan } }
    fleet.settle()
    t.same(new Set(Object.values(fleet.commits())), new Set([commitOf(1)]))
    fleet.head = commitOf(2)
    fleet.harmful.add(commitOf(2))
    fleet.settle()
    const expected = rollbackOnFailedScan ? commitOf(1) : commitOf(2)
    t.same(new Set(Object.values(fleet.commits())), new Set([expected]))
    t.match(fleet.status.source, { commit: commitOf(2), held: rollbackOnFailedScan ? 'RolloutFailed' : undefined })
    fleet.head = commitOf(3)
    fleet.settle()
    t.same(new Set(Object.values(fleet.commits())), new Set([commitOf(3)]), 'the next commit reaches all')
    t.match(condition(fleet, 'Ready'), { status: 'True' })
  }
})

void t.test('somebody who aborts a rollout sends its gateways back', async (t) => {
  const fleet = pushed({ stages: [{ ...stages[0], name: 'test', soak: '1h' }, { name: 'plant' }] })
  fleet.settle()
  t.equal(fleet.commits()['gw-test'], commitOf(2))
  fleet.act('abort')
  fleet.settle()
  t.match(fleet.rollout(), { state: 'RolledBack', reason: 'RolloutAborted', message: 'somebody aborted it' })
  t.same(new Set(Object.values(fleet.commits())), new Set([commitOf(1)]))
})

void t.test('a newer commit begins at the first stage, and no gateway is taken through the one that nobody wants any more', async (t) => {
  const fleet = pushed({ stages: [{ ...stages[0], name: 'test', soak: '1h' }, { name: 'plant' }] })
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
  const fleet = pushed({ stages: [{ ...stages[0], name: 'test', soak: '1h' }, { name: 'plant' }] })
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

void t.test('a window keeps gateways from beginning, and what has begun ends', async (t) => {
  const windows = [{ days: ['Mon' as const], from: '12:00', to: '13:00' }]
  const fleet = pushed({ stages, windows })
  fleet.pass()
  fleet.wait(3_600_000)
  t.ok(fleet.look('gw-test'), 'its turn had come')
  fleet.settle()
  t.match(fleet.rollout(), { stage: 'plant', waitsFor: 'Window' })
  t.match(condition(fleet, 'Progressing'), { reason: 'WaitsForWindow' })
  t.equal(String(fleet.pass().wakeAt), '2026-03-09T12:00:00Z')
  fleet.now = Temporal.Instant.from('2026-03-09T12:00:00Z')
  fleet.settle()
  t.match(fleet.rollout(), { state: 'Done' })
})

void t.test('a gateway that is silent past the deadline has failed', async (t) => {
  const fleet = pushed({ stages, progressDeadline: '30m' })
  const { wakeAt } = fleet.pass()
  t.equal(String(wakeAt), String(fleet.now.add({ minutes: 30 })))
  fleet.wait(1_800_000)
  fleet.pass()
  t.match(fleet.rollout(), { state: 'Stopped', failures: [{ pod: 'gw-test', reason: 'ProgressDeadline' }] })
})

void t.test('a gateway with local changes is waited for as long as it takes, and is no failure', async (t) => {
  const fleet = pushed({ stages, onFailure: 'Rollback', progressDeadline: '30m' })
  fleet.edited.add('gw-b')
  fleet.settle()
  t.match(fleet.rollout(), { state: 'Progressing', stage: 'plant', waitsFor: 'Gateways', stages: [{}, { updated: 1, failed: 0, held: 1 }] })
  t.match(condition(fleet, 'Progressing'), {
    status: 'True',
    reason: 'LocalChanges',
    message: 'stage plant: 1 gateway waits until its local changes are captured or given up',
  })
  t.equal(fleet.pass().wakeAt, undefined, 'nothing is due before somebody has done something')
  fleet.wait(7_200_000)
  fleet.settle()
  t.match(fleet.rollout(), { state: 'Progressing', failures: undefined })
  t.equal(fleet.commits()['gw-c'], commitOf(1), 'it keeps its place among those that may be under way')
  fleet.edited.clear()
  fleet.look('gw-b')
  fleet.pass()
  t.match(fleet.rollout(), { state: 'Progressing', failures: undefined }, 'the time until then is not its own')
  fleet.settle()
  t.match(fleet.rollout(), { state: 'Done' })
  t.notOk(fleet.rollout()?.stages?.some(({ held }) => held !== undefined))
})

void t.test('a gateway that goes on after its local changes were settled has the whole deadline', async (t) => {
  const fleet = pushed({ stages: [{ name: 'plant' }], progressDeadline: '30m' })
  fleet.pass()
  fleet.edited.add('gw-b')
  for (const name of fleet.pods.keys()) fleet.look(name)
  fleet.pass()
  fleet.wait(7_200_000)
  const pod = fleet.pods.get('gw-b')
  if (pod !== undefined) pod.report = { ...pod.inPlace, phase: 'Pending', reason: 'GatewayNotReady' }
  const { wakeAt } = fleet.pass()
  t.match(fleet.rollout(), { state: 'Progressing', failures: undefined })
  t.equal(String(wakeAt), String(fleet.now.add({ minutes: 30 })))
  fleet.wait(1_800_000)
  fleet.pass()
  t.match(fleet.rollout(), { state: 'Stopped', failures: [{ pod: 'gw-b', reason: 'ProgressDeadline' }] })
})

void t.test('as many failures as are accepted stop nothing', async (t) => {
  const fleet = pushed({ stages: [{ name: 'plant' }], failAfter: 2, progressDeadline: '30m' })
  fleet.pass()
  for (const name of ['gw-test', 'gw-a', 'gw-b']) fleet.look(name)
  fleet.pass()
  fleet.wait(1_800_000)
  fleet.pass()
  t.match(fleet.rollout(), { state: 'Done' })
})

void t.test("a pause holds the rollout, and its time is nobody's delay", async (t) => {
  const fleet = pushed({ stages, progressDeadline: '30m' })
  fleet.pass()
  fleet.spec = { ...fleet.spec, paused: true }
  fleet.settle()
  t.match(fleet.rollout(), { state: 'Progressing', waitsFor: 'Pause' })
  fleet.wait(7_200_000)
  fleet.settle()
  fleet.spec = { ...fleet.spec, paused: false }
  fleet.settle()
  t.match(fleet.rollout(), { state: 'Done' })
})

void t.test('a commit that somebody let skip the stages reaches every gateway at once', async (t) => {
  const fleet = pushed({ stages: [{ name: 'first', approval: 'Manual' }] })
  fleet.annotations = { [skipStagesAnnotation]: commitOf(2) }
  fleet.pass()
  for (const name of fleet.pods.keys()) t.ok(fleet.look(name), name)
  const { sync } = fleet.spec
  fleet.spec = { ...fleet.spec, sync: { ...sync, defaults: { ...sync.defaults, vars: { db: 'new' } } } }
  fleet.settle()
  t.match(fleet.rollout(), { state: 'Progressing', waitsFor: 'Approval' }, 'and no later change of the configuration')
})

void t.test('stages that are put in or taken out while a rollout runs count from then on', async (t) => {
  const fleet = pushed({ stages: [{ ...stages[0], name: 'test', soak: '1h' }, { name: 'plant' }] })
  fleet.settle()
  fleet.change({ stages: [{ name: 'early', gateways: { names: ['gw-c'] }, approval: 'Manual' }, { name: 'plant' }] })
  fleet.settle()
  t.match(fleet.rollout(), { stage: 'early', waitsFor: 'Approval' })
  t.match(fleet.commits(), { 'gw-test': commitOf(2), 'gw-a': commitOf(1), 'gw-c': commitOf(1) })
  fleet.act('approve', 'early')
  fleet.settle()
  t.match(fleet.rollout(), { state: 'Done' })
})

void t.test('the state of 1,000 gateways fits into 64 KiB', async (t) => {
  const pods = Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`gateway-of-a-line-with-a-long-name-${n}`, {}]))
  const fleet = pushed(
    {
      stages: [
        { name: 'first', gateways: { names: ['*-9'] } },
        { name: 'plant', soak: '1h' },
      ],
    },
    pods as typeof lines,
  )
  fleet.settle()
  t.equal(fleet.rollout()?.allowed?.length, 1_000)
  t.ok(JSON.stringify(fleet.rollout()).length < 16 * 1024, `${JSON.stringify(fleet.rollout()).length} bytes`)
})
