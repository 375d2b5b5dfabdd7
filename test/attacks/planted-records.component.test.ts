/**
 * The engine keeps its records in a folder where the gateway can write. A planted journal or manifest never makes it read, move or write
 * outside the data directory.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../runtime/platform/clock.ts'
import { silentLog } from '../../runtime/platform/log/log.ts'
import { type CycleResult, runCycle } from '../../runtime/sync/cycle.ts'
import { writeJournal } from '../../runtime/sync/apply/journal.ts'
import type { Step } from '../../runtime/sync/apply/steps.ts'
import { releaseLock } from '../../runtime/sync/disk/lock.ts'
import { readManifest } from '../../runtime/sync/disk/manifest-file.ts'
import { mayBeOwned, mayHoldOwned } from '../../runtime/sync/model/paths.ts'
import { memorySource, profileOf, desiredOf } from '../support/memory-source.ts'
import { temporaryFolder } from '../support/repository.ts'

const profile = profileOf([{ source: 'projects', destination: 'projects' }])
const tree = { 'projects/a': '1', 'projects/b': '2' }
const runName = 'run-00000000-0000-4000-8000-000000000000'

/** A synced data directory beside a folder outside it. */
async function setUp(t: Test) {
  const folder = temporaryFolder(t, 'planted')
  const dataDir = path.join(folder, 'data')
  const outside = path.join(folder, 'outside')
  mkdirSync(dataDir)
  mkdirSync(outside)
  writeFileSync(path.join(outside, 'victim'), 'secret')
  const source = memorySource()
  const cycle = async (): Promise<CycleResult> => {
    const deps = { source, gateway: undefined, clock: systemClock, log: silentLog, memory: { manifest: undefined } }
    const result = await runCycle(deps, desiredOf(dataDir, source.commit(tree), profile), AbortSignal.timeout(30_000))
    releaseLock(dataDir)
    return result
  }
  t.equal((await cycle()).phase, 'Synced')
  const run = path.join(dataDir, '.cluster-sync', runName)
  mkdirSync(run)
  writeFileSync(path.join(run, 's0'), 'planted')
  return { dataDir, outside, cycle }
}

const steps: [string, Step][] = [
  ['a file is put outside', { op: 'put', path: '../outside/victim', stage: 's0', keep: 'k0', had: true }],
  ['a file outside is put in', { op: 'put', path: 'projects/a', stage: '../../../outside/victim', keep: 'k0', had: true }],
  ['what was there is kept outside', { op: 'put', path: 'projects/a', stage: 's0', keep: '../../../outside/kept', had: true }],
  ['a tree is put outside', { op: 'tree', path: '../outside/tree', stage: 's0' }],
  ['a file outside is moved away', { op: 'move', path: '../outside/victim', keep: 'd0' }],
  ['a file is moved outside', { op: 'move', path: 'projects/a', keep: '../../../outside/moved' }],
  ['an absolute path', { op: 'move', path: '/etc/hostname', keep: 'd0' }],
  ["the gateway's keys", { op: 'put', path: 'config/ignition/keys/x', stage: 's0', keep: 'k0', had: false }],
]

void t.test('a planted journal moves no file in or out, and the folder ends at the desired commit', async (t) => {
  for (const [name, step] of steps) {
    await t.test(name, async (t) => {
      const { dataDir, outside, cycle } = await setUp(t)
      const { state } = readManifest(dataDir)
      if (state === undefined) throw new Error('nothing was synced')
      const journal = {
        run: runName,
        bootId: state.bootId,
        base: state.publish,
        steps: [step],
        emptied: [],
        changes: [],
        state: { ...state, publish: 'planted' },
      }
      writeJournal(dataDir, journal)
      await cycle()
      t.strictSame(readdirSync(outside), ['victim'])
      t.equal(readFileSync(path.join(outside, 'victim'), 'utf8'), 'secret')
      t.equal(readFileSync(path.join(dataDir, 'projects/a'), 'utf8'), '1')
    })
  }
})

void t.test('a planted manifest does not claim files outside the data directory', async (t) => {
  const { dataDir, outside, cycle } = await setUp(t)
  const manifest = path.join(dataDir, '.cluster-sync/manifest')
  const lines = readFileSync(manifest, 'utf8')
  writeFileSync(manifest, lines.replaceAll('"projects/b"', '"../outside/victim"'))
  await cycle()
  t.strictSame(readdirSync(outside), ['victim'])
  t.equal(readFileSync(path.join(outside, 'victim'), 'utf8'), 'secret')
})

void t.test('only relative paths outside protected folders are valid in records', async (t) => {
  const no = ['', '/', '/a', 'a/', 'a//b', '.', './a', 'a/.', '..', '../a', 'a/../b', 'a/..', 'a\0b', 'a\ud800', 1, null, undefined]
  const forbidden = [
    'config/local/x',
    'projects/../config/local/x',
    '.cluster-sync/manifest',
    'a/.resources/b',
    'CONFIG/LOCAL/x',
    'db/x.IDB',
  ]
  for (const path of [...no, ...forbidden]) t.notOk(mayBeOwned(path), JSON.stringify(path))
  for (const path of ['a', 'a/b', '...', 'a/..b', '.a', 'a b', 'ä/\\', 'projects/\n']) t.ok(mayBeOwned(path), JSON.stringify(path))
  for (const path of [...no, '.cluster-sync', 'config/local', '.resources']) t.notOk(mayHoldOwned(path), JSON.stringify(path))
  t.ok(mayHoldOwned('projects/x.idb'), 'a folder that is named like a database holds ordinary files')
})
