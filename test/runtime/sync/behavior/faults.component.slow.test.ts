/**
 * Tests full disks and unwritable folders at every point of an apply: the folder keeps exactly the old commit including inodes, and the
 * next cycle succeeds.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, copyFileSync, lstatSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../../../runtime/platform/clock.ts'
import { silentLog } from '../../../../runtime/platform/log/log.ts'
import { type CycleResult, type EngineMemory, runCycle } from '../../../../runtime/sync/cycle.ts'
import { releaseLock } from '../../../../runtime/sync/disk/lock.ts'
import { matchObject } from '../../../support/assertions.ts'
import { memorySource, profileOf, type Tree, desiredOf } from '../../../support/memory-source.ts'
import { temporaryFolder } from '../../../support/repository.ts'
import { absent, requires } from '../../../support/requires.ts'
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

/** Path, kind, mode, owner, inode, time and content of all files outside the engine folder. Equal results mean that nothing was changed. */
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
  return await runCycle(deps, desiredOf(dataDir, source.commit(tree), profile), signal)
}

const leftovers = (dataDir: string): string[] =>
  readdirSync(path.join(dataDir, '.cluster-sync')).filter((name) => /^(?:run-|journal|.*\.tmp$)/.test(name))

const program = path.resolve(import.meta.dirname, '../../../support/programs/one-cycle.ts')

void t.test('a disk that is full at any point keeps the old commit, and the sync succeeds once there is space', async (t) => {
  const dataDir = mounted(t, 'size=2m')
  if (dataDir === undefined) return
  const memory: EngineMemory = { manifest: undefined }
  t.equal((await cycle(dataDir, before, memory)).phase, 'Synced')
  const old = exactly(dataDir)
  const reached = new Set<string>()
  let synced = 0
  // From no free space to enough, page by page in the range of the journal and the manifest.
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
      t.strictSame(contents(dataDir), after)
      t.equal((await cycle(dataDir, before, memory)).phase, 'Synced')
      old.splice(0, old.length, ...exactly(dataDir))
      continue
    }
    matchObject(t, result, { phase: 'Failed', reason: 'DiskFull' }, `${freeBytes} bytes free`)
    reached.add((result.message ?? '').replace(/\d+/g, 'n'))
    if (leftovers(dataDir).includes('journal')) {
      t.equal(result.commit, undefined, 'only the record of the new files is missing, so no commit is named')
      t.strictSame(contents(dataDir), after)
      t.equal((await cycle(dataDir, after, memory)).phase, 'Synced')
      t.equal((await cycle(dataDir, before, memory)).phase, 'Synced')
      old.splice(0, old.length, ...exactly(dataDir))
      continue
    }
    t.strictSame(exactly(dataDir), old, `the old commit, with ${freeBytes} bytes free`)
    t.strictSame(leftovers(dataDir), [])
  }
  t.ok(synced > 0 && reached.size >= 3, `${synced} synced; it was full at ${[...reached].join(' | ')}`)
  t.equal((await cycle(dataDir, after, { manifest: undefined })).phase, 'Synced', 'also for an agent that starts anew')
  t.strictSame(contents(dataDir), after)
})

void t.test('a disk without free inodes keeps the old commit', async (t) => {
  const dataDir = mounted(t, 'size=8m,nr_inodes=60')
  if (dataDir === undefined) return
  const memory: EngineMemory = { manifest: undefined }
  t.equal((await cycle(dataDir, before, memory)).phase, 'Synced')
  const old = exactly(dataDir)
  matchObject(t, await cycle(dataDir, after, memory), { phase: 'Failed', reason: 'DiskFull' })
  t.strictSame(exactly(dataDir), old)
  t.strictSame(leftovers(dataDir), [])
})

void t.test('a folder on a read-only file system stays unchanged, with the reason reported', async (t) => {
  const dataDir = mounted(t, 'size=2m')
  if (dataDir === undefined) return
  t.equal((await cycle(dataDir, before, { manifest: undefined })).phase, 'Synced')
  const old = exactly(dataDir)
  execFileSync('mount', ['-o', 'remount,ro', dataDir])
  for (const memory of [{ manifest: undefined }, { manifest: undefined }]) {
    const { phase, reason, message } = await cycle(dataDir, after, memory)
    t.strictSame({ phase, reason }, { phase: 'Failed', reason: 'NotWritable' })
    t.match(message, /: the volume is mounted read-only; mount it writable \(EROFS\)$/, 'no owner is blamed')
    t.strictSame(exactly(dataDir), old)
  }
  execFileSync('mount', ['-o', 'remount,rw', dataDir])
  t.equal((await cycle(dataDir, after, { manifest: undefined })).phase, 'Synced')
  t.strictSame(contents(dataDir), after)
})

void t.test('a read-only subfolder stops the apply halfway, and everything is undone', async (t) => {
  const dataDir = mounted(t, 'size=4m')
  if (dataDir === undefined) return
  const memory: EngineMemory = { manifest: undefined }
  t.equal((await cycle(dataDir, before, memory)).phase, 'Synced')
  const gone = path.join(dataDir, 'projects/gone')
  const old = exactly(dataDir)
  // A bind mount of a folder on itself is another file system for a rename.
  execFileSync('mount', ['--bind', gone, gone])
  execFileSync('mount', ['-o', 'remount,bind,ro', gone])
  try {
    const result = await cycle(dataDir, after, memory)
    matchObject(t, result, { phase: 'Failed' })
    t.match(result.reason, /^(?:NotWritable|PublishFailed)$/)
    t.match(result.message, /projects\/gone\/deep\/x/)
    t.strictSame(exactly(dataDir), old)
    t.strictSame(leftovers(dataDir), [])
  } finally {
    execFileSync('umount', [gone])
  }
  t.equal((await cycle(dataDir, after, memory)).phase, 'Synced')
  t.strictSame(contents(dataDir), after)
})

void t.test('with few descriptors deep folders are written; below the limit the error names it and one commit stays', async (t) => {
  if (!requires(t, 'sh', 'env')) return
  const deep = (content: string): Tree =>
    Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`projects/d${index}/e${index % 7}/f/g/h/i/j/k/f${index}`, content]))
  const [old, next] = [deep('1'), deep('2')]
  const ends: string[] = []
  for (const limit of [24, 28, 32, 48]) {
    const dataDir = temporaryFolder(t, 'descriptors')
    t.equal((await cycle(dataDir, old, { manifest: undefined })).phase, 'Synced')
    releaseLock(dataDir)
    const { stdout } = spawnSync(
      'sh',
      ['-c', `ulimit -n ${limit} && exec env --ignore-environment "$@"`, 'sh', process.execPath, program, dataDir, '0'],
      {
        input: JSON.stringify([old, next]),
        encoding: 'utf8',
      },
    )
    const { phase, reason = '', message = '' } = (JSON.parse(stdout) as { result: CycleResult }).result
    ends.push(phase)
    if (phase === 'Failed')
      t.match(`${reason}: ${message}`, /^PublishFailed: .*this process has too many files open; raise its limit \(ulimit -n\)/)
    t.strictSame(contents(dataDir), phase === 'Synced' ? next : old, `${limit} descriptors`)
    t.equal((await cycle(dataDir, next, { manifest: undefined })).phase, 'Synced')
    t.strictSame(contents(dataDir), next)
  }
  t.match(ends.join(' '), /^Failed .*Synced$/)
})

const gatewayUser = 2003
/** Without the environment of this process, in which a test runner would write its own files. */
const asGateway = [`--reuid=${gatewayUser}`, `--regid=${gatewayUser}`, '--clear-groups', 'env', '--ignore-environment']

/** Runs one cycle as the user of a gateway, with the given copy of Node. */
function cycleAsGateway(node: string, dataDir: string, tree: Tree, other: Tree): Promise<CycleResult> {
  return new Promise((resolve, reject) => {
    const child = spawn('setpriv', [...asGateway, node, program, dataDir, '0'], { stdio: ['pipe', 'pipe', 'inherit'] })
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

/**
 * A copy of Node that the user of a gateway may run: the original can lie in a home directory. Undefined, and the test skipped, if this user
 * may not switch to that one, or that one may not read this checkout.
 */
function nodeOfGateway(t: Test): string | undefined {
  if (!requires(t, 'setpriv', 'env')) return undefined
  const node = path.join(temporaryFolder(t, 'node-of-gateway'), 'node')
  copyFileSync(process.execPath, node)
  chmodSync(path.dirname(node), 0o755)
  const reads = ['-e', 'require("node:fs").readFileSync(process.argv[1])', program]
  if (process.geteuid?.() === 0 && spawnSync('setpriv', [...asGateway, node, ...reads]).status === 0) return node
  absent(t, `only root may act as uid ${gatewayUser}, where that one may read this checkout`)
  return undefined
}

void t.test('a folder that uid 2003 cannot read or write, at any level, keeps the old commit', async (t) => {
  const node = nodeOfGateway(t)
  if (node === undefined) return
  const dataDir = temporaryFolder(t, 'permissions')
  chownSync(dataDir, gatewayUser, gatewayUser)
  matchObject(t, await cycleAsGateway(node, dataDir, before, after), { phase: 'Synced' })
  const old = exactly(dataDir)
  for (const [folder, lockedMode] of [
    ['projects', 0o555],
    ['projects/gone/deep', 0o555],
    ['projects/back', 0o555],
    ['.cluster-sync', 0o555],
    // An interrupted apply cannot be detected in this case.
    ['.cluster-sync', 0],
    ['', 0],
  ] as const) {
    const locked = path.join(dataDir, folder)
    const mode = lstatSync(locked).mode & 0o7777
    chmodSync(locked, lockedMode)
    const result = await cycleAsGateway(node, dataDir, after, before)
    matchObject(t, result, { phase: 'Failed', reason: 'NotWritable' }, `${folder} with mode ${lockedMode.toString(8)}`)
    t.match(result.message, /may not read or write it/)
    chmodSync(locked, mode)
    t.strictSame(exactly(dataDir), old, `${folder} with mode ${lockedMode.toString(8)}`)
    t.strictSame(leftovers(dataDir), [])
  }
  matchObject(t, await cycleAsGateway(node, dataDir, after, before), { phase: 'Synced' })
  t.strictSame(contents(dataDir), after)
})

void t.test('files written by root or uid 2003 are writable by uid 2003, with the modes of the volume', async (t) => {
  const node = nodeOfGateway(t)
  if (node === undefined) return
  for (const [name, mode, file, folder] of [
    ['a private folder', 0o755, '100644', '40755'],
    ['a volume with fsGroup', 0o2775, '100664', '42775'],
  ] as const) {
    for (const byGateway of [false, true]) {
      const dataDir = temporaryFolder(t, 'owner')
      chownSync(dataDir, gatewayUser, gatewayUser)
      chmodSync(dataDir, mode)
      const tree: Tree = { 'projects/p/a': '1', 'projects/p/run!': '#!', 'projects/p/large': 'x'.repeat(300_000) }
      const result = byGateway ? await cycleAsGateway(node, dataDir, tree, before) : await cycle(dataDir, tree, { manifest: undefined })
      releaseLock(dataDir)
      t.equal(result.phase, 'Synced', result.message ?? '')
      const seen = exactly(dataDir).map((line) => line.split(' ').slice(0, 4).join(' '))
      const executable = file.replace(/6(.)4$/, (_all, group: string) => `7${group === '6' ? '7' : '5'}5`)
      t.strictSame(
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
      matchObject(t, await cycleAsGateway(node, dataDir, { ...tree, 'projects/p/a': '2' }, tree), { phase: 'Synced' })
    }
  }
})
