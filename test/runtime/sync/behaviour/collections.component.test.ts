/**
 * The collections shorthand on a real folder, and findings that stand as long as they are true.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import type { ResolvedProfile } from '../../../../runtime/gatewaysync/decide/profile.ts'
import type { CycleResult, Wanted } from '../../../../runtime/sync/cycle.ts'
import { memorySource, profileOf, type Tree, wantedOf } from '../../../support/memory-source.ts'
import { syncedFolder } from '../../../support/synced-folder.ts'

function inMode(dataDir: string, name: string, from: 'argument' | 'none' = 'argument'): Partial<Wanted> {
  const { facts } = wantedOf(dataDir, memorySource().commit({}), profileOf([]))
  return { facts: { ...facts, mode: { name, from } } }
}

const auto = { collections: { root: 'services/config/resources', mode: 'auto' } } as Partial<ResolvedProfile>
const manifest = (parent: string): string => JSON.stringify({ title: 'x', description: '', enabled: true, inheritable: true, parent })
const root = 'services/config/resources'
const tree: Tree = {
  [`${root}/external/config-mode.json`]: manifest('system'),
  [`${root}/core/config-mode.json`]: manifest('external'),
  [`${root}/core/ignition/schedule/a/resource.json`]: '{}',
  [`${root}/core/ignition/schedule/a/backupConfig.json`]: '{"backup":true}',
  [`${root}/site/config-mode.json`]: manifest('core'),
  [`${root}/site/ignition/schedule/s/resource.json`]: '{}',
  [`${root}/Dev/config-mode.json`]: manifest('site'),
  [`${root}/Dev/ignition/schedule/a/resource.json`]: '{"dev":true}',
  [`${root}/prod/config-mode.json`]: manifest('core'),
  [`${root}/prod/ignition/schedule/p/resource.json`]: '{}',
  [`${root}/local/config-mode.json`]: manifest('Dev'),
  [`${root}/local/ignition/schedule/l/resource.json`]: '{}',
  [`${root}/.resources/0a`]: 'cache',
}
const collections = (...names: string[]): string[] =>
  Object.keys(tree)
    .filter((file) => names.some((name) => file.startsWith(`${root}/${name}/`)))
    .map((file) => file.replace('services/', ''))
    .toSorted()

void t.test('a mode is delivered with its whole chain of parents, backupConfig.json too, another mode and local never', async (t) => {
  const { sync, files, dataDir } = syncedFolder(t, 'collections')
  const profile = profileOf([], auto)
  const result = await sync(tree, profile, inMode(dataDir, 'dev'))
  t.match(result, { phase: 'Synced', mode: { name: 'dev', from: 'argument' } })
  t.same(files(), collections('external', 'core', 'site', 'Dev'))
  const core = path.join(dataDir, 'config/resources/core/ignition/schedule/a')
  t.equal(readFileSync(path.join(core, 'backupConfig.json'), 'utf8'), '{"backup":true}')

  t.match(await sync(tree, profile, inMode(dataDir, 'prod')), { phase: 'Synced', files: { added: 2, removed: 4, changed: 0 } })
  t.same(files(), collections('external', 'core', 'prod'), 'what the other mode delivered is gone')

  const reparented = { ...tree, [`${root}/prod/config-mode.json`]: manifest('site') }
  t.equal((await sync(reparented, profile, inMode(dataDir, 'prod'))).phase, 'Synced')
  t.same(files(), collections('external', 'core', 'prod', 'site'), 'a new parent comes with the commit that names it')
})

void t.test('a base in another spelling is delivered as what it is to the gateway, and not beside it', async (t) => {
  const { sync, files, dataDir } = syncedFolder(t, 'collections')
  const spelled = Object.fromEntries(Object.entries(tree).map(([file, text]) => [file.replace('/core/', '/Core/'), text]))
  t.equal((await sync(spelled, profileOf([], auto), inMode(dataDir, 'prod'))).phase, 'Synced')
  t.same(files(), collections('external', 'core', 'prod'))
})

void t.test('a mode that is not known, and one without a folder, are findings in every report until they are put right', async (t) => {
  const { sync, files, dataDir, memory } = syncedFolder(t, 'collections')
  const profile = profileOf([], auto)
  const rules = ({ findings = [] }: CycleResult): string[] => findings.map(({ rule }) => rule)
  for (let round = 0; round < 2; round += 1) t.same(rules(await sync(tree, profile, inMode(dataDir, '', 'none'))), ['mode-unknown'])
  t.same(files(), collections('external', 'core'))
  t.same(rules(await sync(tree, profile, inMode(dataDir, ''))), [], 'a gateway that is known to have none is no finding')
  t.same(rules(await sync(tree, profile, inMode(dataDir, 'test'))), ['mode-without-folder'])
  t.same(rules(await sync(tree, profile, inMode(dataDir, 'test'))), ['mode-without-folder'], 'when nothing changed')
  const other = { ...tree, [`${root}/core/ignition/schedule/a/resource.json`]: '{"other":1}' }
  t.same(rules(await sync(other, profile, inMode(dataDir, 'test'))), ['mode-without-folder'], 'after a difference that says nothing of it')
  memory.manifest = undefined
  t.same(rules(await sync(other, profile, inMode(dataDir, 'test'))), ['mode-without-folder'], 'after a restart')
  const withTest = { ...other, [`${root}/test/config-mode.json`]: manifest('core') }
  t.same(rules(await sync(withTest, profile, inMode(dataDir, 'test'))), [])
})

void t.test('a mode that was known and is not known now takes no file away, until somebody names a mode again', async (t) => {
  const { sync, files, dataDir, memory } = syncedFolder(t, 'collections')
  const profile = profileOf([], auto)
  const unknown = inMode(dataDir, '', 'none')
  t.equal((await sync(tree, profile, inMode(dataDir, 'prod'))).phase, 'Synced')
  const prod = collections('external', 'core', 'prod')
  for (const restarted of [false, true]) {
    if (restarted) memory.manifest = undefined
    const result = await sync(tree, profile, unknown)
    t.match(result, { phase: 'Pending', reason: 'ModeUnknown', message: /"prod"/, mode: { name: 'prod', from: 'argument' } })
    t.same(
      result.findings?.map(({ rule }) => rule),
      ['mode-unknown'],
    )
    t.same(files(), prod, restarted ? 'after a restart' : 'in the same process')
  }
  const changed = { ...tree, [`${root}/prod/ignition/schedule/p/resource.json`]: '{"new":1}' }
  t.match(await sync(changed, profile, unknown), { reason: 'ModeUnknown', files: { changed: 1, removed: 0 } }, 'a commit goes on')
  t.same(files(), prod)
  const fixed = profileOf([], { collections: { root, mode: 'dev' } })
  t.match(await sync(changed, fixed, unknown), { phase: 'Synced', mode: { name: 'dev', from: 'spec' } }, 'the spec names one')
  t.same(files(), collections('external', 'core', 'site', 'Dev'))
  t.match(await sync(changed, profile, unknown), { reason: 'ModeUnknown', mode: { name: 'dev', from: 'spec' } }, 'and names it no more')
  t.match(await sync(changed, profile, inMode(dataDir, '')), { phase: 'Synced', files: { removed: 4 } }, 'known to have none')
  t.same(files(), collections('external', 'core'))
  t.match(await sync(changed, profile, unknown), { phase: 'Synced' }, 'there is nothing of a mode to keep')
})

void t.test('the state of a version that remembered no mode still tells it by its chain of collections', async (t) => {
  const { sync, files, dataDir, memory } = syncedFolder(t, 'collections')
  const profile = profileOf([], auto)
  await sync(tree, profile, inMode(dataDir, 'dev'))
  delete memory.manifest?.state?.mode
  t.match(await sync(tree, profile, inMode(dataDir, '', 'none')), { phase: 'Pending', reason: 'ModeUnknown', mode: { name: 'Dev' } })
  t.same(files(), collections('external', 'core', 'site', 'Dev'))
})

void t.test('a config-mode.json that cannot be read takes away no parent of its mode', async (t) => {
  const { sync, files, dataDir } = syncedFolder(t, 'collections')
  const profile = profileOf([], auto)
  const delivered = collections('external', 'core', 'site', 'Dev')
  await sync(tree, profile, inMode(dataDir, 'dev'))
  for (const unreadable of ['{"parent": "si', ' '.repeat(65 * 1024)]) {
    const result = await sync({ ...tree, [`${root}/Dev/config-mode.json`]: unreadable }, profile, inMode(dataDir, 'dev'))
    t.match(result.findings, [{ rule: 'parents-unknown', path: 'Dev/config-mode.json', message: /site/ }])
    t.same(files(), delivered)
  }
})

void t.test('a gateway that is set to start in another mode than it runs in is a finding, and gets what it runs in', async (t) => {
  const { sync, files, dataDir } = syncedFolder(t, 'collections')
  const running = inMode(dataDir, 'prod')
  const facts = running.facts
  if (facts === undefined) return
  const mode = { name: 'prod', from: 'gateway', configured: { name: 'dev', from: 'argument' } } as const
  const result = await sync(tree, profileOf([], auto), { facts: { ...facts, mode } })
  t.match(result.findings, [{ rule: 'mode-differs', message: /runs in mode "prod" and is set to start in mode "dev" \(argument\)/ }])
  t.same(result.mode, { name: 'prod', from: 'gateway' })
  t.same(files(), collections('external', 'core', 'prod'))
})

void t.test('a finding stands while its file does, and what happened once is said until the next commit', async (t) => {
  const { sync } = syncedFolder(t, 'collections')
  const profile = profileOf([
    {
      source: 'projects',
      destination: 'projects',
      patches: [
        { file: '*.json', set: { missing: 'x' } },
        { file: 'projects/*.xml', set: { a: 'x' } },
      ],
    },
    { source: 'extra', destination: 'extra', required: false },
  ])
  const said = ({ findings = [] }: CycleResult): string[] => findings.map(({ rule, path: file }) => `${rule} ${file}`).toSorted()
  const first = { 'projects/a.json': '{"a":1}', 'projects/b.json': '{"b":1}' }
  const noFile = 'patch-without-file projects/*.xml'
  const all = [noFile, 'patch-without-match projects/a.json', 'patch-without-match projects/b.json', 'source-absent extra']
  t.same(said(await sync(first, profile)), all)
  t.same(said(await sync(first, profile)), all, 'also when nothing changed')
  const second = { ...first, 'projects/b.json': '{"b":1,"missing":""}' }
  t.same(said(await sync(second, profile)), [noFile, 'patch-without-match projects/a.json', 'source-absent extra'])
  t.same(said(await sync({ 'projects/b.json': second['projects/b.json'], 'extra/x': 'x' }, profile)), [noFile])
  const found = await sync({ 'projects/projects/x.xml': '{"a":""}', 'projects/b.json': second['projects/b.json'], 'extra/x': 'x' }, profile)
  t.same(said(found), [])
})
