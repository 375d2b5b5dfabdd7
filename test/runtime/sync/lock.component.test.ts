/**
 * One writer for each data directory, with real processes.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../../runtime/clock.ts'
import { silentLog } from '../../../runtime/log.ts'
import { type CycleResult, type EngineMemory, runCycle } from '../../../runtime/sync/cycle.ts'
import { currentHolder, releaseLock } from '../../../runtime/sync/disk/lock.ts'
import { listTree } from '../../../scripts/quickstart/check.ts'
import { memorySource, profileOf, wantedOf } from '../../support/memory-source.ts'
import { temporaryFolder } from '../../support/repository.ts'
import { absent, requires } from '../../support/requires.ts'
import { fill, mounted } from '../../support/small-volume.ts'

const program = path.resolve(import.meta.dirname, '../../support/programs/hold-lock.ts')
const profile = profileOf([{ source: 'projects', destination: 'projects' }])

async function cycle(dataDir: string, only = ''): Promise<CycleResult> {
  const source = memorySource()
  const deps = { source, gateway: undefined, clock: systemClock, log: silentLog, memory: { manifest: undefined }, only }
  const result = await runCycle(deps, wantedOf(dataDir, source.commit({ 'projects/a': '1' }), profile), AbortSignal.timeout(60_000))
  releaseLock(dataDir)
  return result
}

/** A process that tries to take the lock; `said` is what came of it. */
async function holder(
  t: Test,
  dataDir: string,
  within: readonly string[] = [],
): Promise<{ child: ChildProcess; said: string; kill: () => Promise<void> }> {
  const [command, ...args] = [...within, process.execPath, program, dataDir]
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }
  t.teardown(kill)
  const [said] = (await once(child.stdout, 'data', { signal: AbortSignal.timeout(60_000) })) as [Buffer]
  return { child, said: said.toString('utf8').trim(), kill }
}

function mayUnshare(t: Test): boolean {
  return (
    spawnSync('unshare', ['--pid', '--fork', '--mount-proc', 'true']).status === 0 || absent(t, 'PID namespaces are not permitted here')
  )
}

function writeLock(dataDir: string, text: string): string {
  const lock = path.join(dataDir, '.cluster-sync/lock')
  mkdirSync(path.dirname(lock), { recursive: true })
  writeFileSync(lock, text)
  return lock
}

void t.test('a second agent is refused while the first lives, by name, and takes over once it was killed', async (t) => {
  const dataDir = temporaryFolder(t, 'lock')
  const { child, said, kill } = await holder(t, dataDir)
  t.equal(said, 'held')
  const result = await cycle(dataDir)
  t.match(result, { phase: 'Failed', reason: 'FolderLocked' })
  t.match(result.message, new RegExp(`process ${child.pid} on `))
  t.same(listTree(dataDir), ['.cluster-sync/lock'], 'nothing was written')
  await kill()
  t.equal((await cycle(dataDir)).phase, 'Synced')
  t.same(
    listTree(dataDir).filter((file) => file.includes('lock')),
    [],
    'nothing is left of the other lock, nor of ours once it is given back',
  )
})

void t.test('a lock whose pid belongs to another process by now is taken over', async (t) => {
  const dataDir = temporaryFolder(t, 'lock')
  const { child, kill } = await holder(t, temporaryFolder(t, 'other'))
  writeLock(dataDir, JSON.stringify({ ...currentHolder(), id: 'other', pid: child.pid, startTime: '1' }))
  t.equal((await cycle(dataDir)).phase, 'Synced')
  await kill()
})

/** Starts the program in a PID namespace of its own, where it is process 1, on the same host name. */
function holderElsewhere(t: Test, dataDir: string): Promise<{ child: ChildProcess; said: string; kill: () => Promise<void> }> {
  return holder(t, dataDir, ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child'])
}

void t.test('between two PID namespaces with one host name there is one writer', { timeout: 200_000 }, async (t) => {
  if (!requires(t, 'unshare') || !mayUnshare(t)) return
  const dataDir = temporaryFolder(t, 'lock')
  const first = await holderElsewhere(t, dataDir)
  t.equal(first.said, 'held')
  t.equal((await holderElsewhere(t, dataDir)).said, 'FolderLocked', 'from a third one')
  const result = await cycle(dataDir)
  t.match(result, { phase: 'Failed', reason: 'FolderLocked' }, 'from here')
  t.match(result.message, dataDir)
  t.notOk(existsSync(path.join(dataDir, 'projects')), 'nothing was written')

  const ended = once(first.child, 'exit')
  first.child.stdin?.end()
  await ended
  t.equal((await holderElsewhere(t, dataDir)).said, 'held', 'given back at a good end')
})

void t.test('a holder in another PID namespace that was killed is taken over', { timeout: 200_000 }, async (t) => {
  if (!requires(t, 'unshare') || !mayUnshare(t)) return
  const dataDir = temporaryFolder(t, 'lock')
  const first = await holderElsewhere(t, dataDir)
  t.equal(first.said, 'held')
  await first.kill()
  t.equal((await cycle(dataDir)).phase, 'Synced')
})

void t.test(
  'the lock of another host counts as long as it gives signs of life, whatever the clocks say',
  { timeout: 200_000 },
  async (t) => {
    const dataDir = temporaryFolder(t, 'lock')
    const elsewhere = { ...currentHolder(), id: 'other', host: 'elsewhere', bootId: 'other', pidNamespace: 'other' }
    const lock = writeLock(dataDir, JSON.stringify(elsewhere))
    const longAgo = Date.now() / 1000 - 100_000
    let beats = 0
    const beat = setInterval(() => utimesSync(lock, longAgo, longAgo + (beats += 1)), 1_000)
    t.match(await cycle(dataDir), { phase: 'Failed', reason: 'FolderLocked', message: /on "elsewhere"/ })
    clearInterval(beat)
    const ahead = Date.now() / 1000 + 100_000
    utimesSync(lock, ahead, ahead)
    t.equal((await cycle(dataDir)).phase, 'Synced', 'silent, though its time lies ahead')
  },
)

void t.test('an earlier agent of the same pod is dead, for a pod has one', async (t) => {
  const dataDir = temporaryFolder(t, 'lock')
  writeLock(dataDir, JSON.stringify({ ...currentHolder('pod-uid'), id: 'other', pidNamespace: 'other' }))
  const startedMs = systemClock.monotonicMs()
  t.equal((await cycle(dataDir, 'pod-uid')).phase, 'Synced')
  t.ok(systemClock.monotonicMs() - startedMs < 20_000, 'without watching for its signs of life')
})

void t.test('half a lock, or garbage with a time that lies ahead, is what a dead process left', { timeout: 200_000 }, async (t) => {
  for (const text of ['', '{"pid":', '{"pid":1}', '[]']) {
    const dataDir = temporaryFolder(t, 'lock')
    const lock = writeLock(dataDir, text)
    const ahead = Date.now() / 1000 + 100_000
    utimesSync(lock, ahead, ahead)
    t.equal((await cycle(dataDir)).phase, 'Synced', text)
  }
})

void t.test('what is no file in the place of the lock is named with its path', async (t) => {
  const dataDir = temporaryFolder(t, 'lock')
  mkdirSync(path.join(dataDir, '.cluster-sync/lock'), { recursive: true })
  t.match(await cycle(dataDir), { phase: 'Failed', reason: 'FolderLocked', message: path.join(dataDir, '.cluster-sync/lock') })
})

void t.test('of several agents that start at once over the lock of a dead one, exactly one holds it', async (t) => {
  for (let round = 0; round < 3; round += 1) {
    const dataDir = temporaryFolder(t, 'lock')
    writeLock(dataDir, JSON.stringify({ ...currentHolder(), id: 'other', pid: 4_194_303, startTime: '1' }))
    const holders = await Promise.all(Array.from({ length: 5 }, () => holder(t, dataDir)))
    t.same(holders.map(({ said }) => said).toSorted(), ['FolderLocked', 'FolderLocked', 'FolderLocked', 'FolderLocked', 'held'])
    await Promise.all(holders.map(({ kill }) => kill()))
  }
})

void t.test('on a full volume a lock is not had, and nothing of it stays', async (t) => {
  const dataDir = mounted(t, 'size=1m')
  if (dataDir === undefined) return
  fill(dataDir, 0)
  for (let round = 0; round < 2; round += 1) {
    t.match(await cycle(dataDir), { phase: 'Failed', reason: 'DiskFull' })
    t.same(readdirSync(path.join(dataDir, '.cluster-sync')), [])
  }
  rmSync(path.join(dataDir, 'filler'))
  t.equal((await cycle(dataDir)).phase, 'Synced')
})

void t.test('a volume that is full is no failure where the lock is had already and everything is in place', async (t) => {
  const dataDir = mounted(t, 'size=1m')
  if (dataDir === undefined) return
  const source = memorySource()
  const memory: EngineMemory = { manifest: undefined }
  const deps = { source, gateway: undefined, clock: systemClock, log: silentLog, memory }
  const wanted = wantedOf(dataDir, source.commit({ 'projects/a': '1' }), profile)
  t.equal((await runCycle(deps, wanted, AbortSignal.timeout(60_000))).phase, 'Synced')
  fill(dataDir, 0)
  t.match(await runCycle(deps, wanted, AbortSignal.timeout(60_000)), { phase: 'Synced', message: undefined })
  releaseLock(dataDir)
})
