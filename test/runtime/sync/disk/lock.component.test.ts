/**
 * Tests that each data directory has one writer, with real processes.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { type Clock, systemClock } from '../../../../runtime/platform/clock.ts'
import { silentLog } from '../../../../runtime/platform/log/log.ts'
import { type CycleResult, type EngineMemory, runCycle } from '../../../../runtime/sync/cycle.ts'
import { currentHolder, releaseLock, takeLock } from '../../../../runtime/sync/disk/lock.ts'
import { listTree } from '../../../../scripts/quickstart/check.ts'
import { matchObject, rejectsWith } from '../../../support/assertions.ts'
import { memorySource, profileOf, desiredOf } from '../../../support/memory-source.ts'
import { temporaryFolder } from '../../../support/repository.ts'
import { absent, requires } from '../../../support/requires.ts'
import { fill, mounted } from '../../../support/small-volume.ts'

const program = path.resolve(import.meta.dirname, '../../../support/programs/hold-lock.ts')
const profile = profileOf([{ source: 'projects', destination: 'projects' }])

async function cycle(dataDir: string, only = '', clock: Clock = systemClock): Promise<CycleResult> {
  const source = memorySource()
  const deps = { source, gateway: undefined, clock, log: silentLog, memory: { manifest: undefined }, only }
  const result = await runCycle(deps, desiredOf(dataDir, source.commit({ 'projects/a': '1' }), profile), AbortSignal.timeout(60_000))
  releaseLock(dataDir)
  return result
}

/** A clock on which every wait ends at once; `beat` is called for each, with the time afterwards. */
function fastClock(beat: (nowMs: number) => void = () => {}): Clock {
  let nowMs = 0
  const wait = async (ms: number): Promise<void> => beat((nowMs += ms))
  return { ...systemClock, monotonicMs: () => nowMs, wait }
}

/** A process that tries to take the lock; `said` is the outcome that it prints. */
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

void t.test('a second agent is refused with the name of the first, and takes over once that one is killed', async (t) => {
  const dataDir = temporaryFolder(t, 'lock')
  const { child, said, kill } = await holder(t, dataDir)
  t.equal(said, 'held')
  const result = await cycle(dataDir)
  matchObject(t, result, { phase: 'Failed', reason: 'FolderLocked' })
  t.match(result.message, new RegExp(`process ${child.pid} on `))
  t.strictSame(listTree(dataDir), ['.cluster-sync/lock'], 'nothing was written')
  await kill()
  t.equal((await cycle(dataDir)).phase, 'Synced')
  t.strictSame(
    listTree(dataDir).filter((file) => file.includes('lock')),
    [],
    'nothing is left of the other lock, nor of ours once it is given back',
  )
})

void t.test('a lock whose pid was reused by another process is taken over', async (t) => {
  const dataDir = temporaryFolder(t, 'lock')
  const { child, kill } = await holder(t, temporaryFolder(t, 'other'))
  writeLock(dataDir, JSON.stringify({ ...currentHolder(), id: 'other', pid: child.pid, startTime: '1' }))
  t.equal((await cycle(dataDir)).phase, 'Synced')
  await kill()
})

/** Starts the program as process 1 of a new PID namespace, with the same host name. */
function holderElsewhere(t: Test, dataDir: string): Promise<{ child: ChildProcess; said: string; kill: () => Promise<void> }> {
  return holder(t, dataDir, ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child'])
}

void t.test('agents in different PID namespaces with one host name exclude each other', { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'unshare') || !mayUnshare(t)) return
  const dataDir = temporaryFolder(t, 'lock')
  const first = await holderElsewhere(t, dataDir)
  t.equal(first.said, 'held')
  t.equal((await holderElsewhere(t, dataDir)).said, 'FolderLocked', 'from a third one')
  const result = await cycle(dataDir)
  matchObject(t, result, { phase: 'Failed', reason: 'FolderLocked' }, 'from here')
  t.match(
    result.message,
    new RegExp(`^process 1 on .* is writing to "${dataDir}"; stop it \\(kill 1\\), or give each its own data directory`),
  )
  t.notOk(existsSync(path.join(dataDir, 'projects')), 'nothing was written')

  const ended = once(first.child, 'exit')
  first.child.stdin?.end()
  await ended
  t.equal((await holderElsewhere(t, dataDir)).said, 'held', 'given back at a good end')
})

void t.test('the lock of a killed holder in another PID namespace is taken over', { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'unshare') || !mayUnshare(t)) return
  const dataDir = temporaryFolder(t, 'lock')
  const first = await holderElsewhere(t, dataDir)
  t.equal(first.said, 'held')
  await first.kill()
  t.equal((await cycle(dataDir, '', fastClock())).phase, 'Synced')
})

void t.test('the lock of another host is valid while its heartbeat continues, for any clock difference', async (t) => {
  const dataDir = temporaryFolder(t, 'lock')
  const elsewhere = { ...currentHolder(), id: 'other', host: 'elsewhere', bootId: 'other', pidNamespace: 'other' }
  const lock = writeLock(dataDir, JSON.stringify(elsewhere))
  const longAgo = Date.now() / 1000 - 100_000
  const beating = fastClock((nowMs) => utimesSync(lock, longAgo, longAgo + nowMs / 1000))
  matchObject(t, await cycle(dataDir, '', beating), { phase: 'Failed', reason: 'FolderLocked', message: /on "elsewhere"/ })
  const ahead = Date.now() / 1000 + 100_000
  utimesSync(lock, ahead, ahead)
  t.equal((await cycle(dataDir, '', fastClock())).phase, 'Synced', 'silent, though its time lies ahead')
})

void t.test('a lock in an unknown format is valid while it has a heartbeat every five seconds', async (t) => {
  const dataDir = temporaryFolder(t, 'lock')
  const lock = writeLock(dataDir, '{"format":2}')
  const clock = fastClock((nowMs) => {
    if (nowMs % 5_000 === 0) utimesSync(lock, nowMs, nowMs)
  })
  await rejectsWith(t, takeLock(dataDir, clock, new AbortController().signal), {
    reason: 'FolderLocked',
    message: /^an unknown process is writing to /,
  })
  t.equal(clock.monotonicMs(), 5_000)
})

void t.test('an earlier agent of the same pod counts as dead', async (t) => {
  const dataDir = temporaryFolder(t, 'lock')
  writeLock(dataDir, JSON.stringify({ ...currentHolder('pod-uid'), id: 'other', pidNamespace: 'other' }))
  const startedMs = systemClock.monotonicMs()
  t.equal((await cycle(dataDir, 'pod-uid')).phase, 'Synced')
  t.ok(systemClock.monotonicMs() - startedMs < 20_000, 'without watching for its signs of life')
})

void t.test('an incomplete or invalid lock is taken over, even with a timestamp in the future', async (t) => {
  for (const text of ['', '{"pid":', '{"pid":1}', '[]']) {
    const dataDir = temporaryFolder(t, 'lock')
    const lock = writeLock(dataDir, text)
    const ahead = Date.now() / 1000 + 100_000
    utimesSync(lock, ahead, ahead)
    t.equal((await cycle(dataDir, '', fastClock())).phase, 'Synced', text)
  }
})

void t.test('a lock path that is not a file is named in the error', async (t) => {
  const dataDir = temporaryFolder(t, 'lock')
  mkdirSync(path.join(dataDir, '.cluster-sync/lock'), { recursive: true })
  matchObject(t, await cycle(dataDir), {
    phase: 'Failed',
    reason: 'FolderLocked',
    message: `"${path.join(dataDir, '.cluster-sync/lock')}" is not a file; remove it`,
  })
})

void t.test('of several agents that start at once over a dead lock exactly one gets it', async (t) => {
  for (let round = 0; round < 3; round += 1) {
    const dataDir = temporaryFolder(t, 'lock')
    writeLock(dataDir, JSON.stringify({ ...currentHolder(), id: 'other', pid: 4_194_303, startTime: '1' }))
    const holders = await Promise.all(Array.from({ length: 5 }, () => holder(t, dataDir)))
    t.strictSame(holders.map(({ said }) => said).toSorted(), ['FolderLocked', 'FolderLocked', 'FolderLocked', 'FolderLocked', 'held'])
    await Promise.all(holders.map(({ kill }) => kill()))
  }
})

void t.test('on a full volume no lock is taken, and nothing of it remains', async (t) => {
  const dataDir = mounted(t, 'size=1m')
  if (dataDir === undefined) return
  fill(dataDir, 0)
  for (let round = 0; round < 2; round += 1) {
    matchObject(t, await cycle(dataDir), { phase: 'Failed', reason: 'DiskFull' })
    t.strictSame(readdirSync(path.join(dataDir, '.cluster-sync')), [])
  }
  rmSync(path.join(dataDir, 'filler'))
  t.equal((await cycle(dataDir)).phase, 'Synced')
})

void t.test('a full volume is not a failure if the lock is held and nothing is to be written', async (t) => {
  const dataDir = mounted(t, 'size=1m')
  if (dataDir === undefined) return
  const source = memorySource()
  const memory: EngineMemory = { manifest: undefined }
  const deps = { source, gateway: undefined, clock: systemClock, log: silentLog, memory }
  const target = desiredOf(dataDir, source.commit({ 'projects/a': '1' }), profile)
  t.equal((await runCycle(deps, target, AbortSignal.timeout(60_000))).phase, 'Synced')
  fill(dataDir, 0)
  matchObject(t, await runCycle(deps, target, AbortSignal.timeout(60_000)), { phase: 'Synced', message: undefined })
  releaseLock(dataDir)
})
