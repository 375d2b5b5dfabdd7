/**
 * One writer per data directory: a lock file that says who holds it. The lock belongs to the process, not to one cycle: between two cycles
 * nobody else may write either. A holder that can be seen from here is judged by its process. One in another PID namespace (a container,
 * another machine) cannot be seen, whatever its host is called: it gives a sign of life every few seconds, and whoever wants the lock
 * watches for the next one. Nothing is concluded from the time of a clock, which may jump or differ.
 */
import { randomUUID } from 'node:crypto'
import * as fs from 'node:fs'
import { hostname } from 'node:os'
import path from 'node:path'
import { performance } from 'node:perf_hooks'
import * as v from 'valibot'
import type { Clock } from '../../clock.ts'
import { Fault } from '../../fault.ts'
import { currentBootId } from './clean-marker.ts'
import { diskFault, errorCode, giveToFolderOwner, isMissing, readSmallFile, writeAll } from './disk.ts'
import { type EngineFolder, openEngineFolder } from './folders.ts'

const holderSchema = v.object({
  /** Made anew for each process. */
  id: v.string(),
  pid: v.number(),
  /** Clock ticks since boot at which the process started: a reused pid has another. */
  startTime: v.string(),
  bootId: v.string(),
  /** A pid means something in its own namespace only. */
  pidNamespace: v.string(),
  host: v.string(),
  /** What only one process at a time can be, such as the agent of a pod by the pod's uid; `''` for one of which that is not known. */
  only: v.string(),
})
export type Holder = v.InferOutput<typeof holderSchema>

/** How often a holder gives a sign of life. */
const beatMs = 5_000
/** Without a sign for so long a holder that cannot be seen counts as dead: a few signs, for a disk may be slow. */
const silentMs = 20_000
/** A lock is written in one call; half of one is what a dead process left. */
const halfWrittenMs = 3_000
const lookMs = 250
const maxLockBytes = 64 * 1024

const ownId = randomUUID()

/** This process, as it stands in a lock that it holds. `only`: the uid of the pod that alone may take the lock over. */
export function currentHolder(only = ''): Holder {
  return {
    id: ownId,
    pid: process.pid,
    startTime: startTimeOf('self') ?? '',
    bootId: currentBootId(),
    pidNamespace: readLink('/proc/self/ns/pid'),
    host: hostname(),
    only,
  }
}

/**
 * `ours` when the lock is held by this very process, `unseen` when only a sign of life can tell. `startTime` is that of the process which has
 * the holder's pid in our namespace; undefined when there is none. Pure.
 */
export function judgeHolder(holder: Holder, self: Holder, startTime: string | undefined): 'ours' | 'alive' | 'dead' | 'unseen' {
  if (holder.id === self.id) return 'ours'
  const isSeen = holder.bootId === self.bootId && holder.pidNamespace === self.pidNamespace && self.pidNamespace !== ''
  if (isSeen) return startTime !== undefined && startTime === holder.startTime ? 'alive' : 'dead'
  if (holder.only !== '' && holder.only === self.only) return 'dead'
  // This machine has started anew since.
  if (holder.host === self.host && holder.bootId !== self.bootId && holder.bootId !== '' && self.bootId !== '') return 'dead'
  return 'unseen'
}

/** The locks of this process, by data directory, with what gives the signs of life. */
const held = new Map<string, { timer: NodeJS.Timeout; beatAtMs: number }>()
let releasesAtExit = false

/**
 * Takes the lock, or keeps it when this process holds it already. `only`: see Holder. Waits for up to 20 s where a holder may be dead.
 * Throws FolderLocked, NotWritable, DiskFull, and the signal's reason.
 */
export async function takeLock(dataDir: string, clock: Clock, signal: AbortSignal, only = ''): Promise<void> {
  const self = currentHolder(only)
  try {
    for (let attempt = 0; attempt < 5; attempt += 1) {
      const found = tryLock(dataDir, self)
      if (found === undefined) return keepBeating(dataDir)
      if (found.verdict !== 'dead' && (await showsLife(dataDir, found, clock, signal))) throw refusal(dataDir, found)
      removeStale(dataDir, found.text)
    }
  } catch (error) {
    throw diskFault(error, '.cluster-sync/lock')
  }
  throw new Fault('FolderLocked', `several processes want the lock of "${dataDir}" at once; trying again`)
}

function refusal(dataDir: string, { holder }: Found): Fault {
  const who = holder === undefined ? 'a process that cannot be told' : `process ${holder.pid} on "${holder.host}"`
  const where = path.join(dataDir, '.cluster-sync/lock')
  return new Fault('FolderLocked', `${who} writes to "${dataDir}"; stop it, or give each its own data directory (the lock is "${where}")`)
}

type Found = { holder: Holder | undefined; text: string; verdict: 'alive' | 'dead' | 'unseen' }

/** Undefined: the lock is ours. */
function tryLock(dataDir: string, self: Holder): Found | undefined {
  using engine = openEngineFolder(dataDir)
  for (let attempt = 0; attempt < 3; attempt += 1) {
    if (createLock(engine, self)) return undefined
    const text = readLock(engine)
    if (text === undefined) continue
    const holder = parseHolder(text)
    if (holder === undefined) return { holder, text, verdict: 'unseen' }
    const verdict = judgeHolder(holder, self, startTimeOf(String(holder.pid)))
    if (verdict === 'ours') return undefined
    return { holder, text, verdict }
  }
  throw new Fault('FolderLocked', `something that is no file stands at "${path.join(dataDir, '.cluster-sync/lock')}"; remove it`)
}

/** Watches a holder that cannot be seen until it shows that it lives, or has been silent for too long. */
async function showsLife(dataDir: string, { holder, text, verdict }: Found, clock: Clock, signal: AbortSignal): Promise<boolean> {
  if (verdict === 'alive') return true
  const before = signOfLife(dataDir)
  const endMs = clock.monotonicMs() + (holder === undefined ? halfWrittenMs : silentMs)
  while (clock.monotonicMs() < endMs) {
    await clock.wait(lookMs, signal)
    using engine = openEngineFolder(dataDir)
    // Given back, or another's by now.
    if (readLock(engine) !== text) return false
    if (signOfLife(dataDir) !== before) return true
  }
  return false
}

function signOfLife(dataDir: string): number | undefined {
  using engine = openEngineFolder(dataDir)
  return fs.lstatSync(engine.at('lock'), { throwIfNoEntry: false })?.mtimeMs
}

/** A link is made whole or not at all, so half a lock is never read. */
function createLock({ at }: EngineFolder, self: Holder): boolean {
  const temporary = at(`lock.${randomUUID()}`)
  writeLock(temporary, self)
  try {
    fs.linkSync(temporary, at('lock'))
    return true
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(errorCode(error) ?? '')) throw error
    return createWithoutLink(at('lock'), self)
  } finally {
    fs.rmSync(temporary, { force: true })
  }
}

function writeLock(file: string, self: Holder): void {
  const fd = fs.openSync(file, 'wx', 0o600)
  try {
    giveToFolderOwner(fd, path.dirname(file))
    writeAll(fd, Buffer.from(JSON.stringify(self)))
  } finally {
    fs.closeSync(fd)
  }
}

function createWithoutLink(lock: string, self: Holder): boolean {
  try {
    writeLock(lock, self)
    return true
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false
    throw error
  }
}

function readLock({ at }: EngineFolder): string | undefined {
  return readSmallFile(at('lock'), maxLockBytes)?.toString('utf8')
}

function parseHolder(text: string): Holder | undefined {
  try {
    const parsed = v.safeParse(holderSchema, JSON.parse(text))
    return parsed.success ? parsed.output : undefined
  } catch {
    return undefined
  }
}

/** Moves the lock away and looks at what was moved: if someone else took it over meanwhile, it is put back. */
function removeStale(dataDir: string, judged: string): void {
  using engine = openEngineFolder(dataDir)
  const [lock, aside] = [engine.at('lock'), engine.at(`lock.${randomUUID()}`)]
  if (readLock(engine) !== judged) return
  try {
    fs.renameSync(lock, aside)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return
    throw error
  }
  try {
    if (readSmallFile(aside, maxLockBytes)?.toString('utf8') !== judged) fs.linkSync(aside, lock)
  } finally {
    fs.rmSync(aside, { force: true })
  }
}

function keepBeating(dataDir: string): void {
  if (held.has(dataDir)) return
  // A process that ends by itself gives its locks back, whatever it was started for.
  if (!releasesAtExit) process.once('exit', releaseAll)
  releasesAtExit = true
  const timer = setInterval(() => beat(dataDir), beatMs)
  timer.unref()
  held.set(dataDir, { timer, beatAtMs: performance.now() })
}

function beat(dataDir: string): void {
  const known = held.get(dataDir)
  try {
    using engine = openEngineFolder(dataDir)
    if (known === undefined || parseHolder(readLock(engine) ?? '')?.id !== ownId) return forget(dataDir)
    const now = Date.now() / 1000
    fs.lutimesSync(engine.at('lock'), now, now)
    known.beatAtMs = performance.now()
  } catch {
    // The next cycle meets the same and says so.
  }
}

/** For work that holds the process for long: a sign of life where one is due. */
export function beatWhenDue(dataDir: string): void {
  const known = held.get(dataDir)
  if (known !== undefined && performance.now() - known.beatAtMs > beatMs) beat(dataDir)
}

/** The last look before the first rename. Throws FolderLocked when the lock is another's by now, as after a sleep of this process. */
export function confirmLock(dataDir: string): void {
  using engine = openEngineFolder(dataDir)
  const holder = parseHolder(readLock(engine) ?? '')
  if (holder?.id === ownId) return
  forget(dataDir)
  throw refusal(dataDir, { holder, text: '', verdict: 'alive' })
}

function forget(dataDir: string): void {
  clearInterval(held.get(dataDir)?.timer)
  held.delete(dataDir)
}

/** Gives the lock back when this process holds it. Never throws: the next writer takes over a dead one's. */
export function releaseLock(dataDir: string): void {
  forget(dataDir)
  try {
    using engine = openEngineFolder(dataDir)
    if (parseHolder(readLock(engine) ?? '')?.id === ownId) fs.rmSync(engine.at('lock'), { force: true })
  } catch (error) {
    if (isMissing(error)) return
    // The process ends; its lock is then a dead one's.
  }
}

function releaseAll(): void {
  for (const dataDir of held.keys()) releaseLock(dataDir)
}

/** Field 22 of /proc/<pid>/stat; the name before it may hold spaces and parentheses. */
function startTimeOf(pid: string): string | undefined {
  try {
    const text = fs.readFileSync(`/proc/${pid}/stat`, 'latin1')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')[19]
  } catch {
    return undefined
  }
}

function readLink(file: string): string {
  try {
    return fs.readlinkSync(file)
  } catch {
    return ''
  }
}
