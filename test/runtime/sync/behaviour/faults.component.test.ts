/**
 * A disk without space and folders that may not be written, at every point where that can show: the folder is then exactly the old commit,
 * to the inode, and the next cycle ends well.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, lstatSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../../../runtime/clock.ts'
import { silentLog } from '../../../../runtime/log.ts'
import { type CycleResult, type EngineMemory, runCycle } from '../../../../runtime/sync/cycle.ts'
import { releaseLock } from '../../../../runtime/sync/disk/lock.ts'
import { memorySource, profileOf, type Tree, wantedOf } from '../../../support/memory-source.ts'
import { temporaryFolder } from '../../../support/repository.ts'
import { requires } from '../../../support/requires.ts'
import { fill, mounted } from '../../../support/small-volume.ts'

const profile = profileOf([{ source: 'projects', destination: 'projects' }])
const signal = AbortSignal.timeout(120_000)
const before: Tree = {
  'projects/keep': 'k',
  'projects/change': '1',
  'projects/gone/deep/x': 'x',
  'projects/turn': 'a file',
  'projects/back/y': 'y',
}
const after: Tree = {
  'projects/keep': 'k',
  'projects/change': 'two',
  'projects/turn/a': 'a',
  'projects/back': 'a file',
  'projects/large': 'L'.repeat(300_000),
  ...Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`projects/n${index % 5}/f${index}`, `${index}`.repeat(500)])),
}

/** Path, kind, mode, owner, inode, time and content of everything that is not ours: equal means that nothing happened to it. */
function exactly(dataDir: string, folder = ''): string[] {
  return readdirSync(path.join(dataDir, folder))
    .filter((name) => name !== '.cluster-sync' && name !== 'filler')
    .toSorted()
    .flatMap((name) => {
      const file = folder === '' ? name : `${folder}/${name}`
      const stat = lstatSync(path.join(dataDir, file))
      const { mode, uid, gid, ino, mtimeMs } = stat
      const own = `${file} ${mode.toString(8)} ${uid} ${gid}`
      if (stat.isDirectory()) return [own, ...exactly(dataDir, file)]
      return [`${own} ${ino} ${mtimeMs} ${readFileSync(path.join(dataDir, file), 'latin1')}`]
    })
}

function contents(dataDir: string): Record<string, string> {
  return Object.fromEntries(
    exactly(dataDir).flatMap((line): [string, string][] => {
      const [, file, content] = /^(\S+) 100\d+ \d+ \d+ \d+ [\d.]+ (.*)$/s.exec(line) ?? []
      return file === undefined || content === undefined ? [] : [[file, content]]
    }),
  )
}

async function cycle(dataDir: string, tree: Tree, memory: EngineMemory): Promise<CycleResult> {
  const source = memorySource()
  source.commit(tree === before ? after : before)
  const deps = { source, gateway: undefined, clock: systemClock, log: silentLog, memory }
  return await runCycle(deps, wantedOf(dataDir, source.commit(tree), profile), signal)
}

const leftovers = (dataDir: string): string[] =>
  readdirSync(path.join(dataDir, '.cluster-sync')).filter((name) => /^(?:run-|journal|.*\.tmp$)/.test(name))

void t.test('a disk that is full at any point leaves the old commit, and the sync ends well once there is space', async (t) => {
  const dataDir = mounted(t, 'size=2m')
  if (dataDir === undefined) return
  const memory: EngineMemory = { manifest: undefined }
  t.equal((await cycle(dataDir, before, memory)).phase, 'Synced')
  const old = exactly(dataDir)
  const reached = new Set<string>()
  let synced = 0
  // From nothing at all to enough, a page at a time where the journal and the manifest are written.
  const needed = 800_000
  const steps = [
    ...Array.from({ length: 12 }, (_, index) => index * 4096),
    ...Array.from({ length: 20 }, (_, index) => 50_000 + index * 40_000),
  ]
  for (const freeBytes of steps.filter((bytes) => bytes <= needed)) {
    fill(dataDir, freeBytes)
    const result = await cycle(dataDir, after, memory)
    rmSync(path.join(dataDir, 'filler'), { force: true })
    if (result.phase === 'Synced') {
      synced += 1
      t.same(contents(dataDir), after)
      t.equal((await cycle(dataDir, before, memory)).phase, 'Synced')
      old.splice(0, old.length, ...exactly(dataDir))
      continue
    }
    t.match(result, { phase: 'Failed', reason: 'DiskFull' }, `${freeBytes} bytes free`)
    reached.add((result.message ?? '').replace(/\d+/g, 'n'))
    t.same(exactly(dataDir), old, `the old commit, with ${freeBytes} bytes free`)
    t.same(leftovers(dataDir), [])
  }
  t.ok(synced > 0 && reached.size >= 3, `${synced} synced; it was full at ${[...reached].join(' | ')}`)
  t.equal((await cycle(dataDir, after, { manifest: undefined })).phase, 'Synced', 'also for an agent that starts anew')
  t.same(contents(dataDir), after)
})

void t.test('a disk without a free inode leaves the old commit too', async (t) => {
  const dataDir = mounted(t, 'size=8m,nr_inodes=60')
  if (dataDir === undefined) return
  const memory: EngineMemory = { manifest: undefined }
  t.equal((await cycle(dataDir, before, memory)).phase, 'Synced')
  const old = exactly(dataDir)
  t.match(await cycle(dataDir, after, memory), { phase: 'Failed', reason: 'DiskFull' })
  t.same(exactly(dataDir), old)
  t.same(leftovers(dataDir), [])
})

void t.test('a folder on a disk that is mounted read-only is left alone, with the reason', async (t) => {
  const dataDir = mounted(t, 'size=2m')
  if (dataDir === undefined) return
  t.equal((await cycle(dataDir, before, { manifest: undefined })).phase, 'Synced')
  const old = exactly(dataDir)
  execFileSync('mount', ['-o', 'remount,ro', dataDir])
  for (const memory of [{ manifest: undefined }, { manifest: undefined }]) {
    t.match(await cycle(dataDir, after, memory), { phase: 'Failed', reason: 'NotWritable' })
    t.same(exactly(dataDir), old)
  }
  execFileSync('mount', ['-o', 'remount,rw', dataDir])
  t.equal((await cycle(dataDir, after, { manifest: undefined })).phase, 'Synced')
  t.same(contents(dataDir), after)
})

void t.test('one folder below that is mounted read-only stops the publish in its middle, and all of it is undone', async (t) => {
  const dataDir = mounted(t, 'size=4m')
  if (dataDir === undefined) return
  const memory: EngineMemory = { manifest: undefined }
  t.equal((await cycle(dataDir, before, memory)).phase, 'Synced')
  const gone = path.join(dataDir, 'projects/gone')
  const old = exactly(dataDir)
  // A folder that is mounted onto itself is another file system for a rename.
  execFileSync('mount', ['--bind', gone, gone])
  execFileSync('mount', ['-o', 'remount,bind,ro', gone])
  try {
    const result = await cycle(dataDir, after, memory)
    t.match(result, { phase: 'Failed' })
    t.match(result.reason, /^(?:NotWritable|PublishFailed)$/)
    t.match(result.message, /projects\/gone\/deep\/x/)
    t.same(exactly(dataDir), old)
    t.same(leftovers(dataDir), [])
  } finally {
    execFileSync('umount', [gone])
  }
  t.equal((await cycle(dataDir, after, memory)).phase, 'Synced')
  t.same(contents(dataDir), after)
})

const gatewayUser = 2003
/** Without the environment of this process, in which a test runner writes files of its own. */
const asGateway = [`--reuid=${gatewayUser}`, `--regid=${gatewayUser}`, '--clear-groups', 'env', '--ignore-environment', process.execPath]
const program = path.resolve(import.meta.dirname, '../../../support/programs/one-cycle.ts')

/** One cycle as the user that a gateway runs as. */
function cycleAsGateway(dataDir: string, tree: Tree, other: Tree): Promise<CycleResult> {
  return new Promise((resolve, reject) => {
    const child = spawn('setpriv', [...asGateway, program, dataDir, '0'], { stdio: ['pipe', 'pipe', 'inherit'] })
    let stdout = ''
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString('utf8')))
    child.on('error', reject)
    child.on('close', (code) => {
      if (code === 0) resolve((JSON.parse(stdout) as { result: CycleResult }).result)
      else reject(new Error(`the program ended with ${code}`))
    })
    child.stdin.end(JSON.stringify([other, tree]))
  })
}

/** Whether this user may act as the gateway's, and that one read this checkout. */
function mayActAsGateway(t: Test): boolean {
  if (!requires(t, 'setpriv', 'env')) return false
  const reads = ['-e', 'require("node:fs").readFileSync(process.argv[1])', program]
  if (process.geteuid?.() === 0 && spawnSync('setpriv', [...asGateway, ...reads]).status === 0) return true
  t.plan(0, `only root may act as uid ${gatewayUser}, where that one may read this checkout`)
  return false
}

void t.test('a folder that uid 2003 may not write or read, at the top or in the middle of a publish, leaves the old commit', async (t) => {
  if (!mayActAsGateway(t)) return
  const dataDir = temporaryFolder(t, 'permissions')
  chownSync(dataDir, gatewayUser, gatewayUser)
  t.match(await cycleAsGateway(dataDir, before, after), { phase: 'Synced' })
  const old = exactly(dataDir)
  for (const [folder, lockedMode] of [
    ['projects', 0o555],
    ['projects/gone/deep', 0o555],
    ['projects/back', 0o555],
    ['.cluster-sync', 0o555],
    // Nobody can tell then whether a publish is interrupted.
    ['.cluster-sync', 0],
    ['', 0],
  ] as const) {
    const locked = path.join(dataDir, folder)
    const mode = lstatSync(locked).mode & 0o7777
    chmodSync(locked, lockedMode)
    const result = await cycleAsGateway(dataDir, after, before)
    t.match(result, { phase: 'Failed', reason: 'NotWritable' }, `${folder} with mode ${lockedMode.toString(8)}`)
    t.match(result.message, /may not read or write it/)
    chmodSync(locked, mode)
    t.same(exactly(dataDir), old, `${folder} with mode ${lockedMode.toString(8)}`)
    t.same(leftovers(dataDir), [])
  }
  t.match(await cycleAsGateway(dataDir, after, before), { phase: 'Synced' })
  t.same(contents(dataDir), after)
})

void t.test('what root or uid 2003 writes is a file that a gateway of uid 2003 may write, with the modes of its volume', async (t) => {
  if (!mayActAsGateway(t)) return
  for (const [name, mode, file, folder] of [
    ['a private folder', 0o755, '100644', '40755'],
    ['a volume with fsGroup', 0o2775, '100664', '42775'],
  ] as const) {
    for (const byGateway of [false, true]) {
      const dataDir = temporaryFolder(t, 'owner')
      chownSync(dataDir, gatewayUser, gatewayUser)
      chmodSync(dataDir, mode)
      const tree: Tree = { 'projects/p/a': '1', 'projects/p/run!': '#!', 'projects/p/large': 'x'.repeat(300_000) }
      const result = byGateway ? await cycleAsGateway(dataDir, tree, before) : await cycle(dataDir, tree, { manifest: undefined })
      releaseLock(dataDir)
      t.equal(result.phase, 'Synced', result.message ?? '')
      const seen = exactly(dataDir).map((line) => line.split(' ').slice(0, 4).join(' '))
      const executable = file.replace(/6(.)4$/, (_all, group: string) => `7${group === '6' ? '7' : '5'}5`)
      t.same(
        seen,
        [
          `projects ${folder} 2003 2003`,
          `projects/p ${folder} 2003 2003`,
          `projects/p/a ${file} 2003 2003`,
          `projects/p/large ${file} 2003 2003`,
          `projects/p/run ${executable} 2003 2003`,
        ],
        `${name}, written by ${byGateway ? 'uid 2003' : 'root'}`,
      )
      const own = lstatSync(path.join(dataDir, '.cluster-sync'))
      t.equal(own.uid, gatewayUser, 'an agent that runs as 2003 next may go on')
      t.match(await cycleAsGateway(dataDir, { ...tree, 'projects/p/a': '2' }, tree), { phase: 'Synced' })
    }
  }
})
