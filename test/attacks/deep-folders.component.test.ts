/**
 * The gateway's container may nest thousands of folders, deeper than any path reaches. They neither exhaust the agent's memory or stack, nor
 * are they deleted without being known.
 */
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { systemClock } from '../../runtime/platform/clock.ts'
import { silentLog } from '../../runtime/platform/log/log.ts'
import { runCycle } from '../../runtime/sync/cycle.ts'
import { withFolders } from '../../runtime/sync/disk/folders.ts'
import { releaseLock } from '../../runtime/sync/disk/lock.ts'
import { listBelow } from '../../runtime/sync/plan/observe.ts'
import { memorySource, profileOf, desiredOf } from '../support/memory-source.ts'
import { temporaryFolder } from '../support/repository.ts'

/** Creates nested folders around a file. They are made in parts, each moved to the bottom of the next one: a longer path is refused. */
function nest(folder: string, levels: number): void {
  const part = 1_000
  mkdirSync(path.dirname(folder), { recursive: true })
  let inner: string | undefined
  for (let made = 0; made < levels; made += part) {
    const next = `${folder}.${made}`
    const bottom = path.join(next, 'a/'.repeat(part))
    mkdirSync(bottom, { recursive: true })
    if (inner === undefined) writeFileSync(path.join(bottom, 'file'), '')
    else renameSync(inner, path.join(bottom, 'a'))
    inner = next
  }
  if (inner !== undefined) renameSync(inner, folder)
}

/** Removes folders that no ordinary call can remove, before the test's folder is removed. */
const removed = (dataDir: string, folder: string): void => withFolders(dataDir, (folders) => folders.removeTree(folder))

void t.test('nested folders are removed to the last', async (t) => {
  const dataDir = temporaryFolder(t, 'deep')
  nest(path.join(dataDir, 'run'), 8_000)
  removed(dataDir, 'run')
  t.equal(existsSync(path.join(dataDir, 'run')), false)
})

void t.test('nested folders are listed as far as paths reach, and never taken for empty ones', async (t) => {
  const dataDir = temporaryFolder(t, 'deep')
  nest(path.join(dataDir, 'top'), 3_000)
  t.strictSame(listBelow(dataDir, 'top'), [`top/${'a/'.repeat(2_045)}a`])
  removed(dataDir, 'top')
})

void t.test('a commit does not replace nested folders by a file, not even with prune: All', async (t) => {
  const dataDir = temporaryFolder(t, 'deep')
  nest(path.join(dataDir, 'projects/p'), 3_000)
  const source = memorySource()
  const profile = profileOf([{ source: 'projects', destination: 'projects', prune: 'All' }])
  const deps = { source, gateway: undefined, clock: systemClock, log: silentLog, memory: { manifest: undefined } }
  const target = desiredOf(dataDir, source.commit({ 'projects/p': 'file' }), profile)
  const { phase, reason } = await runCycle(deps, target, AbortSignal.timeout(30_000))
  releaseLock(dataDir)
  t.strictSame({ phase, reason }, { phase: 'Blocked', reason: 'MappingConflict' })
  t.ok(existsSync(path.join(dataDir, 'projects/p', 'a/'.repeat(1_900))))
  removed(dataDir, 'projects/p')
})
