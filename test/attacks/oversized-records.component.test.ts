/**
 * The engine keeps its records where the gateway can write. A record that is oversized or has no line end costs neither time nor memory:
 * the folder is verified by content.
 */
import { execFileSync } from 'node:child_process'
import { closeSync, openSync, rmSync, truncateSync, writeFileSync, writeSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../runtime/platform/clock.ts'
import { silentLog } from '../../runtime/platform/log/log.ts'
import { type CycleResult, runCycle } from '../../runtime/sync/cycle.ts'
import { releaseLock } from '../../runtime/sync/disk/lock.ts'
import { containsText } from '../support/assertions.ts'
import { memorySource, profileOf, desiredOf } from '../support/memory-source.ts'
import { temporaryFolder } from '../support/repository.ts'

const profile = profileOf([{ source: 'projects', destination: 'projects' }])
const tree = { 'projects/a': '1', 'projects/b': '2' }
const mebibyte = 1024 * 1024

async function setUp(t: Test) {
  const dataDir = temporaryFolder(t, 'oversized')
  const source = memorySource()
  const cycle = async (): Promise<CycleResult> => {
    const deps = { source, gateway: undefined, clock: systemClock, log: silentLog, memory: { manifest: undefined } }
    const result = await runCycle(deps, desiredOf(dataDir, source.commit(tree), profile), AbortSignal.timeout(30_000))
    releaseLock(dataDir)
    return result
  }
  t.equal((await cycle()).phase, 'Synced')
  return { file: (name: string) => path.join(dataDir, '.cluster-sync', name), cycle }
}

function fillWith(file: string, piece: Buffer, count: number): void {
  const fd = openSync(file, 'w')
  for (let index = 0; index < count; index += 1) writeSync(fd, piece)
  closeSync(fd)
}

const plants: [string, string, (file: string) => void, RegExp][] = [
  ['a manifest without an end of a line', 'manifest', (file) => fillWith(file, Buffer.alloc(mebibyte, 'x'), 100), /a line is longer/],
  ['a manifest of empty lines', 'manifest', (file) => fillWith(file, Buffer.alloc(mebibyte, '\n'), 100), /too many lines are damaged/],
  ['a sparse manifest of 3 GB', 'manifest', (file) => truncateSync(file, 3_000 * mebibyte), /more than the maximum/],
  [
    'a sparse journal of 3 GB',
    'journal',
    (file) => {
      writeFileSync(file, '')
      truncateSync(file, 3_000 * mebibyte)
    },
    /journal of an interrupted sync is damaged/,
  ],
  ['a journal of 200 MB of one byte', 'journal', (file) => fillWith(file, Buffer.alloc(mebibyte, 'x'), 200), /is damaged/],
  ['a named pipe as the journal', 'journal', (file) => void execFileSync('mkfifo', [file]), /is damaged/],
  [
    'a named pipe as the manifest',
    'manifest',
    (file) => {
      rmSync(file)
      execFileSync('mkfifo', [file])
    },
    /is not an ordinary file/,
  ],
]

for (const [what, name, plant, why] of plants) {
  void t.test(`${what} makes the manifest suspect, and the folder is verified`, async (t) => {
    const { file, cycle } = await setUp(t)
    plant(file(name))
    const before = process.memoryUsage.rss()
    const { phase, message, findings } = await cycle()
    t.equal(phase, 'Synced', message ?? '')
    containsText(t, findings?.[0]?.message, why)
    t.ok(process.memoryUsage.rss() - before < 100 * mebibyte, 'none of it is held in memory')
    t.equal((await cycle()).findings?.[0]?.rule, 'folder-verified', 'until the commit changes, it is said')
  })
}
