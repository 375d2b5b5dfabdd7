/**
 * A volume that treats names which differ only in case or Unicode normalization as equal, like Windows, macOS and some network volumes: a
 * FUSE file system over a folder. Without FUSE the test is skipped.
 */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Test } from 'tap'
import { temporaryFolder } from './repository.ts'
import { until } from './world.ts'

const python = '/usr/bin/python3'
const library = '/usr/lib/python3/dist-packages/fusepy.py'

/** The mount point; undefined if the test was skipped. `inodes`: whether two spellings of a file share an inode. */
export async function foldingVolume(t: Test, inodes: 'of-files' | 'of-spellings' = 'of-files'): Promise<string | undefined> {
  if (!existsSync('/dev/fuse') || !existsSync(library) || process.getuid?.() !== 0) {
    t.plan(0, 'a case-insensitive volume needs root, /dev/fuse and python3-fusepy: bash scripts/system-packages.sh')
    return undefined
  }
  const folder = temporaryFolder(t, 'folding')
  const [backing, mount] = ['backing', 'mount'].map((name) => path.join(folder, name))
  if (backing === undefined || mount === undefined) return undefined
  for (const each of [backing, mount]) mkdirSync(each)
  writeFileSync(path.join(backing, 'probe'), '')
  const program = path.join(import.meta.dirname, 'programs/folding-volume.py')
  const child = spawn(python, [program, backing, mount, ...(inodes === 'of-files' ? [] : ['own-inodes'])], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  t.teardown(() => void spawnSync('fusermount', ['-u', '-z', mount]))
  const mounted = await until(
    () => {
      if (child.exitCode !== null) return 'ended'
      return existsSync(path.join(mount, 'PROBE')) ? 'mounted' : undefined
    },
    'a FUSE volume is mounted',
    20_000,
  )
  if (mounted === 'mounted') return mount
  t.plan(0, 'FUSE volumes are not permitted here')
  return undefined
}
