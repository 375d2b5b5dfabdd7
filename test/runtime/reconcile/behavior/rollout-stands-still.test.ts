/**
 * Tests what holds a staged rollout without a failure: windows, pauses, gateways that write nothing, and pods without an agent.
 */
import t from 'tap'
import { Temporal } from '../../../../runtime/platform/temporal.ts'
import { matchObject } from '../../../support/assertions.ts'
import { commitOf, conditionOf, lines, pushedFleet, stagedFleet, stages } from '../../../support/staged-fleet.ts'

void t.test('a closed window keeps gateways from starting, but lets started gateways finish', async (t) => {
  const windows = [{ days: ['Mon' as const], from: '12:00', to: '13:00' }]
  const fleet = pushedFleet({ stages, windows })
  fleet.pass()
  fleet.wait(3_600_000)
  t.ok(fleet.look('gw-test'), 'its turn had come')
  fleet.settle()
  matchObject(t, fleet.rollout(), { stage: 'plant', waitsFor: 'Window' })
  matchObject(t, conditionOf(fleet, 'Progressing'), { reason: 'WaitsForWindow' })
  t.equal(String(fleet.pass().wakeAt), '2026-03-09T12:00:00Z')
  fleet.now = Temporal.Instant.from('2026-03-09T12:00:00Z')
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Done' })
})

void t.test('a pause holds the rollout and does not count toward any deadline', async (t) => {
  const fleet = pushedFleet({ stages, progressDeadline: '30m' })
  fleet.pass()
  fleet.spec = { ...fleet.spec, paused: true }
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Progressing', waitsFor: 'Pause' })
  fleet.wait(7_200_000)
  fleet.settle()
  fleet.spec = { ...fleet.spec, paused: false }
  fleet.pass()
  matchObject(t, fleet.rollout(), { state: 'Progressing', stage: 'test' }, 'though every report still tells of the pause')
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Done' })
})

void t.test('a window that closes during a stage lets started gateways finish and holds the rest', async (t) => {
  const windows = [{ days: ['Mon' as const], from: '12:00', to: '13:00' }]
  const fleet = pushedFleet({ stages: [{ name: 'plant', maxConcurrent: 2 }], windows })
  fleet.pass()
  fleet.wait(3_600_000)
  fleet.settle()
  matchObject(t, fleet.rollout(), {
    state: 'Progressing',
    stage: 'plant',
    waitsFor: 'Window',
    stages: [{ gateways: 4, updated: 2, failed: 0 }],
  })
  t.equal(Object.values(fleet.commits()).filter((commit) => commit === commitOf(2)).length, 2)
  fleet.wait(72 * 3_600_000)
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Progressing', waitsFor: 'Window' }, 'no deadline runs for those that may not begin')
  fleet.now = Temporal.Instant.from('2026-03-09T12:00:00Z')
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Done', stages: [{ updated: 4 }] })
})

void t.test('a rollout does not wait for gateways in dry run, which later take the commit in their stage', async (t) => {
  const fleet = stagedFleet({ stages }, lines)
  const { sync } = fleet.spec
  const dryRun = (is: boolean) => (fleet.spec = { ...fleet.spec, sync: { ...sync, defaults: { ...sync.defaults, dryRun: is } } })
  fleet.settle()
  dryRun(true)
  fleet.settle()
  fleet.head = commitOf(2)
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Done', commit: commitOf(2), stages: [{ updated: 0 }, { updated: 0, failed: 0 }] })
  matchObject(t, fleet.status.gateways, { total: 4, dryRun: 4 })
  t.strictSame(new Set(Object.values(fleet.commits())), new Set([commitOf(1)]), 'nothing was written')
  dryRun(false)
  fleet.pass()
  matchObject(t, fleet.rollout(), { state: 'Progressing', stage: 'test' })
  for (const name of ['gw-a', 'gw-b', 'gw-c']) t.notOk(fleet.look(name), `${name} before its turn`)
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Done' })
  t.strictSame(new Set(Object.values(fleet.commits())), new Set([commitOf(2)]))
})

void t.test('a stage does not end while one of its pods has no agent', async (t) => {
  const fleet = stagedFleet({ stages, progressDeadline: '30m' }, lines)
  fleet.settle()
  fleet.bare.add('gw-test')
  fleet.head = commitOf(2)
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Progressing', stage: 'test', waitsFor: 'Gateways' })
  t.equal(fleet.commits()['gw-a'], commitOf(1), 'nothing has tried the commit yet')
  fleet.wait(1_800_000)
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Stopped', failures: [{ pod: 'gw-test', reason: 'MissingAgent' }] })
  matchObject(t, conditionOf(fleet, 'Stalled'), { status: 'True' })
  fleet.bare.delete('gw-test')
  fleet.act('resume')
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Done', commit: commitOf(2) }, 'once the pod was made anew')
})

void t.test('a pod without an agent takes no concurrency slot, and gets its turn once it is recreated', async (t) => {
  const fleet = pushedFleet({ stages: [{ name: 'plant', maxConcurrent: 1 }], progressDeadline: '30m' })
  fleet.bare.add('gw-a')
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Progressing', waitsFor: 'Gateways', stages: [{ gateways: 4, updated: 3, failed: 0 }] })
  t.equal(String(fleet.pass().wakeAt), String(fleet.now.add({ minutes: 30 })))
  fleet.bare.delete('gw-a')
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Done' })
  t.equal(fleet.commits()['gw-a'], commitOf(2))
})

void t.test('pods without an agent get no turn, so that they do not all start at once when recreated', async (t) => {
  const fleet = pushedFleet({ stages: [{ name: 'plant', maxConcurrent: 1 }] })
  for (const name of fleet.pods.keys()) fleet.bare.add(name)
  fleet.settle()
  fleet.bare.clear()
  fleet.pass()
  t.equal([...fleet.pods.keys()].filter((name) => fleet.look(name)).length, 1)
})

void t.test('outside its window a pod without an agent has no deadline', async (t) => {
  const windows = [{ days: ['Mon' as const], from: '12:00', to: '13:00' }]
  const fleet = pushedFleet({ stages: [{ name: 'plant' }], windows, progressDeadline: '30m' })
  fleet.bare.add('gw-a')
  fleet.wait(3_600_000)
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Progressing', waitsFor: 'Window' })
  fleet.now = Temporal.Instant.from('2026-03-09T12:00:00Z')
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Progressing', waitsFor: 'Gateways', stages: [{ updated: 3 }] })
  fleet.wait(1_800_000)
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Stopped', failures: [{ pod: 'gw-a', reason: 'MissingAgent' }] })
})

const shortly = [{ days: ['Mon' as const], from: '12:00', to: '12:10' }]

void t.test('a closing window ends neither the deadline of a pod without an agent nor its acceptance', async (t) => {
  const fleet = pushedFleet({ stages: [{ name: 'plant' }], windows: shortly, progressDeadline: '30m' })
  fleet.bare.add('gw-a')
  fleet.settle()
  fleet.wait(900_000)
  t.equal(String(fleet.pass().wakeAt), '2026-03-02T12:30:00Z')
  fleet.wait(900_000)
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Stopped', failures: [{ pod: 'gw-a', reason: 'MissingAgent' }] })
  fleet.act('resume')
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Progressing', waitsFor: 'Window', excused: 1 })
  fleet.now = Temporal.Instant.from('2026-03-09T12:00:00Z')
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Progressing', waitsFor: 'Gateways' })
  fleet.wait(1_800_000)
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Done' })
})

void t.test('a soak without one of the pods continues when the window closes', async (t) => {
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
  matchObject(t, fleet.rollout(), watched)
  fleet.wait(3_600_000)
  fleet.settle()
  matchObject(t, fleet.rollout(), watched)
  fleet.wait(5 * 3_600_000)
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Done' })
})

void t.test('a pod without an agent has the whole deadline from the window opening, regardless of other waits', async (t) => {
  const fleet = pushedFleet({ stages: [{ name: 'plant' }], windows: shortly, progressDeadline: '30m' })
  fleet.bare.add('gw-a')
  fleet.edited.add('gw-b')
  fleet.off.add('gw-c')
  fleet.settle()
  fleet.wait(1_200_000)
  fleet.off.clear()
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Progressing', waitsFor: 'Gateways', stages: [{ updated: 2, held: 1 }] })
  fleet.now = Temporal.Instant.from('2026-03-09T12:00:00Z')
  t.equal(String(fleet.pass().wakeAt), '2026-03-09T12:30:00Z')
  matchObject(t, fleet.rollout(), { state: 'Progressing', failures: undefined })
})

void t.test('a pod without an agent holds the rollout; only a gateway failure causes a rollback', async (t) => {
  const fleet = pushedFleet({
    stages: [...stages.slice(0, 1), { name: 'plant', maxConcurrent: 2 }],
    onFailure: 'Rollback',
    progressDeadline: '30m',
  })
  fleet.bare.add('gw-a')
  fleet.settle()
  fleet.wait(1_800_000)
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Stopped', reason: 'RolloutFailed', failures: [{ pod: 'gw-a', reason: 'MissingAgent' }] })
  t.equal(fleet.commits()['gw-b'], commitOf(2))
  fleet.ended.set('gw-test', String(fleet.now))
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'RolledBack', commit: commitOf(1) })
  t.equal(fleet.commits()['gw-b'], commitOf(1))
})

void t.test('pods without an agent count toward failureThreshold along with a failed gateway, even in a stopped rollout', async (t) => {
  const fleet = pushedFleet({ stages: [{ name: 'plant' }], onFailure: 'Rollback', failureThreshold: 2, progressDeadline: '30m' })
  fleet.bare.add('gw-a').add('gw-b')
  fleet.settle()
  fleet.wait(1_800_000)
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Stopped', stages: [{ failed: 2 }] })
  fleet.ended.set('gw-c', String(fleet.now))
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'RolledBack', commit: commitOf(1) })
})

void t.test('a pod without an agent neither stops a completed rollout nor causes a rollback without stages', async (t) => {
  const fleet = stagedFleet({ stages }, lines)
  fleet.settle()
  fleet.bare.add('gw-a')
  fleet.wait(72 * 3_600_000)
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Done' })
  const alone = stagedFleet(undefined, lines)
  alone.spec = { ...alone.spec, sync: { ...alone.spec.sync, rollbackOnFailedScan: true } }
  alone.settle()
  alone.bare.add('gw-a')
  alone.head = commitOf(2)
  alone.settle()
  alone.wait(72 * 3_600_000)
  alone.settle()
  matchObject(t, alone.rollout(), { state: 'Progressing' })
  t.equal(alone.commits()['gw-b'], commitOf(2))
})

void t.test('without stages a rollback restores the last commit that ran, even if one pod never applied it', async (t) => {
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
  t.equal(fleet.rollout()?.previous?.commit, commitOf(4))
  t.equal(fleet.commits()['gw-a'], commitOf(4))
})

void t.test('a commit superseded before its result was known is not a rollback target', async (t) => {
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

void t.test('a resume after a pause excuses only failures from before the pause', async (t) => {
  for (const waitedMs of [600_000, 3 * 3_600_000]) {
    const pods = Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`gw-${index}`, {}]))
    const fleet = pushedFleet({ stages: [{ name: 'plant', maxConcurrent: 6 }] }, pods)
    fleet.edited.clear()
    fleet.bad.add(commitOf(2))
    fleet.pass()
    fleet.look('gw-0')
    fleet.bad.clear()
    fleet.pass()
    matchObject(t, fleet.rollout(), { state: 'Stopped', stages: [{ failed: 1 }] })
    fleet.spec = { ...fleet.spec, paused: true }
    for (const name of Object.keys(pods)) fleet.look(name)
    fleet.pass()
    fleet.wait(waitedMs)
    fleet.pass()
    fleet.spec = { ...fleet.spec, paused: false }
    fleet.act('resume')
    fleet.pass()
    matchObject(t, fleet.rollout(), { state: 'Progressing', excused: 1 }, `${waitedMs} ms`)
  }
})

void t.test('stages that the spec removes during a rollout are recorded in the history', async (t) => {
  const fleet = pushedFleet({ stages })
  fleet.pass()
  fleet.look('gw-test')
  fleet.pass()
  const { rollout: _, ...spec } = fleet.spec
  fleet.spec = spec
  fleet.pass()
  matchObject(t, fleet.status.history?.[0], { commit: commitOf(2), stages: [{ name: 'test' }, { name: 'plant' }] })
})
