/**
 * One writer for each data directory, with real processes.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../../runtime/clock.ts'
import { silentLog } from '../../../runtime/log.ts'
import { type CycleResult, runCycle } from '../../../runtime/sync/cycle.ts'
import { currentHolder, releaseLock } from '../../../runtime/sync/lock.ts'
import { listTree } from '../../../scripts/quickstart/check.ts'
import { memorySource, profileOf, wantedOf } from '../../support/memory-source.ts'
import { temporaryFolder } from '../../support/repository.ts'

const program = path.resolve(import.meta.dirname, '../../support/programs/hold-lock.ts')
const profile = profileOf([{ source: 'projects', destination: 'projects' }])

async function cycle(dataDir: string): Promise<CycleResult> {
  const source = memorySource()
  const deps = { source, gateway: undefined, clock: systemClock, log: silentLog, memory: { manifest: undefined } }
  const result = await runCycle(deps, wantedOf(dataDir, source.commit({ 'projects/a': '1' }), profile), AbortSignal.timeout(30_000))
  releaseLock(dataDir)
  return result
}

/** A process that tries to take the lock; `said` is what came of it. */
async function holder(t: Test, dataDir: string): Promise<{ child: ChildProcess; said: string; kill: () => Promise<void> }> {
  const child = spawn(process.execPath, [program, dataDir], { stdio: ['pipe', 'pipe', 'inherit'] })
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
  writeLock(dataDir, JSON.stringify({ ...currentHolder(150_000), pid: child.pid, startTime: '1' }))
  t.equal((await cycle(dataDir)).phase, 'Synced')
  await kill()
})

void t.test('the lock of another host counts as long as it gives signs of life', async (t) => {
  const dataDir = temporaryFolder(t, 'lock')
  const lock = writeLock(dataDir, JSON.stringify({ ...currentHolder(150_000), host: 'elsewhere', bootId: 'other', pidNamespace: 'other' }))
  t.match(await cycle(dataDir), { phase: 'Failed', reason: 'FolderLocked', message: /on "elsewhere"/ })
  const longAgo = Date.now() / 1000 - 151
  utimesSync(lock, longAgo, longAgo)
  t.equal((await cycle(dataDir)).phase, 'Synced')
})

void t.test('half a lock counts for some seconds, then it is the write of a dead process', async (t) => {
  for (const text of ['', '{"pid":', '{"pid":1}', '[]']) {
    const dataDir = temporaryFolder(t, 'lock')
    const lock = writeLock(dataDir, text)
    t.match(await cycle(dataDir), { phase: 'Failed', reason: 'FolderLocked', message: /another process is about to/ }, text)
    t.equal(readFileSync(lock, 'utf8'), text)
    const longAgo = Date.now() / 1000 - 11
    utimesSync(lock, longAgo, longAgo)
    t.equal((await cycle(dataDir)).phase, 'Synced', text)
  }
})

void t.test('of several agents that start at once over the lock of a dead one, exactly one holds it', async (t) => {
  for (let round = 0; round < 3; round += 1) {
    const dataDir = temporaryFolder(t, 'lock')
    writeLock(dataDir, JSON.stringify({ ...currentHolder(150_000), pid: 4_194_303, startTime: '1' }))
    const holders = await Promise.all(Array.from({ length: 5 }, () => holder(t, dataDir)))
    t.same(holders.map(({ said }) => said).toSorted(), ['FolderLocked', 'FolderLocked', 'FolderLocked', 'FolderLocked', 'held'])
    await Promise.all(holders.map(({ kill }) => kill()))
  }
})
