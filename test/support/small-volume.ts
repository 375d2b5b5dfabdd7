/**
 * A volume of limited size that a test can fill.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, statfsSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Test } from 'tap'
import { temporaryFolder } from './repository.ts'
import { requires } from './requires.ts'

/** A separate file system in memory; undefined (and the test skipped) if this user may not mount one. */
export function mounted(t: Test, options: string): string | undefined {
  if (!requires(t, 'mount', 'umount')) return undefined
  const folder = temporaryFolder(t, 'disk')
  const dataDir = path.join(folder, 'data')
  mkdirSync(dataDir)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', dataDir], { stdio: 'pipe' })
  } catch {
    t.plan(0, 'this user may not mount a file system of limited size; run as root')
    return undefined
  }
  t.teardown(() => execFileSync('umount', [dataDir]))
  return dataDir
}

/** Leaves this number of bytes free. */
export function fill(dataDir: string, freeBytes: number): void {
  const { bavail, bsize } = statfsSync(dataDir)
  const bytes = bavail * bsize - freeBytes
  if (bytes > 0) writeFileSync(path.join(dataDir, 'filler'), Buffer.alloc(bytes))
}
