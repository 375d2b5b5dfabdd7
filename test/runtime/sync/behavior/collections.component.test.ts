/**
 * Tests the collections shorthand on a real folder, and that findings persist while they apply.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import type { ResolvedProfile } from '../../../../runtime/api/schema/profile.ts'
import type { CycleResult, SyncTarget } from '../../../../runtime/sync/cycle.ts'
import { matchObject } from '../../../support/assertions.ts'
import { memorySource, profileOf, type Tree, desiredOf } from '../../../support/memory-source.ts'
import { syncedFolder } from '../../../support/synced-folder.ts'

function inMode(dataDir: string, name: string, from: 'Argument' | 'None' = 'Argument'): Partial<SyncTarget> {
  const { facts } = desiredOf(dataDir, memorySource().commit({}), profileOf([]))
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

void t.test('a mode is delivered with all its parents and backupConfig.json, without other modes and local', async (t) => {
  const { sync, files, dataDir } = syncedFolder(t, 'collections')
  const profile = profileOf([], auto)
  const result = await sync(tree, profile, inMode(dataDir, 'dev'))
  matchObject(t, result, { phase: 'Synced', mode: { name: 'dev', from: 'Argument' } })
  t.strictSame(files(), collections('external', 'core', 'site', 'Dev'))
  const core = path.join(dataDir, 'config/resources/core/ignition/schedule/a')
  t.equal(readFileSync(path.join(core, 'backupConfig.json'), 'utf8'), '{"backup":true}')

  matchObject(t, await sync(tree, profile, inMode(dataDir, 'prod')), { phase: 'Synced', files: { added: 2, removed: 4, changed: 0 } })
  t.strictSame(files(), collections('external', 'core', 'prod'), 'what the other mode delivered is gone')

  const reparented = { ...tree, [`${root}/prod/config-mode.json`]: manifest('site') }
  t.equal((await sync(reparented, profile, inMode(dataDir, 'prod'))).phase, 'Synced')
  t.strictSame(files(), collections('external', 'core', 'prod', 'site'), 'a new parent comes with the commit that names it')
})

void t.test('a base collection in another spelling is delivered under its standard name only', async (t) => {
  const { sync, files, dataDir } = syncedFolder(t, 'collections')
  const spelled = Object.fromEntries(Object.entries(tree).map(([file, text]) => [file.replace('/core/', '/Core/'), text]))
  t.equal((await sync(spelled, profileOf([], auto), inMode(dataDir, 'prod'))).phase, 'Synced')
  t.strictSame(files(), collections('external', 'core', 'prod'))
})

void t.test('an unknown mode and a mode without a folder are findings in every report until fixed', async (t) => {
  const { sync, files, dataDir, memory } = syncedFolder(t, 'collections')
  const profile = profileOf([], auto)
  const rules = ({ findings = [] }: CycleResult): string[] => findings.map(({ rule }) => rule)
  for (let round = 0; round < 2; round += 1) t.strictSame(rules(await sync(tree, profile, inMode(dataDir, '', 'None'))), ['mode-unknown'])
  t.strictSame(files(), collections('external', 'core'))
  t.strictSame(rules(await sync(tree, profile, inMode(dataDir, ''))), [], 'a gateway that is known to have none is no finding')
  t.strictSame(rules(await sync(tree, profile, inMode(dataDir, 'test'))), ['mode-without-folder'])
  t.strictSame(rules(await sync(tree, profile, inMode(dataDir, 'test'))), ['mode-without-folder'], 'when nothing changed')
  const other = { ...tree, [`${root}/core/ignition/schedule/a/resource.json`]: '{"other":1}' }
  t.strictSame(
    rules(await sync(other, profile, inMode(dataDir, 'test'))),
    ['mode-without-folder'],
    'after a difference that says nothing of it',
  )
  memory.manifest = undefined
  t.strictSame(rules(await sync(other, profile, inMode(dataDir, 'test'))), ['mode-without-folder'], 'after a restart')
  const withTest = { ...other, [`${root}/test/config-mode.json`]: manifest('core') }
  t.strictSame(rules(await sync(withTest, profile, inMode(dataDir, 'test'))), [])
})

void t.test('a mode that becomes unknown removes no files until a mode is known again', async (t) => {
  const { sync, files, dataDir, memory } = syncedFolder(t, 'collections')
  const profile = profileOf([], auto)
  const unknown = inMode(dataDir, '', 'None')
  t.equal((await sync(tree, profile, inMode(dataDir, 'prod'))).phase, 'Synced')
  const prod = collections('external', 'core', 'prod')
  for (const restarted of [false, true]) {
    if (restarted) memory.manifest = undefined
    const result = await sync(tree, profile, unknown)
    matchObject(t, result, { phase: 'Pending', reason: 'ModeUnknown', message: /"prod"/, mode: { name: 'prod', from: 'Argument' } })
    t.strictSame(
      result.findings?.map(({ rule }) => rule),
      ['mode-unknown'],
    )
    t.strictSame(files(), prod, restarted ? 'after a restart' : 'in the same process')
  }
  const changed = { ...tree, [`${root}/prod/ignition/schedule/p/resource.json`]: '{"new":1}' }
  matchObject(t, await sync(changed, profile, unknown), { reason: 'ModeUnknown', files: { changed: 1, removed: 0 } }, 'a commit goes on')
  t.strictSame(files(), prod)
  const fixed = profileOf([], { collections: { root, mode: 'dev' } })
  matchObject(t, await sync(changed, fixed, unknown), { phase: 'Synced', mode: { name: 'dev', from: 'Spec' } }, 'the spec names one')
  t.strictSame(files(), collections('external', 'core', 'site', 'Dev'))
  matchObject(
    t,
    await sync(changed, profile, unknown),
    { reason: 'ModeUnknown', mode: { name: 'dev', from: 'Spec' } },
    'and names it no more',
  )
  matchObject(t, await sync(changed, profile, inMode(dataDir, '')), { phase: 'Synced', files: { removed: 4 } }, 'known to have none')
  t.strictSame(files(), collections('external', 'core'))
  matchObject(t, await sync(changed, profile, unknown), { phase: 'Synced' }, 'there is nothing of a mode to keep')
})

void t.test('the state of a version that did not store the mode yields it from the collection chain', async (t) => {
  const { sync, files, dataDir, memory } = syncedFolder(t, 'collections')
  const profile = profileOf([], auto)
  await sync(tree, profile, inMode(dataDir, 'dev'))
  delete memory.manifest?.state?.mode
  matchObject(t, await sync(tree, profile, inMode(dataDir, '', 'None')), { phase: 'Pending', reason: 'ModeUnknown', mode: { name: 'Dev' } })
  t.strictSame(files(), collections('external', 'core', 'site', 'Dev'))
})

void t.test('an unreadable config-mode.json does not remove the parents of its mode', async (t) => {
  const { sync, files, dataDir } = syncedFolder(t, 'collections')
  const profile = profileOf([], auto)
  const delivered = collections('external', 'core', 'site', 'Dev')
  await sync(tree, profile, inMode(dataDir, 'dev'))
  for (const unreadable of ['{"parent": "si', ' '.repeat(65 * 1024)]) {
    const result = await sync({ ...tree, [`${root}/Dev/config-mode.json`]: unreadable }, profile, inMode(dataDir, 'dev'))
    matchObject(t, result.findings, [{ rule: 'parents-unknown', path: 'Dev/config-mode.json', message: /site/ }])
    t.strictSame(files(), delivered)
  }
})

void t.test('a gateway configured to start in another mode is a finding, and gets the mode that it runs', async (t) => {
  const { sync, files, dataDir } = syncedFolder(t, 'collections')
  const running = inMode(dataDir, 'prod')
  const facts = running.facts
  if (facts === undefined) return
  const mode = { name: 'prod', from: 'Gateway', configured: { name: 'dev', from: 'Argument' } } as const
  const result = await sync(tree, profileOf([], auto), { facts: { ...facts, mode } })
  matchObject(t, result.findings, [{ rule: 'mode-differs', message: /runs in mode "prod" and is set to start in mode "dev" \(argument\)/ }])
  t.strictSame(result.mode, { name: 'prod', from: 'Gateway' })
  t.strictSame(files(), collections('external', 'core', 'prod'))
})

void t.test('a finding persists while its file does, and a finding of the commit until the next commit', async (t) => {
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
  t.strictSame(said(await sync(first, profile)), all)
  t.strictSame(said(await sync(first, profile)), all, 'also when nothing changed')
  const second = { ...first, 'projects/b.json': '{"b":1,"missing":""}' }
  t.strictSame(said(await sync(second, profile)), [noFile, 'patch-without-match projects/a.json', 'source-absent extra'])
  t.strictSame(said(await sync({ 'projects/b.json': second['projects/b.json'], 'extra/x': 'x' }, profile)), [noFile])
  const found = await sync({ 'projects/projects/x.xml': '{"a":""}', 'projects/b.json': second['projects/b.json'], 'extra/x': 'x' }, profile)
  t.strictSame(said(found), [])
})
