/**
 * Tests when a gateway counts as healthy, failed or in progress during a rollout, on an in-memory fleet.
 */
import t from 'tap'
import { resolveProfile, syncHash } from '../../../../runtime/api/schema/profile.ts'
import { matchObject } from '../../../support/assertions.ts'
import { specWith } from '../../../support/gatewaysync.ts'
import { commitOf, conditionOf, lines, pushedFleet, stagedFleet, type StagedFleet, stages } from '../../../support/staged-fleet.ts'

void t.test('a commit that causes problems on the first gateway is rolled back and reaches no other gateway', async (t) => {
  const fleet = pushedFleet({ stages: [{ ...stages[0], name: 'test', soak: '10m' }, { name: 'plant' }], onFailure: 'Rollback' })
  fleet.harmful.add(commitOf(2))
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'RolledBack', message: '1 of 1 gateways of stage test failed: gw-test: NewProblems' })
  t.strictSame(fleet.pods.get('gw-test')?.had, [1, 2, 1].map(commitOf))
  for (const name of ['gw-a', 'gw-b', 'gw-c']) t.strictSame(fleet.pods.get(name)?.had, [commitOf(1)], name)
})

void t.test('a gateway that restarts during the soak has failed; an earlier restart does not count', async (t) => {
  const fleet = pushedFleet({ stages: [{ ...stages[0], name: 'test', soak: '10m' }, { name: 'plant' }] })
  fleet.ended.set('gw-test', '2026-03-02T11:59:59Z')
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Progressing', stage: 'test', waitsFor: 'Soak' })
  fleet.wait(60_000)
  fleet.ended.set('gw-test', '2026-03-02T12:00:30Z')
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Stopped', failures: [{ pod: 'gw-test', reason: 'GatewayRestarted' }] })
  fleet.act('resume')
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Progressing' }, 'it is accepted')
})

void t.test('a restart hours after a commit was applied is not attributed to the commit', async (t) => {
  const fleet = pushedFleet({ stages: [{ ...stages[0], name: 'test', soak: '10h' }, { name: 'plant' }] })
  fleet.settle()
  fleet.wait(4 * 3_600_000)
  fleet.ended.set('gw-test', String(fleet.now))
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Progressing', waitsFor: 'Soak' })
})

void t.test('a restart before a rollout started does not stop the rollout', async (t) => {
  const fleet = pushedFleet({ stages })
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Done' })
  fleet.wait(600_000)
  for (const pod of ['gw-test', 'gw-a']) fleet.ended.set(pod, String(fleet.now))
  fleet.wait(600_000)
  // The pod is recreated and cannot be scheduled, so the rollout stays in progress.
  fleet.add('gw-b')
  fleet.off.add('gw-b')
  fleet.spec = {
    ...fleet.spec,
    sync: { ...fleet.spec.sync, profiles: { ...fleet.spec.sync.profiles, other: fleet.spec.sync.profiles['default'] ?? { mappings: [] } } },
  }
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Progressing', stage: 'plant', failures: undefined })
})

void t.test('a failed scan or a broken file fails the stage at once, and a temporary failure is waited for', async (t) => {
  for (const [reason, expected] of [
    ['ScanFailed', { state: 'Stopped', failures: [{ pod: 'gw-test', reason: 'ScanFailed' }] }],
    ['TemplateFailed', { state: 'Stopped', failures: [{ pod: 'gw-test', reason: 'TemplateFailed' }] }],
    ['ControllerUnavailable', { state: 'Progressing', stage: 'test', failures: undefined }],
    ['ReasonOfALaterRelease', { state: 'Progressing', stage: 'test', failures: undefined }],
  ] as const) {
    const fleet = pushedFleet({ stages })
    fleet.off.add('gw-test')
    fleet.settle()
    const pod = fleet.pods.get('gw-test')
    const spec = specWith()
    const attempt = { commit: commitOf(2), syncHash: syncHash(resolveProfile(spec.sync, 'default'), spec.gateway) }
    if (pod !== undefined) pod.report = { ...pod.inPlace, phase: 'Failed', reason, message: 'bad', attempt }
    fleet.settle()
    matchObject(t, fleet.rollout(), expected, reason)
  }
})

void t.test('a gateway that is off causes no rollback', async (t) => {
  const fleet = stagedFleet(undefined, lines)
  fleet.spec = { ...fleet.spec, sync: { ...fleet.spec.sync, rollbackOnFailedScan: true } }
  fleet.settle()
  fleet.off.add('gw-c')
  fleet.head = commitOf(2)
  fleet.settle()
  fleet.wait(5 * 3_600_000)
  fleet.settle()
  matchObject(t, fleet.commits(), { 'gw-a': commitOf(2), 'gw-c': commitOf(1) })
  fleet.off.clear()
  fleet.settle()
  fleet.wait(120_000)
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Done', commit: commitOf(2) })
})

void t.test('problems reported before stages were configured do not stop the rollout', async (t) => {
  const fleet = stagedFleet(undefined, lines)
  fleet.harmful.add(commitOf(1))
  fleet.settle()
  fleet.change({ stages })
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Done' })
})

void t.test('without stages a harmful commit is rolled back everywhere only with rollbackOnFailedScan', async (t) => {
  for (const rollbackOnFailedScan of [true, false]) {
    const fleet = stagedFleet(undefined, lines)
    fleet.spec = { ...fleet.spec, sync: { ...fleet.spec.sync, rollbackOnFailedScan } }
    fleet.settle()
    t.strictSame(new Set(Object.values(fleet.commits())), new Set([commitOf(1)]))
    fleet.head = commitOf(2)
    fleet.harmful.add(commitOf(2))
    fleet.settle()
    const expected = rollbackOnFailedScan ? commitOf(1) : commitOf(2)
    t.strictSame(new Set(Object.values(fleet.commits())), new Set([expected]))
    matchObject(t, fleet.status.source, { commit: commitOf(2), held: rollbackOnFailedScan ? 'RolloutFailed' : undefined })
    fleet.head = commitOf(3)
    fleet.settle()
    t.strictSame(new Set(Object.values(fleet.commits())), new Set([commitOf(3)]), 'the next commit reaches all')
    matchObject(t, conditionOf(fleet, 'Ready'), { status: 'True' })
  }
})

const checked = (fleet: StagedFleet, http: { path: string; status?: number }): StagedFleet => {
  const { sync } = fleet.spec
  fleet.spec = { ...fleet.spec, sync: { ...sync, defaults: { ...sync.defaults, healthCheck: { http: { status: 200, ...http } } } } }
  return fleet
}
const wrong = { kind: 'wrong', why: 'the gateway answered 500, not 200' } as const
const none = { kind: 'none', why: 'nobody answers' } as const

/** Four gateways with a check. All run the first commit, and the second is pushed. */
function pushedWithCheck(rollout: Parameters<typeof stagedFleet>[0]): StagedFleet {
  const fleet = checked(stagedFleet(rollout, lines), { path: '/system/webdev/line/health' })
  fleet.settle()
  fleet.head = commitOf(2)
  return fleet
}

void t.test('a gateway is healthy once its check passes, and checks run only during rollouts', async (t) => {
  const fleet = pushedWithCheck({ stages, progressDeadline: '30m' })
  matchObject(t, fleet.pods.get('gw-a')?.report, { phase: 'Synced', healthCheck: undefined })
  fleet.answers.set('gw-test', none)
  fleet.settle()
  matchObject(t, fleet.rollout(), {
    state: 'Progressing',
    stage: 'test',
    waitsFor: 'Gateways',
    stages: [{ gateways: 1, updated: 0, failed: 0 }, { failed: 0 }],
  })
  matchObject(t, fleet.pods.get('gw-test')?.report, { phase: 'Synced', healthCheck: { state: 'Unknown' } })
  t.strictSame(fleet.pods.get('gw-a')?.had, [commitOf(1)], 'nobody else has begun')
  fleet.answers.clear()
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Done' })
  t.notOk(
    [...fleet.pods.values()].some(({ report }) => report.healthCheck !== undefined),
    'nobody asks any more',
  )
})

void t.test('an unanswered check is a failure only after the deadline, with the reason', async (t) => {
  const fleet = pushedWithCheck({ stages, onFailure: 'Rollback', progressDeadline: '30m' })
  fleet.answers.set('gw-test', none)
  fleet.settle()
  fleet.wait(1_799_000)
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Progressing', failures: undefined })
  fleet.wait(1_000)
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'RolledBack', message: /gw-test: HealthCheckUnanswered/ })
})

void t.test('a check that fails for half a minute fails the gateway; a single wrong answer does not', async (t) => {
  const fleet = pushedWithCheck({ stages, onFailure: 'Rollback' })
  fleet.answers.set('gw-test', wrong)
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Progressing', failures: undefined })
  fleet.wait(30_000)
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'RolledBack', message: '1 of 1 gateways of stage test failed: gw-test: HealthCheckFailed' })
  for (const name of ['gw-a', 'gw-b', 'gw-c']) t.strictSame(fleet.pods.get(name)?.had, [commitOf(1)], name)
})

void t.test('a check that fails during the soak stops the rollout, and an unanswered one restarts the soak', async (t) => {
  const fleet = pushedWithCheck({ stages: [{ ...stages[0], name: 'test', soak: '10h' }, { name: 'plant' }], progressDeadline: '30m' })
  fleet.settle()
  fleet.wait(5 * 3_600_000)
  fleet.answers.set('gw-test', none)
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Progressing', waitsFor: 'Gateways', healthySince: undefined, failures: undefined })
  fleet.answers.clear()
  fleet.settle()
  matchObject(t, fleet.rollout(), { waitsFor: 'Soak', healthySince: String(fleet.now).replace('.000', '') })
  fleet.answers.set('gw-test', wrong)
  for (let times = 0; times < 2; times += 1) {
    fleet.settle()
    fleet.wait(30_000)
  }
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Stopped', failures: [{ pod: 'gw-test', reason: 'HealthCheckFailed' }] })
})

void t.test('an agent that does not support checks is outdated and makes the rollout wait, but has not failed', async (t) => {
  const fleet = pushedWithCheck({ stages })
  fleet.pass()
  const { spec } = fleet
  const { healthCheck: _check, ...defaults } = spec.sync.defaults
  const unchecked = syncHash(resolveProfile({ ...spec.sync, defaults }, 'default'), spec.gateway)
  t.not(unchecked, syncHash(resolveProfile(spec.sync, 'default'), spec.gateway))
  const pod = fleet.pods.get('gw-test')
  if (pod !== undefined)
    pod.report = { phase: 'Synced', commit: commitOf(1), syncHash: unchecked, ignoredFields: ['sync.defaults.healthCheck'] }
  fleet.pass()
  matchObject(t, fleet.status, { outdatedAgents: 1, rollout: { state: 'Progressing', failures: undefined } })
})
