/**
 * What is offered on the page of a GatewaySync, and that each of it writes what a push or the command line writes.
 */
import t from 'tap'
import type { SyncFacts } from '../../../../runtime/fleet/facts.ts'
import { actionNames, changeOf, offeredActions, parseAction } from '../../../../runtime/statuspage/actions/action.ts'
import { actionWordsIn } from '../../../../runtime/statuspage/actions/action-words.ts'
import { commit, earlier, syncFacts } from '../../../support/fleet-facts.ts'

const asking = { by: 'status page: ann', at: '2026-03-01T12:00:00Z', id: '01234567-89ab' }
const at = '2026-03-01T10:00:00Z'
const history = [
  { commit, ref: 'main', at, outcome: 'Published' as const },
  { commit: 'ab'.repeat(20), ref: 'main', at, outcome: 'Refused' as const },
  { commit: earlier, ref: 'main', at, outcome: 'Published' as const },
]
const spec = { git: { repo: 'https://git.example/plant.git', ref: 'main' } }
const offered = (sync: SyncFacts, reason?: string, hasLocalChanges = false): string[] =>
  offeredActions(sync, [{ reason }], hasLocalChanges).map(({ name, of }) => (of === '' ? name : `${name} ${of}`))

void t.test('a GatewaySync is synced or paused, and goes back to what was published before, and to nothing that was refused', async (t) => {
  const sync = syncFacts('line-1', { history })
  t.same(offered(sync), ['sync', 'pause', `rollback ${earlier}`])
  t.same(changeOf({ name: 'rollback', of: earlier }, sync, asking), { spec: { git: { ref: earlier } } })
  for (const place of [commit, 'ab'.repeat(20), 'cd'.repeat(20), 'main', ''])
    t.throws(() => changeOf({ name: 'rollback', of: place }, sync, asking), { reason: 'InvalidConfiguration', message: /./ }, place)
})

void t.test('one that follows a commit can follow its branch again', async (t) => {
  const pinned = syncFacts('line-1', { history }, { spec: { ...spec, git: { ...spec.git, ref: earlier } } })
  t.same(offered(pinned), ['sync', 'pause', 'rollback main'])
  t.same(changeOf({ name: 'rollback', of: 'main' }, pinned, asking), { spec: { git: { ref: 'main' } } })
})

void t.test('a paused one is resumed, and with it a rollout that has stopped', async (t) => {
  const rollout = { id: 'r-1', commit, state: 'Stopped' as const, startedAt: at, stages: [{ name: 'first' }] }
  const paused = syncFacts('line-1', { rollout: rollout as never }, { spec: { ...spec, paused: true } })
  t.same(offered(paused), ['sync', `resume r-1 ${commit}`, `abort r-1 ${commit}`])
  const change = changeOf({ name: 'resume', of: `r-1 ${commit}` }, paused, asking)
  t.match(change, { spec: { paused: false }, metadata: { annotations: { 'clustersync.io/rollout-action': 'resume r-1' } } })
  t.equal(change.metadata?.annotations['clustersync.io/rollout-action-by'], 'status page: ann')
  t.same(changeOf({ name: 'pause', of: '' }, paused, asking), { spec: { paused: true } })
})

void t.test('the stage that waits is approved, and only by its name', async (t) => {
  const stages = [{ name: 'first' }, { name: 'second' }]
  const rollout = { id: 'r-1', commit, state: 'Progressing', stage: 'second', waitsFor: 'Approval', startedAt: at, stages }
  const sync = syncFacts('line-1', { rollout: rollout as never })
  t.same(offered(sync), ['sync', 'pause', `approve r-1 ${commit} second`, `abort r-1 ${commit}`])
  const { metadata } = changeOf({ name: 'approve', of: `r-1 ${commit} second` }, sync, asking)
  t.equal(metadata?.annotations['clustersync.io/rollout-action'], 'approve r-1 second')
  t.throws(() => changeOf({ name: 'approve', of: `r-1 ${commit} third` }, sync, asking), { reason: 'InvalidConfiguration', message: /./ })
  t.throws(() => changeOf({ name: 'abort', of: '' }, syncFacts('line-1'), asking), { reason: 'InvalidConfiguration', message: /./ })
})

void t.test('nobody approves, aborts or resumes a rollout that they have not looked at', async (t) => {
  const stages = [{ name: 'first' }, { name: 'second' }]
  const rollout = { id: 'r-2', commit, state: 'Stopped', stage: 'second', waitsFor: 'Approval', startedAt: at, stages }
  const now = syncFacts('line-1', { rollout: rollout as never })
  const looks = ['', 'second', ' ', `r-1 ${commit}`, `r-1 ${earlier}`, `r-2 ${earlier}`, 'r-2']
  for (const name of ['approve', 'abort', 'resume'] as const) {
    for (const look of looks) {
      const of = name === 'approve' && look !== '' ? `${look} second` : look
      t.throws(() => changeOf({ name, of }, now, asking), { reason: 'InvalidConfiguration', message: /./ }, `${name} ${of}`)
    }
    const of = name === 'approve' ? `r-2 ${commit} second` : `r-2 ${commit}`
    t.ok(changeOf({ name, of }, now, asking).metadata)
    t.match(actionWordsIn('en').told[name].means(of), commit.slice(0, 8))
    t.match(actionWordsIn('de').told[name].means(of), commit.slice(0, 8))
  }
  t.match(actionWordsIn('en').told.approve.label(`r-2 ${commit} second`), /stage second$/)
  t.throws(() => changeOf({ name: 'resume', of: `r-1 ${commit}` }, syncFacts('line-1'), asking), {
    reason: 'InvalidConfiguration',
    message: /no rollout/,
  })
})

void t.test('deletions are confirmed for the commit that was looked at, where a gateway holds it back', async (t) => {
  const sync = syncFacts('line-1')
  t.same(offered(sync, 'MassDeletion'), ['sync', 'pause', `confirm-deletions ${commit}`])
  t.same(changeOf({ name: 'confirm-deletions', of: commit }, sync, asking), {
    metadata: { annotations: { 'clustersync.io/confirm-deletions': commit } },
  })
  t.throws(() => changeOf({ name: 'confirm-deletions', of: earlier }, sync, asking), { reason: 'InvalidConfiguration', message: /./ })
})

void t.test(
  'a commit that a gateway holds back for local changes may overwrite them, once somebody has agreed to that commit',
  async (t) => {
    const sync = syncFacts('line-1')
    t.same(offered(sync, 'LocalChanges'), ['sync', 'pause', `confirm-overwrites ${commit}`])
    t.same(changeOf({ name: 'confirm-overwrites', of: commit }, sync, asking), {
      metadata: { annotations: { 'clustersync.io/confirm-overwrites': commit } },
    })
    t.throws(() => changeOf({ name: 'confirm-overwrites', of: earlier }, sync, asking), { reason: 'InvalidConfiguration', message: /./ })
  },
)

void t.test('changes of gateways are captured where there are some and the spec says so', async (t) => {
  const sync = syncFacts('line-1', {}, { spec: { ...spec, capture: { branch: 'captured' } } })
  t.same(offered(sync), ['sync', 'pause'], 'there is nothing to capture')
  t.same(offered(sync, undefined, true), ['sync', 'pause', 'capture'])
  t.same(offered(sync, 'LocalChanges'), ['sync', 'pause', `confirm-overwrites ${commit}`, 'capture'])
  t.same(offered(syncFacts('line-1'), undefined, true), ['sync', 'pause'])
  t.match(changeOf({ name: 'capture', of: '' }, sync, asking).metadata?.annotations, {
    'clustersync.io/capture-requested-by': 'status page: ann',
    'clustersync.io/capture-gateway': null,
  })
  t.throws(() => changeOf({ name: 'capture', of: '' }, syncFacts('line-1'), asking), { reason: 'InvalidConfiguration', message: /./ })
})

void t.test('whatever a path names is an action or none', async (t) => {
  for (const name of actionNames) t.same(parseAction(name, undefined), { name, of: '' })
  for (const name of ['', 'Sync', 'constructor', '__proto__']) t.equal(parseAction(name, ''), undefined, name)
  t.equal(parseAction('rollback', 'x'.repeat(256)), undefined)
})
