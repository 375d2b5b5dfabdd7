/**
 * What an agent finds when it starts: a machine that lost its power, files that are right already, another profile than before.
 */
import { readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { type Clock, systemClock } from '../../../../runtime/clock.ts'
import type { ResolvedProfile } from '../../../../runtime/gatewaysync/decide/profile.ts'
import { currentBootId } from '../../../../runtime/sync/disk/clean-marker.ts'
import type { CycleResult, Wanted } from '../../../../runtime/sync/cycle.ts'
import { encodeLine } from '../../../../runtime/sync/model/manifest-lines.ts'
import { memorySource, profileOf, type Tree } from '../../../support/memory-source.ts'
import { syncedFolder } from '../../../support/synced-folder.ts'

const projects = { source: 'projects', destination: 'projects' }
const tree: Tree = { 'projects/a': 'aaaa', 'projects/b': 'bbbb', 'projects/c/d': 'dddd' }

function setUp(t: Pick<Test, 'teardown'>) {
  const { dataDir, files, memory, ...folder } = syncedFolder(t, 'restart')
  let shiftMs = 0
  const clock: Clock = { ...systemClock, now: () => systemClock.now().add({ milliseconds: shiftMs }) }
  const sync = async (wanted: Tree, profile: ResolvedProfile = profileOf([projects]), more: Partial<Wanted> = {}): Promise<CycleResult> =>
    await folder.sync(wanted, profile, more, { clock })
  const at = (file: string): string => path.join(dataDir, file)
  return {
    sync,
    at,
    files,
    restart: () => (memory.manifest = undefined),
    later: (ms: number) => (shiftMs += ms),
    /** The state says that it was written before the machine started. */
    rebooted() {
      memory.manifest = undefined
      const manifest = at('.cluster-sync/manifest')
      const lines = readFileSync(manifest, 'utf8').split('\n').slice(0, -1)
      const before = 'a-boot-before-this-one-in-same-length'.slice(0, 36)
      writeFileSync(manifest, lines.map((line) => encodeLine(line.slice(0, -9).replaceAll(currentBootId(), before))).join(''))
    },
    /** Syncs, with times that can be given back exactly. */
    async settle() {
      await sync(tree)
      for (const file of Object.keys(tree)) utimesSync(at(file), 1_800_000_000, 1_800_000_000)
      await sync(tree)
    },
    /** Content that is lost though size, time and inode are as they were. */
    damage(file: string) {
      const { size } = statSync(at(file))
      writeFileSync(at(file), '\0'.repeat(size))
      utimesSync(at(file), 1_800_000_000, 1_800_000_000)
    },
  }
}

void t.test('after a loss of power every owned file is read, and what was damaged is put right', async (t) => {
  const { sync, at, rebooted, damage, restart, settle } = setUp(t)
  await settle()
  damage('projects/a')
  restart()
  t.match(await sync(tree), { phase: 'Synced', files: { changed: 0 } }, 'within one boot a stat is believed')
  rebooted()
  t.match(await sync(tree), { phase: 'Synced', files: { changed: 1, unchanged: 2 } })
  t.equal(readFileSync(at('projects/a'), 'utf8'), 'aaaa')
  t.match(await sync(tree), { phase: 'Synced', files: { changed: 0, unchanged: 3 } }, 'once')
})

void t.test('what had settled on disk before a loss of power is believed', async (t) => {
  const { sync, rebooted, damage, later, settle } = setUp(t)
  await settle()
  later(121_000)
  await sync(tree)
  damage('projects/a')
  rebooted()
  t.match(await sync(tree), { phase: 'Synced', files: { changed: 0 } })
})

void t.test('a loss of power during another commit, or over a local change, ends at that commit and keeps the change', async (t) => {
  const { sync, at, rebooted, damage, settle } = setUp(t)
  await settle()
  writeFileSync(at('projects/b'), 'local')
  t.equal((await sync(tree)).phase, 'Drifted')
  damage('projects/c/d')
  rebooted()
  t.match(await sync({ ...tree, 'projects/a': '2' }), {
    phase: 'Drifted',
    files: { changed: 2 },
    drift: { count: 1, paths: ['projects/b'] },
  })
  t.same(
    ['a', 'b', 'c/d'].map((file) => readFileSync(at(`projects/${file}`), 'utf8')),
    ['2', 'local', 'dddd'],
  )
})

void t.test('files that are right already are taken over as they are, and are ours from then on', async (t) => {
  const { sync, at, files, restart } = setUp(t)
  await sync(tree)
  const inodes = files().map((file) => statSync(at(file)).ino)
  // The volume came with its files, and without what we knew of them.
  rmSync(at('.cluster-sync'), { recursive: true })
  restart()
  t.match(await sync(tree), { phase: 'Synced', files: { added: 0, changed: 0, unchanged: 3 } })
  t.same(
    files().map((file) => statSync(at(file)).ino),
    inodes,
    'not one was written',
  )
  await sync({ 'projects/a': 'aaaa' })
  t.same(files(), ['projects/a'])
})

void t.test('files of a mapping that is gone go with it, count as deletions, and stay where nothing may be pruned', async (t) => {
  const many: Tree = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`extra/f${index}`, `${index}`]))
  const two = [projects, { source: 'extra', destination: 'config/extra' }]
  const { sync, files } = setUp(t)
  await sync({ ...tree, ...many }, profileOf(two))
  const fewer = profileOf([projects], { maxDeletions: '50%' })
  t.match(await sync({ ...tree, ...many }, fewer), { phase: 'Blocked', reason: 'MassDeletion' })
  t.equal(files().length, 23)
  const confirmed = { confirmDeletions: memorySource().commit({ ...tree, ...many }) }
  t.match(await sync({ ...tree, ...many }, fewer, confirmed), { phase: 'Synced', files: { removed: 20 } })
  t.same(files(), Object.keys(tree))
  const kept = setUp(t)
  await kept.sync({ ...tree, ...many }, profileOf(two))
  t.match(await kept.sync({ ...tree, ...many }, profileOf([projects], { prune: 'none' })), { phase: 'Synced', files: { removed: 0 } })
  t.equal(kept.files().length, 23)
})
