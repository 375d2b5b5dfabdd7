/**
 * `drift: hold`: what was changed on a gateway is not overwritten before it is captured or given up.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { memorySource, profileOf, type Tree } from '../../support/memory-source.ts'
import { syncedFolder } from '../../support/synced-folder.ts'

const mapping = { source: 'projects', destination: 'projects' }
const hold = profileOf([mapping], { drift: 'hold' })
const tree: Tree = { 'projects/a.txt': '1', 'projects/b.txt': '1', 'projects/c.txt': '1' }
const change = (more: Tree): Tree => ({ ...tree, ...more })
const without = (name: string): Tree => Object.fromEntries(Object.entries(tree).filter(([file]) => file !== name))
const held = { phase: 'Blocked', reason: 'LocalChanges' }

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
    t.match(result, { ...held, message: /"projects\/a\.txt".*confirm-overwrites/ }, name)
    t.equal(read('projects/a.txt'), 'edited at night')
    t.equal(read('projects/b.txt'), '1', 'nothing of the commit is there')
  }
})

void t.test('a file that somebody deleted does not come back with another content', async (t) => {
  const { sync, at, files } = await edited(t)
  rmSync(at('projects/b.txt'))
  t.match(await sync(change({ 'projects/b.txt': '2' }), hold), { ...held, message: /"projects\/b\.txt"/ })
  t.same(files(), ['projects/a.txt', 'projects/c.txt'])
  t.match(await sync(without('projects/b.txt'), hold), { phase: 'Synced' }, 'that it goes is what everybody wants')
})

void t.test('a commit that leaves the changed file alone is brought', async (t) => {
  const { sync, read } = await edited(t)
  t.match(await sync(change({ 'projects/b.txt': '2' }), hold), { phase: 'Synced' })
  t.equal(read('projects/b.txt'), '2')
  t.match(await sync(change({ 'projects/b.txt': '2' }), hold), { phase: 'Drifted', drift: { paths: ['projects/a.txt'] } })
  t.equal(read('projects/a.txt'), 'edited at night')
})

void t.test('what was captured comes without a conflict, also through a template', async (t) => {
  const { sync, read } = await edited(t)
  t.match(await sync(change({ 'projects/a.txt': 'edited at night', 'projects/b.txt': '2' }), hold), { phase: 'Synced' })
  t.equal(read('projects/b.txt'), '2')

  const rendered = profileOf([{ ...mapping, template: true }], { drift: 'hold' })
  const other = await edited(t, rendered)
  writeFileSync(other.at('projects/a.txt'), 'edited by default')
  t.match(await other.sync(change({ 'projects/a.txt': 'edited by {{ "another" }}' }), rendered), held)
  t.match(await other.sync(change({ 'projects/a.txt': 'edited by {{ "default" }}', 'projects/b.txt': '2' }), rendered), { phase: 'Synced' })
  t.equal(other.read('projects/b.txt'), '2')
})

void t.test('whoever confirms the commit gives the change up; another commit is not confirmed by that', async (t) => {
  const { sync, read } = await edited(t)
  const next = change({ 'projects/a.txt': '2' })
  t.match(await sync(next, hold, { confirmOverwrites: memorySource().commit(tree) }), held)
  t.match(await sync(next, hold, { confirmOverwrites: memorySource().commit(next) }), { phase: 'Synced' })
  t.equal(read('projects/a.txt'), '2')
})

void t.test('what a gateway writes by itself holds nothing', async (t) => {
  const { sync, dataDir } = syncedFolder(t, 'held')
  const config = profileOf([{ source: 'config', destination: 'config' }], { drift: 'hold' })
  const folder = 'config/resources/core/ignition/schedule/a'
  const manifest = (actor: string, enabled: boolean): string => JSON.stringify({ attributes: { lastModification: { actor }, enabled } })
  await sync({ [`${folder}/resource.json`]: manifest('git', true), 'config/thumbnail.png': '1' }, config)
  writeFileSync(path.join(dataDir, folder, 'resource.json'), manifest('gateway', true))
  writeFileSync(path.join(dataDir, 'config/thumbnail.png'), '2')
  const next = { [`${folder}/resource.json`]: manifest('git', false), 'config/thumbnail.png': '3' }
  t.match(await sync(next, config), { phase: 'Synced' })
  const captured = { ...next, [`${folder}/resource.json`]: manifest('git', true) }
  writeFileSync(path.join(dataDir, folder, 'resource.json'), manifest('gateway', true))
  t.match(await sync(captured, config), { phase: 'Synced' }, 'what was captured and saved once more')
})

void t.test('where our records are damaged, every difference is held', async (t) => {
  const { sync, read, at, memory } = await edited(t)
  memory.manifest = undefined
  writeFileSync(at('.cluster-sync/manifest'), 'damaged')
  t.match(await sync(change({ 'projects/b.txt': '2' }), hold), { ...held, message: /"projects\/a\.txt", "projects\/b\.txt"/ })
  t.equal(read('projects/a.txt'), 'edited at night')
})

void t.test('what a gateway saved by itself in hundreds of resources holds nothing once it has been looked at', async (t) => {
  const { sync, dataDir } = syncedFolder(t, 'held')
  const config = profileOf([{ source: 'config', destination: 'config' }], { drift: 'hold' })
  const fileOf = (index: number): string => `config/resources/core/ignition/schedule/s${index}/resource.json`
  const resources = (actor: string, enabled: boolean): Tree =>
    Object.fromEntries(
      Array.from({ length: 250 }, (_, index) => [fileOf(index), JSON.stringify({ attributes: { lastModification: { actor }, enabled } })]),
    )
  const before = resources('git', true)
  await sync(before, config)
  for (const [file, text] of Object.entries(resources('gateway', true))) writeFileSync(path.join(dataDir, file), text)
  // Each look compares two hundred and remembers what it found.
  await sync(before, config)
  await sync(before, config)
  t.match(await sync(resources('git', false), config), { phase: 'Synced' })
})
