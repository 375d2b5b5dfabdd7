/**
 * Tests that `prune: All` deletes all foreign files below its folder, except files that belong to the gateway.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { matchObject } from '../../../support/assertions.ts'
import { profileOf, type Tree } from '../../../support/memory-source.ts'
import { syncedFolder } from '../../../support/synced-folder.ts'

const mapping = { source: 'projects', destination: 'projects' }
const tree: Tree = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`projects/f${index}`, '1']))
const later: Tree = { ...tree, 'projects/f0': '2' }

void t.test('every sync deletes foreign files, whatever caused it', async (t) => {
  for (const drift of ['Report', 'Restore'] as const) {
    const { dataDir, sync, files, memory } = syncedFolder(t, 'prune')
    const all = profileOf([mapping], { prune: 'All', drift })
    const stray = (...names: string[]): void => {
      for (const name of names) {
        mkdirSync(path.dirname(path.join(dataDir, name)), { recursive: true })
        writeFileSync(path.join(dataDir, name), 'theirs')
      }
    }
    stray('projects/seed')
    const paths: [string, () => Promise<unknown>][] = [
      ['the first sync', async () => await sync(tree, all)],
      ['an unchanged commit', async () => await sync(tree, all)],
      ['another commit', async () => await sync(later, all)],
      ['a start of the process', async () => ((memory.manifest = undefined), await sync(later, all))],
      ['a changed configuration', async () => await sync(later, { ...all, excludePatterns: ['none'] })],
    ]
    for (const [when, act] of paths) {
      stray('projects/stray', 'projects/new folder/stray', 'projects/x/.resources/kept', 'config/other')
      matchObject(t, await act(), { phase: 'Synced' }, `${when}, drift: ${drift}`)
      const kept = ['config/other', 'projects/x/.resources/kept']
      t.strictSame(files(), [...kept, ...Object.keys(tree)].toSorted(), `${when}, drift: ${drift}`)
    }
  }
})

void t.test('many foreign files at once require a confirmation, like any mass deletion', async (t) => {
  const { dataDir, sync, files } = syncedFolder(t, 'prune')
  const all = profileOf([mapping], { prune: 'All', maxDeletions: '50%' })
  await sync(tree, all)
  for (let index = 0; index < 40; index += 1) writeFileSync(path.join(dataDir, `projects/theirs${index}`), 'x')
  matchObject(t, await sync(tree, all), { phase: 'Blocked', reason: 'MassDeletion' })
  t.equal(files().length, 70)
})
