/**
 * Tests that what a gateway depends on is not deleted without a confirmation: its deployment mode, a project, and singletons of core.
 */
import t from 'tap'
import type { SyncTarget } from '../../../../runtime/sync/cycle.ts'
import { matchObject } from '../../../support/assertions.ts'
import { memorySource, profileOf, type Tree, desiredOf } from '../../../support/memory-source.ts'
import { syncedFolder } from '../../../support/synced-folder.ts'

const root = 'services/config/resources'
const manifest = (parent: string): string => JSON.stringify({ title: 'x', description: '', enabled: true, inheritable: true, parent })
const only = 'ignition/system-properties/resource.json'
const tree: Tree = {
  [`${root}/core/config-mode.json`]: manifest('external'),
  [`${root}/core/${only}`]: '{}',
  [`${root}/core/ignition/quickstart/resource.json`]: '{}',
  [`${root}/core/ignition/schedule/day/resource.json`]: '{}',
  [`${root}/prd/config-mode.json`]: manifest('core'),
  [`${root}/prd/ignition/schedule/day/resource.json`]: '{"prd":true}',
  [`${root}/test/config-mode.json`]: manifest('core'),
  'projects/line/project.json': '{}',
  'projects/line/ignition/script-python/a/code.py': '',
  'projects/hall/project.json': '{}',
}
const mappings = [{ source: 'projects', destination: 'projects' }]
const profile = profileOf(mappings, { collections: { root, mode: 'auto' } })
const without = (...gone: string[]): Tree =>
  Object.fromEntries(Object.entries(tree).filter(([file]) => !gone.some((each) => file === each || file.startsWith(`${each}/`))))
const renamed = (from: string, to: string): Tree =>
  Object.fromEntries(Object.entries(tree).map(([file, text]) => [file.replace(`/${from}/`, `/${to}/`), text]))

const rows: { commit: string; tree: Tree; refused?: RegExp }[] = [
  { commit: 'renames the mode that the gateway runs with', tree: renamed('prd', 'production'), refused: /its deployment mode "prd"/ },
  { commit: 'removes it', tree: without(`${root}/prd`), refused: /its deployment mode "prd"/ },
  { commit: 'removes another mode', tree: without(`${root}/test`) },
  { commit: 'removes a project', tree: without('projects/line'), refused: /the project "line"/ },
  { commit: 'renames a project', tree: renamed('line', 'line-1'), refused: /the project "line"/ },
  { commit: 'removes the manifest of a project', tree: without('projects/line/project.json'), refused: /the project "line"/ },
  { commit: 'removes what a project holds', tree: without('projects/line/ignition') },
  {
    commit: 'removes what core has one of',
    tree: without(`${root}/core/${only}`),
    refused: /the only ignition\/system-properties of core/,
  },
  {
    commit: 'moves it to external',
    tree: {
      ...without(`${root}/core/${only}`),
      [`${root}/external/config-mode.json`]: manifest('system'),
      [`${root}/external/${only}`]: '{}',
    },
  },
  { commit: 'removes what a gateway makes at its first boot', tree: without(`${root}/core/ignition/quickstart`) },
  { commit: 'removes a resource that has a name', tree: without(`${root}/core/ignition/schedule`) },
]

for (const { commit, tree: next, refused } of rows) {
  void t.test(`a commit that ${commit} is ${refused === undefined ? 'brought in place' : 'refused until it is confirmed'}`, async (t) => {
    const { sync, files, dataDir } = syncedFolder(t, 'danger')
    const { facts } = desiredOf(dataDir, memorySource().commit({}), profileOf([]))
    const runs: Partial<SyncTarget> = { facts: { ...facts, mode: { name: 'prd', from: 'Gateway' } } }
    t.equal((await sync(tree, profile, runs)).phase, 'Synced')
    const before = files()
    const result = await sync(next, profile, runs)
    if (refused === undefined) {
      t.equal(result.phase, 'Synced')
      return
    }
    matchObject(t, result, { phase: 'Blocked', reason: 'ModeRemoved', message: refused })
    t.match(result.message, new RegExp(`: ${memorySource().commit(next)}$`), 'the commit to confirm is named')
    t.strictSame(files(), before, 'nothing is written')
    t.equal((await sync(next, profile, { ...runs, confirmDeletions: memorySource().commit(next) })).phase, 'Synced')
  })
}

void t.test('a gateway that starts with another mode loses the files of the earlier one', async (t) => {
  const { sync, dataDir } = syncedFolder(t, 'danger')
  const { facts } = desiredOf(dataDir, memorySource().commit({}), profileOf([]))
  const inMode = (name: string): Partial<SyncTarget> => ({ facts: { ...facts, mode: { name, from: 'Gateway' } } })
  t.equal((await sync(tree, profile, inMode('prd'))).phase, 'Synced')
  t.equal((await sync(tree, profile, inMode('test'))).phase, 'Synced')
})

void t.test('a mode folder delivered by mappings alone is not deleted without a confirmation either', async (t) => {
  const { sync, files, dataDir } = syncedFolder(t, 'danger')
  const { facts } = desiredOf(dataDir, memorySource().commit({}), profileOf([]))
  const runs: Partial<SyncTarget> = { facts: { ...facts, mode: { name: 'prd', from: 'Gateway' } } }
  const mapped = profileOf([{ source: 'services', destination: '.' }])
  t.equal((await sync(tree, mapped, runs)).phase, 'Synced')
  const before = files()
  matchObject(t, await sync(without(`${root}/prd`), mapped, runs), {
    phase: 'Blocked',
    reason: 'ModeRemoved',
    message: /its deployment mode "prd"/,
  })
  t.strictSame(files(), before)
  t.equal((await sync(without(`${root}/test`), mapped, runs)).phase, 'Synced', 'another mode may go')
})
