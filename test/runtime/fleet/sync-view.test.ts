/**
 * How `status` shows the followed ref, and a rollout in each of its states with the command that it suggests.
 */
import t from 'tap'
import { fleetView } from '../../../runtime/fleet/fleet-view.ts'
import { syncText } from '../../../runtime/fleet/status-text.ts'
import type { RolloutStatus } from '../../../runtime/api/schema/rollout-status.ts'
import { syncDetail } from '../../../runtime/fleet/sync-detail.ts'
import { rolloutView } from '../../../runtime/fleet/sync-view.ts'
import { containsText } from '../../support/assertions.ts'
import { commit, condition, earlier, fleetFacts, now, syncFacts } from '../../support/fleet-facts.ts'

const plain = { width: 120, color: false, symbols: false }
const going: RolloutStatus = {
  state: 'Progressing',
  id: 'r1',
  commit,
  configurations: {},
  startedAt: '2026-03-01T11:00:00Z',
  stage: 'plant',
  waitsFor: 'Gateways',
  stages: [
    {
      name: 'test',
      gateways: 1,
      updated: 1,
      failed: 0,
      startedAt: '2026-03-01T11:00:00Z',
      finishedAt: '2026-03-01T11:30:00Z',
      approvedBy: 'ann',
    },
    { name: 'plant', gateways: 3, updated: 1, failed: 0, startedAt: '2026-03-01T11:30:00Z' },
  ],
}

function shown(change: Partial<RolloutStatus>): { level: string | undefined; text: string } {
  const conditions = [condition('Ready', 'False', 'GatewaysPending', 'some')]
  const view = fleetView(fleetFacts({ syncs: [syncFacts('plant', { conditions, rollout: { ...going, ...change } })] }), now)
  return { level: view.syncs[0]?.rollout?.level, text: syncText(view, now, plain).join('\n') }
}

void t.test('each stage is a line with its progress, its times and its approver', (t) => {
  const { text, level } = shown({})
  t.equal(level, 'working')
  t.match(text, /^Rollout: commit 1a2b3c4d, stage plant: gateways are applying the commit$/m)
  t.match(text, /^test +1\/1 +0 +0 +60m +30m +ann$/m)
  t.match(text, /^plant +1\/3 +0 +0 +30m +- +-$/m)
  t.end()
})

void t.test('a stage that finished without all of its gateways is a warning', (t) => {
  const [done, ...others] = going.stages ?? []
  if (done === undefined) throw new Error('no stage')
  const rollout = { ...going, stages: [{ ...done, gateways: 2, silent: 1 }, ...others] }
  t.match(shown(rollout).text, /^test +1\/2 +0 +1 +60m +30m +ann$/m)
  t.equal(rolloutView(rollout)?.stages[0]?.level, 'warning')
  t.equal(rolloutView(going)?.stages[0]?.level, 'ok')
  t.equal(rolloutView({ ...rollout, state: 'Stopped' })?.stages[0]?.level, 'warning')
  for (const state of ['Done', 'RolledBack'] as const) {
    t.equal(rolloutView({ ...rollout, state })?.stages[0]?.level, 'ok', `${state}: it may long be everybody, and nobody counts any more`)
  }
  t.end()
})

for (const [name, change, level, says] of [
  ['a stage that is watched', { waitsFor: 'Soak' }, 'working', /the soak time is running/],
  ['a stage that waits for an approval', { waitsFor: 'Approval' }, 'working', /Approve stage plant: cluster-sync approve plant -n plant-a/],
  ['a window that is closed', { waitsFor: 'Window' }, 'working', /stage plant: waiting for the next window/],
  [
    'gateways with local changes',
    { stages: [{ name: 'plant', gateways: 3, updated: 1, failed: 0, held: 2 }] },
    'working',
    /stage plant: 2 gateways wait until their local changes are captured or discarded/,
  ],
  [
    'a rollout that stands',
    { state: 'Stopped', message: '1 of 3 gateways of stage plant failed: gw-b: NewProblems' },
    'error',
    /stage plant: stopped[^]*gw-b: NewProblems[^]*cluster-sync resume plant[^]*cluster-sync abort plant/,
  ],
  [
    'a rollout that went back',
    { state: 'RolledBack', commit: earlier, refused: { commit, ref: 'main' } },
    'error',
    /gateways returned from commit 1a2b3c4d to 99887766[^]*retry this one: cluster-sync resume plant/,
  ],
  ['a rollout that is done', { state: 'Done' }, 'ok', /commit 1a2b3c4d is rolled out to every stage/],
] as const) {
  void t.test(name, (t) => {
    const found = shown(change as Partial<RolloutStatus>)
    t.equal(found.level, level)
    containsText(t, found.text, says)
    t.end()
  })
}

void t.test('a requested ref is shown with the ref whose pushes it stops, and with how to end that', (t) => {
  const text = (ref: string): string => {
    const source = { ref, commit, requested: { ref, by: 'manual', at: '2026-03-01T11:00:00Z', id: 'r1', specRef: 'main' } }
    const view = fleetView(fleetFacts({ syncs: [syncFacts('plant', { source })] }), now)
    return syncText(view, now, { ...plain, width: 300 }).join('\n')
  }
  t.match(
    text('v2'),
    /^ {2}desired +v2, requested by manual: .*\n +requested instead of main; pushes to main are ignored until another request is made or the annotation clustersync\.io\/requested-ref is removed$/m,
  )
  t.notMatch(text('main'), /instead of/)
  t.end()
})

void t.test('the views of a GatewaySync parse its spec once', async (t) => {
  let reads = 0
  const plain = syncFacts('plant')
  const spec = new Proxy(plain.spec as object, {
    get(target, key) {
      if (key === 'git') reads += 1
      return Reflect.get(target, key) as unknown
    },
  })
  const facts = fleetFacts({ syncs: [{ ...plain, spec }] })
  const [first] = fleetView(facts, now).syncs
  const once = reads
  t.ok(once > 0 && first?.repo !== undefined)
  const [again] = fleetView(facts, now).syncs
  if (again !== undefined) syncDetail(facts, again, now)
  t.equal(reads, once)
})
