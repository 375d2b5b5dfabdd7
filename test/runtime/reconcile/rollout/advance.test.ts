/**
 * Tests one step of a rollout: what a new one begins with, what an action changes, and what ends it.
 */
import t from 'tap'
import type { RolloutStatus } from '../../../../runtime/api/schema/rollout-status.ts'
import { Temporal } from '../../../../runtime/platform/temporal.ts'
import type { RolloutAction } from '../../../../runtime/reconcile/rollout/action.ts'
import { advance, rolloutOf } from '../../../../runtime/reconcile/rollout/advance.ts'
import type { GatewayProgress, RolloutFacts } from '../../../../runtime/reconcile/rollout/facts.ts'
import { matchObject } from '../../../support/assertions.ts'
import { specWith } from '../../../support/gatewaysync.ts'

const [first, second, third] = ['1', '2', '3'].map((digit) => digit.repeat(40)) as [string, string, string]
const at = '2026-01-01T12:00:00Z'
const now = Temporal.Instant.from(at)
const earlier = '2026-01-01T11:00:00Z'
const version = (commit: string) => ({ commit, ref: 'main' })
const { rollout: staged } = specWith({ rollout: { stages: [{ name: 'test', selector: { names: ['a'] } }, { name: 'plant' }] } })
const { sync } = specWith()
const oneStage = rolloutOf({ rollout: undefined, sync: { ...sync, rollbackOnFailedScan: true } })
if (staged === undefined || oneStage === undefined) throw new Error('there are no stages')

const moving = (pod: string): GatewayProgress => ({ pod, name: pod, labels: {}, progress: 'moving' })
const previous: RolloutStatus = {
  state: 'Progressing',
  id: earlier,
  commit: second,
  configurations: { default: 'v1' },
  startedAt: earlier,
  progressAt: earlier,
  previous: version(first),
  stage: 'test',
  stages: [{ name: 'test', gateways: 1, updated: 0, failed: 0, startedAt: earlier }],
  lastAction: 'done',
}

function step(more: Partial<RolloutFacts> = {}) {
  return advance({
    spec: staged as RolloutFacts['spec'],
    target: { version: version(second), configurations: { default: 'v1' } },
    before: version(second),
    previous,
    gateways: [moving('a'), moving('b')],
    action: undefined,
    skip: undefined,
    paused: false,
    now,
    ...more,
  })
}
const toThird = { target: { version: version(third), configurations: { default: 'v1' } } }

void t.test('a rollout of another commit begins at the first stage, and an action stays done', async (t) => {
  const { rollout } = step(toThird)
  matchObject(t, rollout, {
    state: 'Progressing',
    id: at,
    commit: third,
    startedAt: at,
    stage: 'test',
    lastAction: 'done',
    refused: undefined,
  })
  t.strictSame(rollout.configurations, { default: 'v1' })
  for (const configurations of [{ default: 'v2' }, {}, { default: 'v1', more: 'v1' }, { other: 'v1' }])
    t.equal(
      step({ target: { version: version(second), configurations } }).rollout.id,
      at,
      `configurations ${JSON.stringify(configurations)}`,
    )
  t.equal(step().rollout.id, earlier, 'the same goes on')
})

void t.test('rollouts that begin in one second are numbered', async (t) => {
  const idAfter = (id: string) => step({ ...toThird, previous: { ...previous, id, startedAt: at } }).rollout.id
  t.strictSame([idAfter(at), idAfter(`${at}.2`), idAfter(`${at}.9`)], [`${at}.2`, `${at}.3`, `${at}.10`])
})

void t.test('a commit that did not reach every gateway is not what a rollback returns to', async (t) => {
  const proven = { stages: [{ name: 'all', gateways: 2, updated: 1, failed: 0 }] }
  const whole = { spec: oneStage, ...toThird }
  const rows: [string, Partial<RolloutStatus>, Partial<RolloutFacts>, string][] = [
    ['done', { state: 'Done' }, toThird, second],
    ['rolled back', { state: 'RolledBack' }, toThird, second],
    ['stopped', { state: 'Stopped' }, toThird, first],
    ['under way', {}, toThird, first],
    ['under way in stages, though proven', proven, toThird, first],
    ['proven for an hour without stages', proven, whole, second],
    ['stopped, though proven', { ...proven, state: 'Stopped' }, whole, first],
    ['for less than an hour', { ...proven, progressAt: '2026-01-01T11:00:01Z' }, whole, first],
    ['for an hour, from its start', { ...proven, progressAt: undefined }, whole, second],
    ['on no gateway', { stages: [{ name: 'all', gateways: 2, updated: 0, failed: 0 }] }, whole, first],
    ['with a failure', { stages: [{ name: 'all', gateways: 2, updated: 1, failed: 1 }] }, whole, first],
    ['during a pause', { ...proven, waitsFor: 'Pause' }, whole, first],
    ['of stages that were removed', { stages: [...(proven.stages ?? []), ...(previous.stages ?? [])] }, whole, first],
    ['without a stage', { stages: [] }, whole, first],
  ]
  for (const [name, state, facts, base] of rows)
    t.equal(step({ ...facts, previous: { ...previous, ...state } }).rollout.previous?.commit, base, name)
})

void t.test('a refused commit stays known while the commit stays', async (t) => {
  const rolledBack = { ...previous, state: 'RolledBack' as const, refused: version(third) }
  const other = { target: { version: version(second), configurations: { default: 'v2' } } }
  matchObject(t, step({ ...other, previous: rolledBack }).rollout, { id: at, refused: version(third) })
  matchObject(t, step({ ...toThird, previous: rolledBack }).rollout, { id: at, refused: undefined })
})

void t.test('the first commit, and one that all gateways have, need no stages', async (t) => {
  const done = { state: 'Done', finishedAt: at, previous: undefined, stage: undefined }
  matchObject(t, step({ before: undefined, previous: undefined }).rollout, done)
  matchObject(t, step({ before: undefined, previous: undefined, paused: true }).rollout, done, 'also while paused')
  const updated = ['a', 'b'].map((pod): GatewayProgress => ({ pod, name: pod, labels: {}, progress: 'updated' }))
  matchObject(t, step({ previous: undefined, gateways: updated }).rollout, done)
  matchObject(t, step({ previous: undefined, gateways: [...updated, moving('c')] }).rollout, { state: 'Progressing', stage: 'plant' })
  matchObject(t, step({ previous: undefined, gateways: [moving('a')] }).rollout, { state: 'Progressing', previous: version(second) })
})

void t.test('only the commit itself may skip the stages, and a pause holds them', async (t) => {
  t.equal(step({ skip: second }).rollout.state, 'Done')
  t.equal(step({ skip: first }).rollout.state, 'Progressing', 'another commit')
  const ofConfiguration = { ...previous, previous: version(second) }
  t.equal(step({ skip: second, previous: ofConfiguration }).rollout.state, 'Progressing', 'a change of the configuration')
  matchObject(t, step({ paused: true }), { rollout: { waitsFor: 'Pause' }, wakeAt: undefined })
  const after = step({ previous: { ...previous, waitsFor: 'Pause', healthySince: earlier } }).rollout
  matchObject(t, after, { progressAt: at, healthySince: undefined, waitsFor: 'Gateways' }, 'and its time does not count')
  t.equal(step({ previous: { ...previous, allowed: [], waitsFor: 'Gateways' }, gateways: [] }).rollout.state, 'Done', 'without gateways')
})

const action = (verb: RolloutAction['verb'], more: Partial<RolloutAction> = {}): { action: RolloutAction } => ({
  action: { verb, id: earlier, stage: undefined, by: 'Ann', digest: 'new', ...more },
})
const stopped: RolloutStatus = { ...previous, state: 'Stopped', reason: 'RolloutFailed', message: 'it failed', finishedAt: earlier }

void t.test('an action is done once, and only for this rollout', async (t) => {
  const aborted = step(action('abort')).rollout
  matchObject(t, aborted, {
    state: 'RolledBack',
    commit: first,
    refused: version(second),
    reason: 'RolloutAborted',
    message: 'aborted by Ann',
  })
  t.equal(aborted.lastAction, 'new')
  t.equal(step(action('abort', { digest: 'done' })).rollout.state, 'Progressing', 'it was done')
  matchObject(t, step(action('abort', { id: at })).rollout, { state: 'Progressing', lastAction: 'new' }, 'another rollout')
  for (const state of ['Done', 'RolledBack'] as const)
    matchObject(t, step({ ...action('abort'), previous: { ...previous, state } }).rollout, { state, lastAction: 'new' }, 'it is too late')
  matchObject(t, step({ ...action('abort'), previous: stopped }).rollout, { state: 'RolledBack', commit: first })
})

void t.test('an approval names a stage of the spec', async (t) => {
  const approval = { approvedBy: 'Ann', approvedAt: at }
  const { stages } = step(action('approve', { stage: 'plant' })).rollout
  matchObject(t, stages, [
    { name: 'test', approvedBy: undefined },
    { name: 'plant', ...approval },
  ])
  for (const stage of ['other', undefined])
    t.strictSame(
      step(action('approve', { stage })).rollout.stages?.map(({ approvedBy }) => approvedBy),
      [undefined, undefined],
    )
})

void t.test('a resume accepts the failures counted so far', async (t) => {
  const failing = {
    ...stopped,
    healthySince: earlier,
    stages: [
      { name: 'test', gateways: 3, updated: 0, failed: 2, startedAt: earlier },
      { name: 'earlier', gateways: 3, updated: 0, failed: 1, finishedAt: earlier, excused: 2 },
      { name: 'later', gateways: 3, updated: 0, failed: 3, finishedAt: earlier, excused: 1 },
    ],
  }
  const resumed = step({ ...action('resume'), previous: failing, paused: true }).rollout
  matchObject(t, resumed, {
    state: 'Progressing',
    progressAt: at,
    excused: 2,
    reason: undefined,
    message: undefined,
    finishedAt: undefined,
  })
  const running = step(action('resume')).rollout
  matchObject(t, running, { state: 'Progressing', progressAt: at, excused: undefined, lastAction: 'new' }, 'nothing is stopped')
  matchObject(t, step({ previous: stopped, paused: true }).rollout, stopped, 'without an action it stays')
})
