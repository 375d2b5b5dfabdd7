/**
 * Tests that on a case-insensitive volume a change of spelling alone loses neither the file nor foreign files beside it.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../../../runtime/platform/clock.ts'
import { silentLog } from '../../../../runtime/platform/log/log.ts'
import { type CycleResult, type EngineMemory, runCycle } from '../../../../runtime/sync/cycle.ts'
import { releaseLock } from '../../../../runtime/sync/disk/lock.ts'
import { listTree } from '../../../../scripts/quickstart/check.ts'
import { matchObject } from '../../../support/assertions.ts'
import { foldingVolume } from '../../../support/folding-volume.ts'
import { memorySource, profileOf, type Tree, desiredOf } from '../../../support/memory-source.ts'

const profile = profileOf([{ source: 'projects', destination: 'projects' }])

function setUp(t: Test, volume: string, name: string) {
  const dataDir = path.join(volume, name)
  mkdirSync(dataDir)
  const source = memorySource()
  const memory: EngineMemory = { manifest: undefined }
  const sync = async (tree: Tree, boundary?: (name: string) => void): Promise<CycleResult> => {
    const deps = { source, gateway: undefined, clock: systemClock, log: silentLog, memory, ...(boundary === undefined ? {} : { boundary }) }
    return await runCycle(deps, desiredOf(dataDir, source.commit(tree), profile), AbortSignal.timeout(60_000))
  }
  t.teardown(() => releaseLock(dataDir))
  const content = (): Tree => {
    const folder = path.join(dataDir, 'projects')
    return Object.fromEntries(listTree(folder).map((file) => [`projects/${file}`, readFileSync(path.join(folder, file), 'utf8')]))
  }
  return { dataDir, sync, content, memory }
}

const changes: [string, Tree, Tree][] = [
  ['a file', { 'projects/Readme.json': '1' }, { 'projects/README.json': '1' }],
  ['a file with other content', { 'projects/Readme.json': '1' }, { 'projects/README.json': '2' }],
  ['a folder', { 'projects/Dir/a': '1', 'projects/Dir/b/c': '2' }, { 'projects/dir/a': '1', 'projects/dir/b/c': '2' }],
  ['a folder with other files', { 'projects/Dir/a': '1', 'projects/Dir/b': '2' }, { 'projects/dir/a': '3', 'projects/dir/new': '4' }],
  ['a folder within a folder', { 'projects/x/Dir/a': '1', 'projects/x/y': 'y' }, { 'projects/x/DIR/a': '1', 'projects/x/y': 'y' }],
  ['several folders', { 'projects/A/B/C/d': '1' }, { 'projects/a/b/c/D': '1' }],
  ['composed letters', { 'projects/\u00e9': '1', 'projects/\u00fc/x': '2' }, { 'projects/e\u0301': '1', 'projects/u\u0308/x': '2' }],
  ['letters without a small form of one letter', { 'projects/stra\u00dfe': '1' }, { 'projects/STRASSE': '1' }],
  ['a file that becomes a folder', { 'projects/x': '1' }, { 'projects/X/y': '2' }],
]

for (const inodes of ['of-files', 'of-spellings'] as const) {
  void t.test(`a change of spelling loses nothing, with inodes ${inodes}`, { timeout: 600_000 }, async (t) => {
    const volume = await foldingVolume(t, inodes)
    if (volume !== undefined) await respell(t, volume)
  })
}

async function respell(t: Test, volume: string): Promise<void> {
  for (const [index, [what, before, after]] of changes.entries()) {
    const { sync, content, memory } = setUp(t, volume, `data${index}`)
    for (const [tree, from] of [
      [before, 'first'],
      [after, 'there'],
      [before, 'back'],
    ] as const) {
      matchObject(t, await sync(tree), { phase: 'Synced' }, `${what}, ${from}`)
      t.strictSame(content(), tree, `${what}, ${from}`)
      matchObject(t, await sync(tree), { phase: 'Synced', files: { added: 0, changed: 0, removed: 0 } }, 'and is known as such')
      memory.manifest = undefined
    }
  }
}

void t.test('a folder with foreign files keeps them when its spelling changes', { timeout: 600_000 }, async (t) => {
  const volume = await foldingVolume(t)
  if (volume === undefined) return
  const { dataDir, sync } = setUp(t, volume, 'data')
  t.equal((await sync({ 'projects/Dir/a': '1' })).phase, 'Synced')
  writeFileSync(path.join(dataDir, 'projects/Dir/theirs'), 'theirs')
  t.equal((await sync({ 'projects/dir/a': '2' })).phase, 'Synced')
  t.strictSame(readdirSync(path.join(dataDir, 'projects/dir')).toSorted(), ['a', 'theirs'])
  t.equal(readFileSync(path.join(dataDir, 'projects/dir/a'), 'utf8'), '2')
})

void t.test('a failure during a change of spelling keeps the old spelling', { timeout: 600_000 }, async (t) => {
  const volume = await foldingVolume(t)
  if (volume === undefined) return
  const before = { 'projects/Readme': '1', 'projects/Dir/a': '1', 'projects/z': '1' }
  const after = { 'projects/README': '2', 'projects/dir/a': '2', 'projects/z': '2' }
  const { sync, content } = setUp(t, volume, 'data')
  t.equal((await sync(before)).phase, 'Synced')
  const result = await sync(after, (name) => {
    if (name === 'put projects/z') throw Object.assign(new Error('no space'), { code: 'ENOSPC' })
  })
  matchObject(t, result, { phase: 'Failed', reason: 'DiskFull' })
  t.strictSame(content(), before)
  t.equal((await sync(after)).phase, 'Synced')
  t.strictSame(content(), after)
})
