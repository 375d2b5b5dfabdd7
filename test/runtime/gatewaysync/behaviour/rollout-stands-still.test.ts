/**
 * What keeps a staged rollout from going on though nothing has failed, and what does not: windows, pauses, gateways that write nothing, and
 * pods that nobody has given an agent.
 */
import t from 'tap'
import { commitOf, conditionOf, lines, pushedFleet, stagedFleet, stages } from '../../../support/staged-fleet.ts'

void t.test('a window keeps gateways from beginning, and what has begun ends', async (t) => {
  const windows = [{ days: ['Mon' as const], from: '12:00', to: '13:00' }]
  const fleet = pushedFleet({ stages, windows })
  fleet.pass()
  fleet.wait(3_600_000)
  t.ok(fleet.look('gw-test'), 'its turn had come')
  fleet.settle()
  t.match(fleet.rollout(), { stage: 'plant', waitsFor: 'Window' })
  t.match(conditionOf(fleet, 'Progressing'), { reason: 'WaitsForWindow' })
  t.equal(String(fleet.pass().wakeAt), '2026-03-09T12:00:00Z')
  fleet.now = Temporal.Instant.from('2026-03-09T12:00:00Z')
  fleet.settle()
  t.match(fleet.rollout(), { state: 'Done' })
})

void t.test("a pause holds the rollout, and its time is nobody's delay", async (t) => {
  const fleet = pushedFleet({ stages, progressDeadline: '30m' })
  fleet.pass()
  fleet.spec = { ...fleet.spec, paused: true }
  fleet.settle()
  t.match(fleet.rollout(), { state: 'Progressing', waitsFor: 'Pause' })
  fleet.wait(7_200_000)
  fleet.settle()
  fleet.spec = { ...fleet.spec, paused: false }
  fleet.pass()
  t.match(fleet.rollout(), { state: 'Progressing', stage: 'test' }, 'though every report still tells of the pause')
  fleet.settle()
  t.match(fleet.rollout(), { state: 'Done' })
})

void t.test('a window that closes while a stage is at work lets end what has begun, and the rest of the stage waits', async (t) => {
  const windows = [{ days: ['Mon' as const], from: '12:00', to: '13:00' }]
  const fleet = pushedFleet({ stages: [{ name: 'plant', maxConcurrent: 2 }], windows })
  fleet.pass()
  fleet.wait(3_600_000)
  fleet.settle()
  t.match(fleet.rollout(), { state: 'Progressing', stage: 'plant', waitsFor: 'Window', stages: [{ gateways: 4, updated: 2, failed: 0 }] })
  t.equal(Object.values(fleet.commits()).filter((commit) => commit === commitOf(2)).length, 2)
  fleet.wait(72 * 3_600_000)
  fleet.settle()
  t.match(fleet.rollout(), { state: 'Progressing', waitsFor: 'Window' }, 'no deadline runs for those that may not begin')
  fleet.now = Temporal.Instant.from('2026-03-09T12:00:00Z')
  fleet.settle()
  t.match(fleet.rollout(), { state: 'Done', stages: [{ updated: 4 }] })
})

void t.test('nobody waits for gateways in a dry run, and once it is over they take the commit in their stage', async (t) => {
  const fleet = stagedFleet({ stages }, lines)
  const { sync } = fleet.spec
  const dryRun = (is: boolean) => (fleet.spec = { ...fleet.spec, sync: { ...sync, defaults: { ...sync.defaults, dryRun: is } } })
  fleet.settle()
  dryRun(true)
  fleet.settle()
  fleet.head = commitOf(2)
  fleet.settle()
  t.match(fleet.rollout(), { state: 'Done', commit: commitOf(2), stages: [{ updated: 0 }, { updated: 0, failed: 0 }] })
  t.match(fleet.status.gateways, { total: 4, dryRun: 4 })
  t.same(new Set(Object.values(fleet.commits())), new Set([commitOf(1)]), 'nothing was written')
  dryRun(false)
  fleet.pass()
  t.match(fleet.rollout(), { state: 'Progressing', stage: 'test' })
  for (const name of ['gw-a', 'gw-b', 'gw-c']) t.notOk(fleet.look(name), `${name} before its turn`)
  fleet.settle()
  t.match(fleet.rollout(), { state: 'Done' })
  t.same(new Set(Object.values(fleet.commits())), new Set([commitOf(2)]))
})

void t.test('a stage does not end without a pod that nobody has given an agent', async (t) => {
  const fleet = stagedFleet({ stages, progressDeadline: '30m' }, lines)
  fleet.settle()
  fleet.bare.add('gw-test')
  fleet.head = commitOf(2)
  fleet.settle()
  t.match(fleet.rollout(), { state: 'Progressing', stage: 'test', waitsFor: 'Gateways' })
  t.equal(fleet.commits()['gw-a'], commitOf(1), 'nothing has tried the commit yet')
  fleet.wait(1_800_000)
  fleet.settle()
  t.match(fleet.rollout(), { state: 'Stopped', failures: [{ pod: 'gw-test', reason: 'MissingAgent' }] })
  t.match(conditionOf(fleet, 'Stalled'), { status: 'True' })
  fleet.bare.delete('gw-test')
  fleet.act('resume')
  fleet.settle()
  t.match(fleet.rollout(), { state: 'Done', commit: commitOf(2) }, 'once the pod was made anew')
})

void t.test("a pod without an agent takes nobody's place, and its turn comes once it was made anew", async (t) => {
  const fleet = pushedFleet({ stages: [{ name: 'plant', maxConcurrent: 1 }], progressDeadline: '30m' })
  fleet.bare.add('gw-a')
  fleet.settle()
  t.match(fleet.rollout(), { state: 'Progressing', waitsFor: 'Gateways', stages: [{ gateways: 4, updated: 3, failed: 0 }] })
  t.equal(String(fleet.pass().wakeAt), String(fleet.now.add({ minutes: 30 })))
  fleet.bare.delete('gw-a')
  fleet.settle()
  t.match(fleet.rollout(), { state: 'Done' })
  t.equal(fleet.commits()['gw-a'], commitOf(2))
})

void t.test('pods without an agent get no turn, so that they do not all begin at once when they are made anew', async (t) => {
  const fleet = pushedFleet({ stages: [{ name: 'plant', maxConcurrent: 1 }] })
  for (const name of fleet.pods.keys()) fleet.bare.add(name)
  fleet.settle()
  fleet.bare.clear()
  fleet.pass()
  t.equal([...fleet.pods.keys()].filter((name) => fleet.look(name)).length, 1)
})

void t.test('outside its window nobody waits with a deadline for a pod without an agent', async (t) => {
  const windows = [{ days: ['Mon' as const], from: '12:00', to: '13:00' }]
  const fleet = pushedFleet({ stages: [{ name: 'plant' }], windows, progressDeadline: '30m' })
  fleet.bare.add('gw-a')
  fleet.wait(3_600_000)
  fleet.settle()
  t.match(fleet.rollout(), { state: 'Progressing', waitsFor: 'Window' })
  fleet.now = Temporal.Instant.from('2026-03-09T12:00:00Z')
  fleet.settle()
  t.match(fleet.rollout(), { state: 'Progressing', waitsFor: 'Gateways', stages: [{ updated: 3 }] })
  fleet.wait(1_800_000)
  fleet.settle()
  t.match(fleet.rollout(), { state: 'Stopped', failures: [{ pod: 'gw-a', reason: 'MissingAgent' }] })
})

const shortly = [{ days: ['Mon' as const], from: '12:00', to: '12:10' }]

void t.test('a window that closes ends no deadline of a pod without an agent, nor what was accepted of it', async (t) => {
  const fleet = pushedFleet({ stages: [{ name: 'plant' }], windows: shortly, progressDeadline: '30m' })
  fleet.bare.add('gw-a')
  fleet.settle()
  fleet.wait(900_000)
  t.equal(String(fleet.pass().wakeAt), '2026-03-02T12:30:00Z')
  fleet.wait(900_000)
  fleet.settle()
  t.match(fleet.rollout(), { state: 'Stopped', failures: [{ pod: 'gw-a', reason: 'MissingAgent' }] })
  fleet.act('resume')
  fleet.settle()
  t.match(fleet.rollout(), { state: 'Progressing', waitsFor: 'Window', excused: 1 })
  fleet.now = Temporal.Instant.from('2026-03-09T12:00:00Z')
  fleet.settle()
  t.match(fleet.rollout(), { state: 'Progressing', waitsFor: 'Gateways' })
  fleet.wait(1_800_000)
  fleet.settle()
  t.match(fleet.rollout(), { state: 'Done' })
})

void t.test('a stage that is watched without one of its pods is watched on when the window closes', async (t) => {
  const windows = [{ days: ['Mon' as const], from: '12:00', to: '14:00' }]
  const fleet = pushedFleet({ stages: [{ name: 'plant', soak: '6h' }], windows, progressDeadline: '30m' })
  fleet.bare.add('gw-a')
  fleet.settle()
  fleet.wait(1_800_000)
  fleet.settle()
  fleet.act('resume')
  fleet.settle()
  fleet.wait(1_800_000)
  fleet.settle()
  const watched = { state: 'Progressing', waitsFor: 'Soak', healthySince: '2026-03-02T13:00:00Z' }
  t.match(fleet.rollout(), watched)
  fleet.wait(3_600_000)
  fleet.settle()
  t.match(fleet.rollout(), watched)
  fleet.wait(5 * 3_600_000)
  fleet.settle()
  t.match(fleet.rollout(), { state: 'Done' })
})

void t.test('a pod without an agent has the whole deadline from the opening, whoever else was waited for until then', async (t) => {
  const fleet = pushedFleet({ stages: [{ name: 'plant' }], windows: shortly, progressDeadline: '30m' })
  fleet.bare.add('gw-a')
  fleet.edited.add('gw-b')
  fleet.off.add('gw-c')
  fleet.settle()
  fleet.wait(1_200_000)
  fleet.off.clear()
  fleet.settle()
  t.match(fleet.rollout(), { state: 'Progressing', waitsFor: 'Gateways', stages: [{ updated: 2, held: 1 }] })
  fleet.now = Temporal.Instant.from('2026-03-09T12:00:00Z')
  t.equal(String(fleet.pass().wakeAt), '2026-03-09T12:30:00Z')
  t.match(fleet.rollout(), { state: 'Progressing', failures: undefined })
})

void t.test('a pod without an agent sends nobody back: the rollout holds, until a gateway says that the commit is bad', async (t) => {
  const fleet = pushedFleet({
    stages: [...stages.slice(0, 1), { name: 'plant', maxConcurrent: 2 }],
    onFailure: 'Rollback',
    progressDeadline: '30m',
  })
  fleet.bare.add('gw-a')
  fleet.settle()
  fleet.wait(1_800_000)
  fleet.settle()
  t.match(fleet.rollout(), { state: 'Stopped', reason: 'RolloutFailed', failures: [{ pod: 'gw-a', reason: 'MissingAgent' }] })
  t.equal(fleet.commits()['gw-b'], commitOf(2))
  fleet.ended.set('gw-test', String(fleet.now))
  fleet.settle()
  t.match(fleet.rollout(), { state: 'RolledBack', commit: commitOf(1) })
  t.equal(fleet.commits()['gw-b'], commitOf(1))
})

void t.test('pods without an agent count besides a gateway that says that the commit is bad, also while the rollout stands', async (t) => {
  const fleet = pushedFleet({ stages: [{ name: 'plant' }], onFailure: 'Rollback', failAfter: 2, progressDeadline: '30m' })
  fleet.bare.add('gw-a').add('gw-b')
  fleet.settle()
  fleet.wait(1_800_000)
  fleet.settle()
  t.match(fleet.rollout(), { state: 'Stopped', stages: [{ failed: 2 }] })
  fleet.ended.set('gw-c', String(fleet.now))
  fleet.settle()
  t.match(fleet.rollout(), { state: 'RolledBack', commit: commitOf(1) })
})

void t.test('a pod without an agent stops no rollout that has ended, and sends nobody back that has no stages', async (t) => {
  const fleet = stagedFleet({ stages }, lines)
  fleet.settle()
  fleet.bare.add('gw-a')
  fleet.wait(72 * 3_600_000)
  fleet.settle()
  t.match(fleet.rollout(), { state: 'Done' })
  const alone = stagedFleet(undefined, lines)
  alone.spec = { ...alone.spec, sync: { ...alone.spec.sync, rollbackOnFailedScan: true } }
  alone.settle()
  alone.bare.add('gw-a')
  alone.head = commitOf(2)
  alone.settle()
  alone.wait(72 * 3_600_000)
  alone.settle()
  t.match(alone.rollout(), { state: 'Progressing' })
  t.equal(alone.commits()['gw-b'], commitOf(2))
})

void t.test('without stages gateways go back to the last commit that they ran, though one pod never took it', async (t) => {
  const fleet = stagedFleet(undefined, lines)
  fleet.spec = { ...fleet.spec, sync: { ...fleet.spec.sync, rollbackOnFailedScan: true } }
  fleet.settle()
  fleet.bare.add('gw-c')
  for (const number of [2, 3, 4]) {
    fleet.head = commitOf(number)
    fleet.settle()
    fleet.wait(24 * 3_600_000)
    fleet.settle()
  }
  fleet.bad.add(commitOf(5))
  fleet.head = commitOf(5)
  fleet.settle()
  t.equal(fleet.rollout()?.before?.commit, commitOf(4))
  t.equal(fleet.commits()['gw-a'], commitOf(4))
})

void t.test('a commit that was superseded before anybody knew it is nothing to go back to', async (t) => {
  const fleet = stagedFleet(undefined, lines)
  fleet.spec = { ...fleet.spec, sync: { ...fleet.spec.sync, rollbackOnFailedScan: true } }
  fleet.settle()
  fleet.bare.add('gw-c')
  fleet.head = commitOf(2)
  fleet.settle()
  fleet.wait(60_000)
  fleet.bad.add(commitOf(3))
  fleet.head = commitOf(3)
  fleet.settle()
  t.equal(fleet.commits()['gw-a'], commitOf(1))
})

void t.test('a resume after a pause excuses what had failed before it, and nothing more', async (t) => {
  for (const waitedMs of [600_000, 3 * 3_600_000]) {
    const pods = Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`gw-${index}`, {}]))
    const fleet = pushedFleet({ stages: [{ name: 'plant', maxConcurrent: 6 }] }, pods)
    fleet.edited.clear()
    fleet.bad.add(commitOf(2))
    fleet.pass()
    fleet.look('gw-0')
    fleet.bad.clear()
    fleet.pass()
    t.match(fleet.rollout(), { state: 'Stopped', stages: [{ failed: 1 }] })
    fleet.spec = { ...fleet.spec, paused: true }
    for (const name of Object.keys(pods)) fleet.look(name)
    fleet.pass()
    fleet.wait(waitedMs)
    fleet.pass()
    fleet.spec = { ...fleet.spec, paused: false }
    fleet.act('resume')
    fleet.pass()
    t.match(fleet.rollout(), { state: 'Progressing', excused: 1 }, `${waitedMs} ms`)
  }
})

void t.test('the end of stages in the spec is told in the history', async (t) => {
  const fleet = pushedFleet({ stages })
  fleet.pass()
  fleet.look('gw-test')
  fleet.pass()
  const { rollout: _, ...spec } = fleet.spec
  fleet.spec = spec
  fleet.pass()
  t.match(fleet.status.history?.[0], { commit: commitOf(2), stages: [{ name: 'test' }] })
})
