/**
 * Tests what the history records about completed rollouts, on an in-memory fleet.
 */
import t from 'tap'
import { matchObject } from '../../../support/assertions.ts'
import type { RolloutStatus } from '../../../../runtime/api/schema/rollout-status.ts'
import type { GatewaySyncStatus } from '../../../../runtime/api/schema/status.ts'
import { commitOf, pushedFleet, type StagedFleet, stagedFleet, stages } from '../../../support/staged-fleet.ts'
import { withStages } from '../../../../runtime/reconcile/rollout/status.ts'

const soaking = [{ ...stages[0], name: 'test', soak: '10m' }, { name: 'plant' }]
const entryOf = ({ status }: StagedFleet, n: number) => status.history?.find(({ commit }) => commit === commitOf(n))

void t.test('a completed rollout is recorded with its commit, and one in progress is not yet', async (t) => {
  const fleet = pushedFleet({ stages: soaking })
  fleet.settle()
  t.notOk(entryOf(fleet, 2)?.stages)
  fleet.wait(600_000)
  fleet.settle()
  matchObject(t, entryOf(fleet, 2), {
    outcome: 'Published',
    stages: [
      { name: 'test', gateways: 1, failed: 0, startedAt: '2026-03-02T12:00:00Z', finishedAt: '2026-03-02T12:10:00Z' },
      { name: 'plant', gateways: 3, failed: 0, finishedAt: '2026-03-02T12:10:00Z' },
    ],
  })
  t.notOk(entryOf(fleet, 1)?.stages, 'the first commit was not rolled out in stages')
})

void t.test('a failed rollout is recorded with the refusal and without the stages that never started', async (t) => {
  const fleet = pushedFleet({ stages, onFailure: 'Rollback' })
  fleet.harmful.add(commitOf(2))
  fleet.settle()
  matchObject(t, entryOf(fleet, 2), { outcome: 'Refused', by: 'rollout' })
  matchObject(t, entryOf(fleet, 2)?.stages, [{ name: 'test', gateways: 1, failed: 1, finishedAt: undefined }])
  t.equal(entryOf(fleet, 2)?.stages?.length, 1)
})

void t.test('a superseded rollout is recorded as far as it went, and a configuration rollout is not', async (t) => {
  const fleet = pushedFleet({ stages: soaking })
  fleet.settle()
  fleet.head = commitOf(3)
  fleet.settle()
  matchObject(t, entryOf(fleet, 2)?.stages, [{ name: 'test', gateways: 1, finishedAt: undefined }])
  fleet.wait(600_000)
  fleet.settle()
  const before = entryOf(fleet, 3)?.stages
  t.equal(before?.length, 2)
  const { sync } = fleet.spec
  fleet.spec = { ...fleet.spec, sync: { ...sync, defaults: { ...sync.defaults, vars: { db: 'new' } } } }
  fleet.settle()
  fleet.wait(600_000)
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Done' })
  t.strictSame(entryOf(fleet, 3)?.stages, before)
})

void t.test('the history of ten rollouts with the maximum number of stages stays bounded', async (t) => {
  const many = Array.from({ length: 16 }, (_, n) => ({ name: `${'a-very-long-name-of-a-stage'.repeat(2)}-${n}` }))
  const choosing = many.map((stage, n) => (n === 15 ? stage : { ...stage, selector: { names: [`gw-${n}`] } }))
  const fleet = stagedFleet({ stages: choosing }, Object.fromEntries(many.map((_, n) => [`gw-${n}`, {}])))
  fleet.settle()
  for (let n = 2; n < 14; n += 1) {
    fleet.head = commitOf(n)
    fleet.settle()
  }
  t.equal(
    fleet.status.history?.every(({ stages = [] }) => stages.length === 16),
    true,
  )
  const bytes = JSON.stringify(fleet.status).length
  t.ok(bytes < 48 * 1024, `${bytes} bytes`)
})

void t.test('a step records the stages that began, exactly once the rollout of a commit has ended or was replaced', async (t) => {
  const at = '2026-03-02T12:00:00Z'
  const begun = { name: 'test', gateways: 2, failed: 1, startedAt: at }
  const full = { ...begun, silent: 1, finishedAt: at, approvedBy: 'Ann' }
  const dropped = { updated: 1, held: 1, excused: 1 }
  const before: RolloutStatus = {
    state: 'Progressing',
    id: 'r1',
    commit: commitOf(2),
    configurations: {},
    startedAt: at,
    previous: { commit: commitOf(1), ref: 'main' },
    stages: [{ ...begun, ...dropped }],
  }
  const of = (n: number) => ({ commit: commitOf(n), ref: 'main', by: 'spec', at, outcome: 'Published' as const })
  const history: NonNullable<GatewaySyncStatus['history']> = [of(3), of(2), of(1)]
  const now: RolloutStatus = {
    ...before,
    stages: [
      { ...full, ...dropped },
      { name: 'plant', gateways: 3, failed: 0, updated: 0 },
    ],
  }
  const recorded = (stage: object) => [of(3), { ...of(2), stages: [stage] }, of(1)]
  const rows: [string, RolloutStatus | undefined, RolloutStatus | undefined, object[]][] = [
    ['no rollout', undefined, now, history],
    ['goes on', before, now, history],
    ['stopped', before, { ...now, state: 'Stopped' }, recorded(full)],
    ['stays stopped', { ...before, state: 'Stopped' }, { ...now, state: 'Stopped' }, history],
    ['resumed', { ...before, state: 'Stopped' }, now, history],
    ['done', before, { ...now, state: 'Done' }, recorded(full)],
    ['rolled back after it was stopped', { ...before, state: 'Stopped' }, { ...now, state: 'RolledBack' }, recorded(full)],
    ['was done', { ...before, state: 'Done' }, { ...now, id: 'r2' }, history],
    ['was rolled back', { ...before, state: 'RolledBack' }, undefined, history],
    ['replaced', before, { ...now, id: 'r2' }, recorded(begun)],
    ['removed', { ...before, state: 'Stopped' }, undefined, recorded(begun)],
    ['of a configuration', { ...before, previous: { commit: commitOf(2), ref: 'main' } }, { ...now, state: 'Done' }, history],
    ['without an earlier commit', { ...before, previous: undefined }, { ...now, state: 'Done' }, history],
    ['without a stage that began', { ...before, stages: [] }, undefined, history],
    ['of a commit that the history does not have', { ...before, commit: commitOf(9) }, undefined, history],
  ]
  for (const [name, one, other, expected] of rows) t.strictSame(withStages(history, one, other), expected, name)
})
