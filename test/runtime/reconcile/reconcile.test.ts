/**
 * Tests which conditions and which published commit a GatewaySync has after changes of its spec, faults and restarts.
 */
import t from 'tap'
import { Fault } from '../../../runtime/platform/fault.ts'
import { matchObject, rejectsWith } from '../../support/assertions.ts'
import { commitA, commitB, condition, setUp, spec, synced } from '../../support/reconciled-sync.ts'

void t.test('a result that the API server rejected is not lost', async (t) => {
  const { pass, answer, refuseWrites, status } = setUp()
  await pass()
  await answer(commitA)
  refuseWrites(new Fault('ApiUnavailable', 'no'))
  await rejectsWith(t, pass(), new Fault('ApiUnavailable', 'no'))
  refuseWrites(undefined)
  await pass()
  matchObject(t, status().published, { commit: commitA }, 'without another question to the git host')
})

void t.test('Ready is not true for a new ref in the spec before it is resolved', async (t) => {
  const { pass, answer, change, status } = await synced()
  matchObject(t, condition(status(), 'Ready'), { status: 'True', observedGeneration: 1 })
  change({ generation: 2, spec: spec('v2') })
  for (const when of ['at once', 'while the question is under way']) {
    await pass()
    matchObject(t, condition(status(), 'Ready'), { status: 'Unknown', reason: 'Pending', observedGeneration: 2 }, when)
    matchObject(t, condition(status(), 'Reconciling'), { status: 'True' }, when)
  }
  await answer(commitB)
  await pass()
  matchObject(t, condition(status(), 'Ready'), { status: 'True', observedGeneration: 2 })
  matchObject(t, status().published, { commit: commitB, ref: 'v2' })
})

void t.test('Ready is not true for new validation settings before validation has run', async (t) => {
  const changes = {
    rules: { validation: { rules: { 'some-rule': 'error' } } },
    'default excludes': { sync: { ...spec().sync, defaults: { excludePatterns: ['**/*.bak'] } } },
  }
  for (const [name, change] of Object.entries(changes)) {
    const world = await synced()
    world.change({ generation: 2, spec: spec('main', change) })
    await world.pass()
    matchObject(t, condition(world.status(), 'Ready'), { status: 'Unknown', reason: 'Pending' }, name)
    await world.answer(commitA)
    await world.pass()
    matchObject(t, condition(world.status(), 'Ready'), { status: 'True' }, name)
  }
})

void t.test('a change that does not affect the source keeps Ready', async (t) => {
  const { pass, change, status, host } = await synced()
  change({ generation: 2, spec: spec('main', { gateway: { port: 9088 } }) })
  await pass()
  matchObject(t, condition(status(), 'Ready'), { status: 'True', observedGeneration: 2 })
  t.equal(host.length, 1)
})

void t.test('a result for an earlier spec is not published', async (t) => {
  const { pass, answer, change, status } = await synced()
  change({ generation: 2, spec: spec('v2') })
  await pass()
  await answer(commitB)
  change({ generation: 3, spec: spec('v3') })
  await pass()
  matchObject(t, status().published, { commit: commitA, ref: 'main' })
  matchObject(t, condition(status(), 'Ready'), { status: 'Unknown', reason: 'Pending' })
})

void t.test('a fault of an earlier spec does not stall the current one', async (t) => {
  const { pass, answer, change, status } = setUp({ spec: spec('typo') })
  await pass()
  await answer(new Fault('RefNotFound', 'no such ref'))
  await pass()
  matchObject(t, condition(status(), 'Stalled'), { status: 'True', reason: 'RefNotFound' })
  change({ generation: 2, spec: spec('main') })
  await pass()
  t.equal(condition(status(), 'Stalled'), undefined)
  matchObject(t, condition(status(), 'SourceReady'), { status: 'Unknown', reason: 'Pending' })
})

void t.test('a restart keeps the last fault until the next source resolution', async (t) => {
  const { pass, answer, restart, status } = setUp()
  await pass()
  await answer(new Fault('GitUnreachable', 'no route'))
  await pass()
  const before = status().conditions
  matchObject(t, condition(status(), 'SourceReady'), { status: 'False', reason: 'GitUnreachable' })
  restart()
  await pass()
  t.strictSame(status().conditions, before)
})

void t.test('a restart after a spec change does not report Ready before the source is resolved', async (t) => {
  const { pass, answer, change, restart, status } = await synced()
  restart()
  change({ generation: 2, spec: spec('main', { validation: { rules: { 'some-rule': 'error' } } }) })
  for (const when of ['at once', 'while the question is under way']) {
    await pass()
    matchObject(t, condition(status(), 'Ready'), { status: 'Unknown', reason: 'Pending' }, when)
  }
  await answer(commitA)
  await pass()
  matchObject(t, condition(status(), 'Ready'), { status: 'True' })
})

void t.test('a spec that exceeds the size limit stalls as TooLarge and keeps the published commit', async (t) => {
  const published = { commit: commitA, ref: 'refs/heads/main', at: '2026-01-01T00:00:00Z' }
  const { pass, status } = setUp({ spec: {}, tooLarge: 'spec is 200000 bytes', status: { published } })
  await pass()
  matchObject(t, condition(status(), 'Stalled'), { status: 'True', reason: 'TooLarge', message: 'spec is 200000 bytes' })
  t.strictSame(status().published, published)
})

void t.test('an invalid spec stalls, is not also reconciling, and keeps the published commit', async (t) => {
  const { pass, change, answer, status } = await synced()
  change({ generation: 2, spec: spec('v2') })
  await pass()
  matchObject(t, condition(status(), 'Reconciling'), { status: 'True' })
  change({ generation: 3, spec: spec('main', { gateway: { port: 0 }, paused: 'maybe' }) })
  await pass()
  const types = (status().conditions ?? []).map(({ type }) => type).toSorted((a, b) => (a < b ? -1 : 1))
  t.strictSame(types, ['AgentsInjected', 'CollectionsValid', 'GatewaysSynced', 'Ready', 'SourceReady', 'Stalled'])
  for (const type of ['Ready', 'SourceReady']) matchObject(t, condition(status(), type), { status: 'False', reason: 'InvalidSpec' }, type)
  matchObject(t, condition(status(), 'Stalled'), {
    status: 'True',
    reason: 'InvalidSpec',
    observedGeneration: 3,
    message: /^spec\.gateway\.port: .+; spec\.paused: must be true or false, not "maybe"$/,
  })
  matchObject(t, status().published, { commit: commitA })
  change({ generation: 4, spec: spec() })
  await pass()
  t.equal(condition(status(), 'Stalled'), undefined)
  await answer(commitB)
  await pass()
  matchObject(t, condition(status(), 'Ready'), { status: 'True' })
})

void t.test('with a CRD that drops the columns, unchanged status and events are not written again', async (t) => {
  const { pass, answer, change, dropColumns, restart, told, status } = setUp()
  dropColumns()
  for (let lookup = 0; lookup < 2; lookup += 1) {
    await pass()
    await answer(commitA)
    await pass()
    restart()
  }
  t.equal(status().columns, undefined)
  const { writes } = told
  for (let lookup = 0; lookup < 3; lookup += 1) {
    await pass()
    await answer(commitA)
    await pass()
    restart()
  }
  t.equal(told.writes, writes, 'three resolutions that find the same')

  change({ generation: 2, spec: { ...spec(), polling: { interval: 'often' } } })
  for (let times = 0; times < 3; times += 1) await pass()
  t.equal(told.writes, writes + 1)
  t.strictSame(
    told.events.filter((reason) => reason === 'InvalidSpec'),
    ['InvalidSpec'],
  )
})
