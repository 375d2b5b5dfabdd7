/**
 * Tests `drift: Hold`: local changes are not overwritten before they are captured or discarded.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { matchObject } from '../../../support/assertions.ts'
import { memorySource, profileOf, type Tree } from '../../../support/memory-source.ts'
import { syncedFolder } from '../../../support/synced-folder.ts'

const mapping = { source: 'projects', destination: 'projects' }
const hold = profileOf([mapping], { drift: 'Hold' })
const tree: Tree = { 'projects/a.txt': '1', 'projects/b.txt': '1', 'projects/c.txt': '1' }
const change = (more: Tree): Tree => ({ ...tree, ...more })
const without = (name: string): Tree => Object.fromEntries(Object.entries(tree).filter(([file]) => file !== name))
const withheld = { phase: 'Blocked', reason: 'LocalChanges' }

async function edited(t: Pick<Test, 'teardown'>, profile = hold) {
  const folder = syncedFolder(t, 'held')
  const at = (name: string): string => path.join(folder.dataDir, name)
  await folder.sync(tree, profile)
  writeFileSync(at('projects/a.txt'), 'edited at night')
  return { ...folder, at, read: (name: string): string => readFileSync(at(name), 'utf8') }
}

void t.test('a commit that changes or deletes a locally changed file waits as a whole, and names the file', async (t) => {
  const cases: Record<string, Tree> = {
    'it changes the file': change({ 'projects/a.txt': '2', 'projects/b.txt': '2' }),
    'it deletes the file': { ...without('projects/a.txt'), 'projects/b.txt': '2' },
  }
  for (const [name, next] of Object.entries(cases)) {
    const { sync, read } = await edited(t)
    const result = await sync(next, hold)
    matchObject(t, result, { ...withheld, message: /"projects\/a\.txt".*confirm-overwrites/ }, name)
    t.equal(read('projects/a.txt'), 'edited at night')
    t.equal(read('projects/b.txt'), '1', 'nothing of the commit is there')
  }
})

void t.test('a locally deleted file is not restored with different content', async (t) => {
  const { sync, at, files } = await edited(t)
  rmSync(at('projects/b.txt'))
  matchObject(t, await sync(change({ 'projects/b.txt': '2' }), hold), { ...withheld, message: /"projects\/b\.txt"/ })
  t.strictSame(files(), ['projects/a.txt', 'projects/c.txt'])
  matchObject(t, await sync(without('projects/b.txt'), hold), { phase: 'Synced' }, 'that it goes is what everybody wants')
})

void t.test('a commit that does not affect the changed file is applied', async (t) => {
  const { sync, read } = await edited(t)
  matchObject(t, await sync(change({ 'projects/b.txt': '2' }), hold), { phase: 'Synced' })
  t.equal(read('projects/b.txt'), '2')
  matchObject(t, await sync(change({ 'projects/b.txt': '2' }), hold), { phase: 'Drifted', drift: { paths: ['projects/a.txt'] } })
  t.equal(read('projects/a.txt'), 'edited at night')
})

void t.test('a locally changed file that is no longer desired and stays on the gateway holds nothing', async (t) => {
  const keep = profileOf([{ ...mapping, prune: 'None' }], { drift: 'Hold' })
  const { sync, read } = await edited(t, keep)
  matchObject(t, await sync({ ...without('projects/a.txt'), 'projects/b.txt': '2' }, keep), { phase: 'Synced' })
  t.strictSame([read('projects/a.txt'), read('projects/b.txt')], ['edited at night', '2'])
})

void t.test('a captured change comes back without a conflict, also through a template', async (t) => {
  const { sync, read } = await edited(t)
  matchObject(t, await sync(change({ 'projects/a.txt': 'edited at night', 'projects/b.txt': '2' }), hold), { phase: 'Synced' })
  t.equal(read('projects/b.txt'), '2')

  const rendered = profileOf([{ ...mapping, template: true }], { drift: 'Hold' })
  const other = await edited(t, rendered)
  writeFileSync(other.at('projects/a.txt'), 'edited by default')
  matchObject(t, await other.sync(change({ 'projects/a.txt': 'edited by {{ "another" }}' }), rendered), withheld)
  matchObject(t, await other.sync(change({ 'projects/a.txt': 'edited by {{ "default" }}', 'projects/b.txt': '2' }), rendered), {
    phase: 'Synced',
  })
  t.equal(other.read('projects/b.txt'), '2')
})

void t.test('confirming a commit discards the local change; another commit is not confirmed', async (t) => {
  const { sync, read } = await edited(t)
  const next = change({ 'projects/a.txt': '2' })
  matchObject(t, await sync(next, hold, { confirmOverwrites: memorySource().commit(tree) }), withheld)
  matchObject(t, await sync(next, hold, { confirmOverwrites: memorySource().commit(next) }), { phase: 'Synced' })
  t.equal(read('projects/a.txt'), '2')
})

void t.test('files that the gateway writes on its own hold nothing', async (t) => {
  const { sync, dataDir } = syncedFolder(t, 'held')
  const config = profileOf([{ source: 'config', destination: 'config' }], { drift: 'Hold' })
  const folder = 'config/resources/core/ignition/schedule/a'
  const manifest = (actor: string, enabled: boolean): string => JSON.stringify({ attributes: { lastModification: { actor }, enabled } })
  await sync({ [`${folder}/resource.json`]: manifest('git', true), 'config/thumbnail.png': '1' }, config)
  writeFileSync(path.join(dataDir, folder, 'resource.json'), manifest('gateway', true))
  writeFileSync(path.join(dataDir, 'config/thumbnail.png'), '2')
  const next = { [`${folder}/resource.json`]: manifest('git', false), 'config/thumbnail.png': '3' }
  matchObject(t, await sync(next, config), { phase: 'Synced' })
  const captured = { ...next, [`${folder}/resource.json`]: manifest('git', true) }
  writeFileSync(path.join(dataDir, folder, 'resource.json'), manifest('gateway', true))
  matchObject(t, await sync(captured, config), { phase: 'Synced' }, 'what was captured and saved once more')
})

void t.test('with damaged records every difference is held', async (t) => {
  const { sync, read, at, memory } = await edited(t)
  memory.manifest = undefined
  writeFileSync(at('.cluster-sync/manifest'), 'damaged')
  matchObject(t, await sync(change({ 'projects/b.txt': '2' }), hold), { ...withheld, message: /"projects\/a\.txt", "projects\/b\.txt"/ })
  t.equal(read('projects/a.txt'), 'edited at night')
})

void t.test('hundreds of resources saved by the gateway hold nothing once they were compared', async (t) => {
  const { sync, dataDir } = syncedFolder(t, 'held')
  const config = profileOf([{ source: 'config', destination: 'config' }], { drift: 'Hold' })
  const fileOf = (index: number): string => `config/resources/core/ignition/schedule/s${index}/resource.json`
  const resources = (actor: string, enabled: boolean): Tree =>
    Object.fromEntries(
      Array.from({ length: 250 }, (_, index) => [fileOf(index), JSON.stringify({ attributes: { lastModification: { actor }, enabled } })]),
    )
  const before = resources('git', true)
  await sync(before, config)
  for (const [file, text] of Object.entries(resources('gateway', true))) writeFileSync(path.join(dataDir, file), text)
  // Each cycle compares two hundred files and records the results.
  await sync(before, config)
  await sync(before, config)
  matchObject(t, await sync(resources('git', false), config), { phase: 'Synced' })
})
