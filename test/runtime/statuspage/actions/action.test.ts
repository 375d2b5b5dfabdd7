/**
 * Tests the actions offered for a GatewaySync, and that each writes the same change as a push or the command line.
 */
import t from 'tap'
import type { SyncFacts } from '../../../../runtime/fleet/facts.ts'
import { actionNames, changeOf, offeredActions, parseAction } from '../../../../runtime/statuspage/actions/action.ts'
import { actionTextsIn } from '../../../../runtime/statuspage/locales/action-texts.ts'
import { containsText, matchObject, throwsError } from '../../../support/assertions.ts'
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

void t.test('a GatewaySync can sync, pause and roll back to an earlier published commit, but not to a refused one', async (t) => {
  const sync = syncFacts('line-1', { history })
  t.strictSame(offered(sync), ['sync', 'pause', `rollback ${earlier}`])
  t.strictSame(changeOf({ name: 'rollback', of: earlier }, sync, asking), {
    spec: { git: { ref: earlier, semver: null, tagPattern: null } },
  })
  for (const place of [commit, 'ab'.repeat(20), 'cd'.repeat(20), 'main', ''])
    throwsError(t, () => changeOf({ name: 'rollback', of: place }, sync, asking), { reason: 'InvalidConfiguration', message: /./ }, place)
})

void t.test('a GatewaySync pinned to a commit can follow its branch again', async (t) => {
  const pinned = syncFacts('line-1', { history }, { spec: { ...spec, git: { ...spec.git, ref: earlier } } })
  t.strictSame(offered(pinned), ['sync', 'pause', 'rollback main'])
  t.strictSame(changeOf({ name: 'rollback', of: 'main' }, pinned, asking), {
    spec: { git: { ref: 'main', semver: null, tagPattern: null } },
  })
  const published = [{ commit: earlier, ref: 'refs/tags/v1.4.0', specRef: 'semver:>=1.2,<2', at, outcome: 'Published' as const }]
  const followed = { ...pinned, status: { ...pinned.status, history: published } }
  const back = changeOf({ name: 'rollback', of: 'semver:>=1.2,<2' }, followed, asking)
  t.strictSame(back, { spec: { git: { ref: null, semver: '>=1.2,<2', tagPattern: null } } })
})

void t.test('a paused GatewaySync is resumed together with its stopped rollout', async (t) => {
  const rollout = { id: 'r-1', commit, state: 'Stopped' as const, startedAt: at, stages: [{ name: 'first' }] }
  const paused = syncFacts('line-1', { rollout: rollout as never }, { spec: { ...spec, paused: true } })
  t.strictSame(offered(paused), ['sync', `resume r-1 ${commit}`, `abort r-1 ${commit}`])
  const change = changeOf({ name: 'resume', of: `r-1 ${commit}` }, paused, asking)
  matchObject(t, change, { spec: { paused: false }, metadata: { annotations: { 'clustersync.io/rollout-action': 'resume r-1' } } })
  t.equal(change.metadata?.annotations['clustersync.io/rollout-action-by'], 'status page: ann')
  t.strictSame(changeOf({ name: 'pause', of: '' }, paused, asking), { spec: { paused: true } })
})

void t.test('the waiting stage is approved, and only by its name', async (t) => {
  const stages = [{ name: 'first' }, { name: 'second' }]
  const rollout = { id: 'r-1', commit, state: 'Progressing', stage: 'second', waitsFor: 'Approval', startedAt: at, stages }
  const sync = syncFacts('line-1', { rollout: rollout as never })
  t.strictSame(offered(sync), ['sync', 'pause', `approve r-1 ${commit} second`, `abort r-1 ${commit}`])
  const { metadata } = changeOf({ name: 'approve', of: `r-1 ${commit} second` }, sync, asking)
  t.equal(metadata?.annotations['clustersync.io/rollout-action'], 'approve r-1 second')
  throwsError(t, () => changeOf({ name: 'approve', of: `r-1 ${commit} third` }, sync, asking), {
    reason: 'InvalidConfiguration',
    message: /./,
  })
  throwsError(t, () => changeOf({ name: 'abort', of: '' }, syncFacts('line-1'), asking), { reason: 'InvalidConfiguration', message: /./ })
})

void t.test('an action on a rollout is refused unless it names the current rollout and commit', async (t) => {
  const stages = [{ name: 'first' }, { name: 'second' }]
  const rollout = { id: 'r-2', commit, state: 'Stopped', stage: 'second', waitsFor: 'Approval', startedAt: at, stages }
  const now = syncFacts('line-1', { rollout: rollout as never })
  const looks = ['', 'second', ' ', `r-1 ${commit}`, `r-1 ${earlier}`, `r-2 ${earlier}`, 'r-2']
  for (const name of ['approve', 'abort', 'resume'] as const) {
    for (const look of looks) {
      const of = name === 'approve' && look !== '' ? `${look} second` : look
      throwsError(t, () => changeOf({ name, of }, now, asking), { reason: 'InvalidConfiguration', message: /./ }, `${name} ${of}`)
    }
    const of = name === 'approve' ? `r-2 ${commit} second` : `r-2 ${commit}`
    t.ok(changeOf({ name, of }, now, asking).metadata)
    containsText(t, actionTextsIn('en').byAction[name].means(of), commit.slice(0, 8))
    containsText(t, actionTextsIn('de').byAction[name].means(of), commit.slice(0, 8))
  }
  t.match(actionTextsIn('en').byAction.approve.label(`r-2 ${commit} second`), /stage second$/)
  throwsError(t, () => changeOf({ name: 'resume', of: `r-1 ${commit}` }, syncFacts('line-1'), asking), {
    reason: 'InvalidConfiguration',
    message: /no rollout/,
  })
})

void t.test('deletions are confirmed for the displayed commit if a gateway holds it back', async (t) => {
  const sync = syncFacts('line-1')
  t.strictSame(offered(sync, 'MassDeletion'), ['sync', 'pause', `confirm-deletions ${commit}`])
  t.strictSame(changeOf({ name: 'confirm-deletions', of: commit }, sync, asking), {
    metadata: { annotations: { 'clustersync.io/confirm-deletions': commit } },
  })
  throwsError(t, () => changeOf({ name: 'confirm-deletions', of: earlier }, sync, asking), { reason: 'InvalidConfiguration', message: /./ })
})

void t.test('overwriting local changes is confirmed for exactly the commit that a gateway holds back', async (t) => {
  const sync = syncFacts('line-1')
  t.strictSame(offered(sync, 'LocalChanges'), ['sync', 'pause', `confirm-overwrites ${commit}`])
  t.strictSame(changeOf({ name: 'confirm-overwrites', of: commit }, sync, asking), {
    metadata: { annotations: { 'clustersync.io/confirm-overwrites': commit } },
  })
  throwsError(t, () => changeOf({ name: 'confirm-overwrites', of: earlier }, sync, asking), {
    reason: 'InvalidConfiguration',
    message: /./,
  })
})

void t.test('local changes can be captured if there are any and the spec enables capture', async (t) => {
  const sync = syncFacts('line-1', {}, { spec: { ...spec, capture: { branch: 'captured' } } })
  t.strictSame(offered(sync), ['sync', 'pause'], 'there is nothing to capture')
  t.strictSame(offered(sync, undefined, true), ['sync', 'pause', 'capture'])
  t.strictSame(offered(sync, 'LocalChanges'), ['sync', 'pause', `confirm-overwrites ${commit}`, 'capture'])
  t.strictSame(offered(syncFacts('line-1'), undefined, true), ['sync', 'pause'])
  matchObject(t, changeOf({ name: 'capture', of: '' }, sync, asking).metadata?.annotations, {
    'clustersync.io/capture-requested-by': 'status page: ann',
    'clustersync.io/capture-gateway': null,
  })
  throwsError(t, () => changeOf({ name: 'capture', of: '' }, syncFacts('line-1'), asking), { reason: 'InvalidConfiguration', message: /./ })
})

void t.test('a path segment is parsed as an action or rejected', async (t) => {
  for (const name of actionNames) t.strictSame(parseAction(name, undefined), { name, of: '' })
  for (const name of ['', 'Sync', 'constructor', '__proto__']) t.equal(parseAction(name, ''), undefined, name)
  t.equal(parseAction('rollback', 'x'.repeat(256)), undefined)
})
