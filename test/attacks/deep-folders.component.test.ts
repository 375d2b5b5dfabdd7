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
import { removeTree } from '../../runtime/sync/disk/remove-tree.ts'
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

void t.test('nested folders and many files are removed to the last, and the event loop runs meanwhile', async (t) => {
  const dataDir = temporaryFolder(t, 'deep')
  const run = path.join(dataDir, 'run')
  nest(run, 8_000)
  writeFileSync(Buffer.concat([Buffer.from(`${run}/`), Buffer.from([0xff, 0xfe])]), '')
  for (let count = 0; count < 1_000; count += 1) writeFileSync(path.join(run, `file${count}`), '')
  let turns = 0
  const turn = (): void => {
    turns += 1
    next = setImmediate(turn)
  }
  let next = setImmediate(turn)
  await removeTree(dataDir, 'run')
  clearImmediate(next)
  t.equal(existsSync(run), false)
  t.ok(turns > 500, `the event loop ran ${turns} times meanwhile`)
})

void t.test('nested folders are listed as far as paths reach, and never taken for empty ones', async (t) => {
  const dataDir = temporaryFolder(t, 'deep')
  nest(path.join(dataDir, 'top'), 3_000)
  t.strictSame(listBelow(dataDir, 'top'), [`top/${'a/'.repeat(2_045)}a`])
  await removeTree(dataDir, 'top')
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
  await removeTree(dataDir, 'projects/p')
})
