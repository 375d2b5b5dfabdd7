/**
 * The engine keeps its records where the gateway can write. A record that is oversized or has no line end costs neither time nor memory:
 * the folder is verified by content.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { closeSync, openSync, readFileSync, rmSync, truncateSync, writeFileSync, writeSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../runtime/platform/clock.ts'
import { silentLog } from '../../runtime/platform/log/log.ts'
import { type CycleResult, runCycle } from '../../runtime/sync/cycle.ts'
import { encodeHead, encodeLine } from '../../runtime/sync/model/manifest-lines.ts'
import { maxRecordBytes } from '../../runtime/sync/disk/manifest-file.ts'
import { releaseLock } from '../../runtime/sync/disk/lock.ts'
import { containsText } from '../support/assertions.ts'
import { memorySource, profileOf, desiredOf } from '../support/memory-source.ts'
import { temporaryFolder } from '../support/repository.ts'

const mapping = { source: 'projects', destination: 'projects' }
const profile = profileOf([mapping])
const tree = { 'projects/a': '1', 'projects/b': '2' }
const mebibyte = 1024 * 1024
/** In MiB. */
const largest = Math.floor(maxRecordBytes() / mebibyte)

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
  ['a manifest without an end of a line', 'manifest', (file) => fillWith(file, Buffer.alloc(mebibyte, 'x'), largest), /a line is longer/],
  ['a manifest of empty lines', 'manifest', (file) => fillWith(file, Buffer.alloc(mebibyte, '\n'), largest), /too many lines are damaged/],
  ['a sparse manifest of 3 GB', 'manifest', (file) => truncateSync(file, 3_000 * mebibyte), /reads at most \d+ MiB/],
  [
    'a sparse journal of 3 GB',
    'journal',
    (file) => {
      writeFileSync(file, '')
      truncateSync(file, 3_000 * mebibyte)
    },
    /journal of an interrupted sync cannot be used: it has 3000 MiB/,
  ],
  ['a journal of one byte', 'journal', (file) => fillWith(file, Buffer.alloc(mebibyte, 'x'), largest), /is damaged/],
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

const heapMiB = 80
/** Starts like an agent: recovers the folder, and syncs. Prints the phase and the first finding. */
const agent = (dataDir: string): string => `
  import { recoverFolder, runCycle } from '${new URL('../../runtime/sync/cycle.ts', import.meta.url).href}'
  import { systemClock } from '${new URL('../../runtime/platform/clock.ts', import.meta.url).href}'
  import { silentLog } from '${new URL('../../runtime/platform/log/log.ts', import.meta.url).href}'
  import { memorySource, profileOf, desiredOf } from '${new URL('../support/memory-source.ts', import.meta.url).href}'
  const deps = { source: memorySource(), gateway: undefined, clock: systemClock, log: silentLog, memory: { manifest: undefined } }
  const target = desiredOf(${JSON.stringify(dataDir)}, deps.source.commit(${JSON.stringify(tree)}), profileOf(${JSON.stringify([mapping])}))
  await recoverFolder(deps, target.dataDir, AbortSignal.timeout(60_000))
  const { phase, findings } = await runCycle(deps, target, AbortSignal.timeout(60_000))
  console.log(phase, findings?.[0]?.message ?? '')`

/** Fills a valid manifest with files up to a size. */
function plantFiles(file: string, sizeMiB: number, fileAt: (index: number) => unknown[]): void {
  const state = readFileSync(file, 'utf8').trimEnd().split('\n').at(-1) ?? ''
  const lines: string[] = []
  let bytes = encodeHead(0).length + state.length + 1
  for (let index = 0; bytes < sizeMiB * mebibyte; index += 1) {
    const line = encodeLine(JSON.stringify(['p', ...fileAt(index)]))
    lines.push(line)
    bytes += line.length
  }
  writeFileSync(file, [encodeHead(bytes), ...lines, state, '\n'].join(''))
}

const id = '1'.repeat(40)
const nested = (index: number): unknown[] => [`${index}/a/a/a/a/a/a/a/x`, id, 0, 0, 0, 0, 0, 0]
const uses = Array.from({ length: 1_000 }, () => ['a'])
const rendered = (index: number): unknown[] => [`${index}`, id, 0, 0, 0, 0, 0, 0, { uses, key: '', id }]
const valid: [string, number, (index: number) => unknown[], RegExp][] = [
  ['as large as is read', 6, nested, /^Synced/],
  ['larger than is read', 40, nested, /^Synced the manifest cannot be used: it has 41 MiB, and this process reads at most 7 MiB;/],
  ['of small lists', 6, rendered, /^Synced the manifest cannot be used: its lines take more memory than those of a sync/],
]

for (const [what, sizeMiB, fileAt, printed] of valid) {
  void t.test(`a valid manifest ${what} does not end an agent with a heap of ${heapMiB} MiB`, async (t) => {
    const { file, cycle } = await setUp(t)
    await cycle()
    plantFiles(file('manifest'), sizeMiB, fileAt)
    const dataDir = path.dirname(path.dirname(file('manifest')))
    const flags = [`--max-old-space-size=${heapMiB}`, '--max-semi-space-size=1', '--input-type=module']
    const { stdout, stderr } = spawnSync(process.execPath, [...flags, '-e', agent(dataDir)], { encoding: 'utf8' })
    t.equal(stderr, '')
    containsText(t, stdout, printed)
  })
}
