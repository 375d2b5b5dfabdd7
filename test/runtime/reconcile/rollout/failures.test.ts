/**
 * Tests which gateways count as failed in a rollout, how many failures are accepted, and which gateways have no deadline.
 */
import t from 'tap'
import { containsText, matchObject } from '../../../support/assertions.ts'
import { commitOf, conditionOf, pushedFleet, type StagedFleet, stages } from '../../../support/staged-fleet.ts'

void t.test('a gateway without progress at the deadline has failed', async (t) => {
  const fleet = pushedFleet({ stages, progressDeadline: '30m' })
  const { wakeAt } = fleet.pass()
  t.equal(String(wakeAt), String(fleet.now.add({ minutes: 30 })))
  fleet.wait(1_800_000)
  fleet.pass()
  matchObject(t, fleet.rollout(), { state: 'Stopped', failures: [{ pod: 'gw-test', reason: 'ProgressDeadline' }] })
})

void t.test('a gateway with local changes has no deadline and is not a failure', async (t) => {
  const fleet = pushedFleet({ stages, onFailure: 'Rollback', progressDeadline: '30m' })
  fleet.edited.add('gw-b')
  fleet.settle()
  matchObject(t, fleet.rollout(), {
    state: 'Progressing',
    stage: 'plant',
    waitsFor: 'Gateways',
    stages: [{}, { updated: 1, failed: 0, held: 1 }],
  })
  matchObject(t, conditionOf(fleet, 'Progressing'), {
    status: 'True',
    reason: 'LocalChanges',
    message: 'stage plant: 1 gateway waits until its local changes are captured or discarded',
  })
  t.equal(fleet.pass().wakeAt, undefined, 'nothing is due before somebody has done something')
  fleet.wait(7_200_000)
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Progressing', failures: undefined })
  t.equal(fleet.commits()['gw-c'], commitOf(1), 'it keeps its place among those that may be under way')
  fleet.edited.clear()
  fleet.look('gw-b')
  fleet.pass()
  matchObject(t, fleet.rollout(), { state: 'Progressing', failures: undefined }, 'the time until then is not its own')
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Done' })
  t.notOk(fleet.rollout()?.stages?.some(({ held }) => held !== undefined))
})

void t.test('a gateway that continues after its local changes are settled has the whole deadline', async (t) => {
  const fleet = pushedFleet({ stages: [{ name: 'plant' }], progressDeadline: '30m' })
  fleet.pass()
  fleet.edited.add('gw-b')
  for (const name of fleet.pods.keys()) fleet.look(name)
  fleet.pass()
  fleet.wait(7_200_000)
  const pod = fleet.pods.get('gw-b')
  if (pod !== undefined) pod.report = { ...pod.inPlace, phase: 'Pending', reason: 'GatewayNotReady' }
  const { wakeAt } = fleet.pass()
  matchObject(t, fleet.rollout(), { state: 'Progressing', failures: undefined })
  t.equal(String(wakeAt), String(fleet.now.add({ minutes: 30 })))
  fleet.wait(1_800_000)
  fleet.pass()
  matchObject(t, fleet.rollout(), { state: 'Stopped', failures: [{ pod: 'gw-b', reason: 'ProgressDeadline' }] })
})

void t.test('failures below failureThreshold do not stop the rollout', async (t) => {
  const fleet = pushedFleet({ stages: [{ name: 'plant' }], failureThreshold: 2, progressDeadline: '30m' })
  fleet.pass()
  for (const name of ['gw-test', 'gw-a', 'gw-b']) fleet.look(name)
  fleet.pass()
  fleet.wait(1_800_000)
  fleet.pass()
  matchObject(t, fleet.rollout(), { state: 'Done' })
})

void t.test('an accepted gateway without progress at the end of its stage counts as silent, not as failed', async (t) => {
  const fleet = pushedFleet({
    stages: [...stages.slice(0, 1), { name: 'plant', approval: 'Manual' }],
    failureThreshold: 2,
    progressDeadline: '30m',
  })
  fleet.pass()
  matchObject(t, fleet.rollout()?.stages, [{ finishedAt: undefined, silent: undefined }, {}], 'before its end it is waited for')
  fleet.wait(1_800_000)
  fleet.pass()
  fleet.pass()
  matchObject(t, fleet.rollout(), {
    stage: 'plant',
    waitsFor: 'Approval',
    stages: [
      { name: 'test', gateways: 1, updated: 0, failed: 0, silent: 1 },
      { name: 'plant', failed: 0 },
    ],
  })
  fleet.look('gw-test')
  fleet.pass()
  const [test] = fleet.rollout()?.stages ?? []
  matchObject(t, test, { updated: 1, failed: 0, silent: undefined }, 'until it has taken the commit after all')
})

void t.test('the silent count of a completed rollout stays unchanged, also in the history', async (t) => {
  const fleet = pushedFleet({ stages: [{ name: 'plant' }], failureThreshold: 2, progressDeadline: '30m' })
  fleet.off.add('gw-c')
  fleet.settle()
  fleet.wait(1_800_000)
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Done', stages: [{ gateways: 4, updated: 3, failed: 0, silent: 1 }] })
  const past = () => fleet.status.history?.find(({ commit }) => commit === commitOf(2))?.stages
  matchObject(t, past(), [{ name: 'plant', gateways: 4, failed: 0, silent: 1 }])
  fleet.off.clear()
  fleet.settle()
  t.equal(fleet.commits()['gw-c'], commitOf(2))
  matchObject(t, fleet.rollout(), { stages: [{ silent: 1 }] })
  matchObject(t, past(), [{ silent: 1 }])
})

void t.test('the silent count is updated while a rollout is stopped, and kept after a rollback', async (t) => {
  const stopped = () => {
    const fleet = pushedFleet({ stages: [...stages.slice(0, 1), { name: 'plant' }], failureThreshold: 2, progressDeadline: '30m' })
    fleet.off.add('gw-test')
    fleet.pass()
    fleet.wait(1_800_000)
    fleet.pass()
    fleet.bad.add(commitOf(2))
    fleet.settle()
    matchObject(t, fleet.rollout(), { state: 'Stopped', stages: [{ silent: 1 }, { failed: 3 }] })
    fleet.off.clear()
    return fleet
  }
  const stands = stopped()
  stands.bad.clear()
  stands.look('gw-test')
  stands.pass()
  matchObject(t, stands.rollout(), { state: 'Stopped', stages: [{ updated: 1, silent: undefined }, {}] })
  const back = stopped()
  back.act('abort')
  back.settle()
  matchObject(t, back.rollout(), { state: 'RolledBack', stages: [{ updated: 0, silent: 1 }, {}] })
  t.strictSame(new Set(Object.values(back.commits())), new Set([commitOf(1)]))
})

void t.test('a gateway that becomes unhealthy during the soak has the whole deadline', async (t) => {
  const fleet = pushedFleet({ stages: [{ name: 'plant', soak: '10h' }], progressDeadline: '30m' })
  fleet.settle()
  fleet.wait(5 * 3_600_000)
  fleet.settle()
  matchObject(t, fleet.rollout(), { waitsFor: 'Soak' })
  const pod = fleet.pods.get('gw-b')
  if (pod !== undefined) pod.report = { ...pod.inPlace, phase: 'Pending', reason: 'GatewayNotReady' }
  const { wakeAt } = fleet.pass()
  matchObject(t, fleet.rollout(), { state: 'Progressing', waitsFor: 'Gateways', failures: undefined, healthySince: undefined })
  t.equal(String(wakeAt), String(fleet.now.add({ minutes: 30 })))
  fleet.wait(1_800_000)
  fleet.pass()
  matchObject(t, fleet.rollout(), { state: 'Stopped', failures: [{ pod: 'gw-b', reason: 'ProgressDeadline' }] })
})

/** Simulates a gateway whose container terminated. */
function ends(fleet: StagedFleet, name: string): void {
  fleet.wait(60_000)
  fleet.ended.set(name, String(fleet.now))
}

void t.test('a failure in a completed stage stops later stages, and causes a rollback if configured', async (t) => {
  for (const [onFailure, state] of [
    ['Stop', 'Stopped'],
    ['Rollback', 'RolledBack'],
  ] as const) {
    const fleet = pushedFleet({ stages: [...stages.slice(0, 1), { name: 'plant', approval: 'Manual' }], onFailure })
    fleet.settle()
    matchObject(t, fleet.rollout(), { state: 'Progressing', stage: 'plant', waitsFor: 'Approval' })
    ends(fleet, 'gw-test')
    fleet.pass()
    matchObject(
      t,
      fleet.rollout(),
      { state, reason: 'RolloutFailed', failures: [{ pod: 'gw-test', reason: 'GatewayRestarted' }] },
      onFailure,
    )
    containsText(t, fleet.rollout()?.message, '1 of 1 gateways of stage test failed')
    fleet.settle()
    t.equal(fleet.commits()['gw-a'], commitOf(1))
    t.equal(fleet.commits()['gw-test'], onFailure === 'Stop' ? commitOf(2) : commitOf(1))
  }
})

void t.test('a failure accepted in a completed stage does not stop the rollout again, but another one does', async (t) => {
  const pods = { 'gw-test': { line: 'test' }, 'gw-test-2': { line: 'test' }, 'gw-a': {} }
  const fleet = pushedFleet({ stages: [...stages.slice(0, 1), { name: 'plant', approval: 'Manual' }] }, pods)
  fleet.settle()
  ends(fleet, 'gw-test')
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Stopped' })
  fleet.act('resume')
  fleet.settle()
  matchObject(t, fleet.rollout(), {
    state: 'Progressing',
    waitsFor: 'Approval',
    stages: [
      { name: 'test', failed: 1, excused: 1 },
      { name: 'plant', failed: 0 },
    ],
  })
  ends(fleet, 'gw-test-2')
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Stopped', failures: [{ pod: 'gw-test' }, { pod: 'gw-test-2' }] })
})

void t.test('failures accepted during a stage stay accepted once it is complete', async (t) => {
  const pods = { 'gw-test': { line: 'test' }, 'gw-test-2': { line: 'test' }, 'gw-a': {} }
  const fleet = pushedFleet({ stages: [...stages.slice(0, 1), { name: 'plant', approval: 'Manual' }] }, pods)
  fleet.harmful.add(commitOf(2))
  fleet.pass()
  fleet.look('gw-test')
  fleet.harmful.clear()
  fleet.look('gw-test-2')
  fleet.pass()
  matchObject(t, fleet.rollout(), { state: 'Stopped', failures: [{ pod: 'gw-test', reason: 'NewProblems' }] })
  fleet.act('resume')
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Progressing', stage: 'plant', waitsFor: 'Approval', stages: [{ excused: 1 }, {}] })
})

void t.test('a gateway of a completed stage may be off, and one that joins it may be slow', async (t) => {
  const fleet = pushedFleet({ stages: [...stages.slice(0, 1), { name: 'plant', approval: 'Manual' }], progressDeadline: '30m' })
  fleet.settle()
  fleet.add('gw-new', { line: 'test' })
  fleet.off.add('gw-new')
  const pod = fleet.pods.get('gw-test')
  if (pod !== undefined) pod.report = { ...pod.inPlace, phase: 'Pending', reason: 'GatewayNotReady' }
  fleet.off.add('gw-test')
  fleet.settle()
  fleet.wait(7_200_000)
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Progressing', stage: 'plant', waitsFor: 'Approval', stages: [{ failed: 0 }, { failed: 0 }] })
})

void t.test('accepting a silent gateway does not accept failures of others after the stage is complete', async (t) => {
  const test = { line: 'test' }
  const fleet = pushedFleet(
    { stages: [...stages.slice(0, 1), { name: 'plant', approval: 'Manual' }], progressDeadline: '20m' },
    { 'gw-test': test, 'gw-test-2': test, 'gw-test-3': test, 'gw-a': {} },
  )
  fleet.off.add('gw-test')
  fleet.settle()
  fleet.wait(1_200_000)
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Stopped', failures: [{ pod: 'gw-test', reason: 'ProgressDeadline' }] })
  fleet.act('resume')
  fleet.settle()
  fleet.wait(1_200_000)
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Progressing', stage: 'plant', waitsFor: 'Approval' })
  ends(fleet, 'gw-test-2')
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Stopped', failures: [{ pod: 'gw-test-2' }], stages: [{ failed: 1 }, { failed: 0 }] })
  fleet.act('resume')
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Progressing', stages: [{ excused: 1 }, {}] })
  ends(fleet, 'gw-test-3')
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Stopped', failures: [{ pod: 'gw-test-2' }, { pod: 'gw-test-3' }] })
})
