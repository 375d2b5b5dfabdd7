/**
 * Tests the state that an agent may find at its start: after a power loss, with correct files already present, or with a changed profile.
 */
import { readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { type Clock, systemClock } from '../../../../runtime/platform/clock.ts'
import type { ResolvedProfile } from '../../../../runtime/api/schema/profile.ts'
import { currentBootId } from '../../../../runtime/sync/disk/clean-marker.ts'
import type { CycleResult, SyncTarget } from '../../../../runtime/sync/cycle.ts'
import { encodeLine } from '../../../../runtime/sync/model/manifest-lines.ts'
import { matchObject } from '../../../support/assertions.ts'
import { memorySource, profileOf, type Tree } from '../../../support/memory-source.ts'
import { syncedFolder } from '../../../support/synced-folder.ts'

const projects = { source: 'projects', destination: 'projects' }
const tree: Tree = { 'projects/a': 'aaaa', 'projects/b': 'bbbb', 'projects/c/d': 'dddd' }

function setUp(t: Pick<Test, 'teardown'>) {
  const { dataDir, files, memory, ...folder } = syncedFolder(t, 'restart')
  let shiftMs = 0
  const clock: Clock = { ...systemClock, now: () => systemClock.now().add({ milliseconds: shiftMs }) }
  const sync = async (
    desired: Tree,
    profile: ResolvedProfile = profileOf([projects]),
    more: Partial<SyncTarget> = {},
  ): Promise<CycleResult> => await folder.sync(desired, profile, more, { clock })
  const at = (file: string): string => path.join(dataDir, file)
  return {
    sync,
    at,
    files,
    restart: () => (memory.manifest = undefined),
    later: (ms: number) => (shiftMs += ms),
    /** Changes the state as if it was written before the machine started. */
    rebooted() {
      memory.manifest = undefined
      const manifest = at('.cluster-sync/manifest')
      const lines = readFileSync(manifest, 'utf8').split('\n').slice(0, -1)
      const before = 'a-boot-before-this-one-in-same-length'.slice(0, 36)
      writeFileSync(manifest, lines.map((line) => encodeLine(line.slice(0, -9).replaceAll(currentBootId(), before))).join(''))
    },
    /** Syncs, with timestamps that can be restored exactly. */
    async settle() {
      await sync(tree)
      for (const file of Object.keys(tree)) utimesSync(at(file), 1_800_000_000, 1_800_000_000)
      await sync(tree)
    },
    /** Corrupts the content and keeps size, time and inode. */
    damage(file: string) {
      const { size } = statSync(at(file))
      writeFileSync(at(file), '\0'.repeat(size))
      utimesSync(at(file), 1_800_000_000, 1_800_000_000)
    },
  }
}

void t.test('after a power loss every managed file is read, and damaged ones are restored', async (t) => {
  const { sync, at, rebooted, damage, restart, settle } = setUp(t)
  await settle()
  damage('projects/a')
  restart()
  matchObject(t, await sync(tree), { phase: 'Synced', files: { changed: 0 } }, 'within one boot a stat is believed')
  rebooted()
  matchObject(t, await sync(tree), { phase: 'Synced', files: { changed: 1, unchanged: 2 } })
  t.equal(readFileSync(at('projects/a'), 'utf8'), 'aaaa')
  matchObject(t, await sync(tree), { phase: 'Synced', files: { changed: 0, unchanged: 3 } }, 'once')
})

void t.test('files that were safely on disk before a power loss are not read again', async (t) => {
  const { sync, rebooted, damage, later, settle } = setUp(t)
  await settle()
  later(121_000)
  await sync(tree)
  damage('projects/a')
  rebooted()
  matchObject(t, await sync(tree), { phase: 'Synced', files: { changed: 0 } })
})

void t.test('after a power loss a new commit is applied, damage is repaired, and a local change stays', async (t) => {
  const { sync, at, rebooted, damage, settle } = setUp(t)
  await settle()
  writeFileSync(at('projects/b'), 'local')
  t.equal((await sync(tree)).phase, 'Drifted')
  damage('projects/c/d')
  rebooted()
  matchObject(t, await sync({ ...tree, 'projects/a': '2' }), {
    phase: 'Drifted',
    files: { changed: 2 },
    drift: { count: 1, paths: ['projects/b'] },
  })
  t.strictSame(
    ['a', 'b', 'c/d'].map((file) => readFileSync(at(`projects/${file}`), 'utf8')),
    ['2', 'local', 'dddd'],
  )
})

void t.test('correct files are adopted without a write, and managed from then on', async (t) => {
  const { sync, at, files, restart } = setUp(t)
  await sync(tree)
  const inodes = files().map((file) => statSync(at(file)).ino)
  // The volume has its files, but no engine records.
  rmSync(at('.cluster-sync'), { recursive: true })
  restart()
  matchObject(t, await sync(tree), { phase: 'Synced', files: { added: 0, changed: 0, unchanged: 3 } })
  t.strictSame(
    files().map((file) => statSync(at(file)).ino),
    inodes,
    'not one was written',
  )
  await sync({ 'projects/a': 'aaaa' })
  t.strictSame(files(), ['projects/a'])
})

void t.test('files of a removed mapping are deleted, count as deletions, and stay with prune: None', async (t) => {
  const many: Tree = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`extra/f${index}`, `${index}`]))
  const two = [projects, { source: 'extra', destination: 'config/extra' }]
  const { sync, files } = setUp(t)
  await sync({ ...tree, ...many }, profileOf(two))
  const fewer = profileOf([projects], { maxDeletions: '50%' })
  matchObject(t, await sync({ ...tree, ...many }, fewer), { phase: 'Blocked', reason: 'MassDeletion' })
  t.equal(files().length, 23)
  const confirmed = { confirmDeletions: memorySource().commit({ ...tree, ...many }) }
  matchObject(t, await sync({ ...tree, ...many }, fewer, confirmed), { phase: 'Synced', files: { removed: 20 } })
  t.strictSame(files(), Object.keys(tree))
  const kept = setUp(t)
  await kept.sync({ ...tree, ...many }, profileOf(two))
  matchObject(t, await kept.sync({ ...tree, ...many }, profileOf([projects], { prune: 'None' })), {
    phase: 'Synced',
    files: { removed: 0 },
  })
  t.equal(kept.files().length, 23)
})
