/**
 * One writer per data directory: a lock file that says who holds it. A dead holder's lock is taken over, a living one's refused. The lock
 * belongs to the process, not to one cycle: between two cycles nobody else may write either.
 */
import { randomUUID } from 'node:crypto'
import * as fs from 'node:fs'
import { hostname } from 'node:os'
import path from 'node:path'
import * as v from 'valibot'
import { Fault } from '../fault.ts'
import { currentBootId } from './boot.ts'
import { diskFault, errorCode, giveToFolderOwner, readSmallFile, writeAll } from './disk.ts'
import { type EngineFolder, openEngineFolder } from './folders.ts'

const holderSchema = v.object({
  pid: v.number(),
  /** Clock ticks since boot at which the process started: a reused pid has another. */
  startTime: v.string(),
  bootId: v.string(),
  /** A pid means something in its own namespace only. */
  pidNamespace: v.string(),
  /** The pod's name in a cluster; a pod has one agent, so an older holder of the same name in another namespace is dead. */
  host: v.string(),
  /** Without a sign of life for this long, a holder on another host counts as dead. */
  staleAfterMs: v.number(),
})
export type Holder = v.InferOutput<typeof holderSchema>

export function currentHolder(staleAfterMs: number): Holder {
  return {
    pid: process.pid,
    startTime: startTimeOf('self') ?? '',
    bootId: currentBootId(),
    pidNamespace: readLink('/proc/self/ns/pid'),
    host: hostname(),
    staleAfterMs,
  }
}

/** What is known of a holder's process from here. */
export type Evidence = {
  /** Start time of the process that has the holder's pid in our namespace; undefined when there is none. */
  startTime: string | undefined
  /** Milliseconds since the lock's last sign of life. */
  silentMs: number
}

/** `ours` when the lock is held by this very process. Pure. */
export function judgeHolder(holder: Holder, self: Holder, evidence: Evidence): 'ours' | 'alive' | 'dead' {
  if (holder.bootId === self.bootId && holder.pidNamespace === self.pidNamespace) {
    if (holder.pid === self.pid && holder.startTime === self.startTime) return 'ours'
    return evidence.startTime === holder.startTime ? 'alive' : 'dead'
  }
  if (holder.host === self.host) return 'dead'
  return evidence.silentMs > holder.staleAfterMs ? 'dead' : 'alive'
}

/**
 * Takes the lock, or keeps it when this process holds it already. `syncPeriodMs` is how often a sign of life is given.
 * Throws FolderLocked, NotWritable, DiskFull.
 */
export function takeLock(dataDir: string, nowMs: number, syncPeriodMs: number): void {
  const self = currentHolder(3 * syncPeriodMs + 60_000)
  try {
    for (let attempt = 0; attempt < 3; attempt += 1) {
      if (tryLock(dataDir, self, nowMs) === 'held') return
    }
  } catch (error) {
    throw diskFault(error, '.cluster-sync/lock')
  }
  throw new Fault('FolderLocked', 'the lock of the data directory changes hands; trying again')
}

function tryLock(dataDir: string, self: Holder, nowMs: number): 'held' | 'again' {
  using engine = openEngineFolder(dataDir)
  const lock = engine.at('lock')
  if (createLock(engine, self)) return 'held'
  const judged = readLock(lock, self, nowMs)
  if (judged === undefined) return 'again'
  if (judged.verdict === 'ours') {
    fs.utimesSync(lock, nowMs / 1000, nowMs / 1000)
    return 'held'
  }
  if (judged.verdict === 'alive') {
    const { holder } = judged
    if (holder === undefined) throw new Fault('FolderLocked', 'another process is about to take the lock of this data directory')
    throw new Fault(
      'FolderLocked',
      `process ${holder.pid} on "${holder.host}" writes to this data directory; stop it, or give each its own`,
    )
  }
  removeStale(engine, judged.text)
  return 'again'
}

/** A link is made whole or not at all: nobody ever reads half a lock. */
function createLock({ at }: EngineFolder, self: Holder): boolean {
  const lock = at('lock')
  const temporary = at(`lock.${randomUUID()}`)
  writeLock(temporary, self)
  try {
    fs.linkSync(temporary, lock)
    return true
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(errorCode(error) ?? '')) throw error
    return createWithoutLink(lock, self)
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

type Judged = { holder: Holder | undefined; text: string; verdict: ReturnType<typeof judgeHolder> }

/** Undefined when the lock is gone by now. One that cannot be read is half a write of a dead process, once it is a few seconds old. */
function readLock(lock: string, self: Holder, nowMs: number): Judged | undefined {
  const stat = fs.lstatSync(lock, { throwIfNoEntry: false })
  const text = readSmallFile(lock, 64 * 1024)?.toString('utf8')
  if (stat === undefined || text === undefined) return undefined
  const silentMs = nowMs - stat.mtimeMs
  const holder = parseHolder(text)
  if (holder === undefined) return { holder, text, verdict: silentMs > 10_000 ? 'dead' : 'alive' }
  return { holder, text, verdict: judgeHolder(holder, self, { startTime: startTimeOf(String(holder.pid)), silentMs }) }
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
function removeStale({ at }: EngineFolder, judged: string): void {
  const lock = at('lock')
  const aside = at(`lock.${randomUUID()}`)
  try {
    fs.renameSync(lock, aside)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return
    throw error
  }
  try {
    if (readSmallFile(aside, 64 * 1024)?.toString('utf8') !== judged) fs.linkSync(aside, lock)
  } finally {
    fs.rmSync(aside, { force: true })
  }
}

/** Gives the lock back when this process holds it. Never throws: the next writer takes over a dead one's. */
export function releaseLock(dataDir: string): void {
  try {
    using engine = openEngineFolder(dataDir)
    const lock = engine.at('lock')
    if (readLock(lock, currentHolder(0), 0)?.verdict === 'ours') fs.rmSync(lock, { force: true })
  } catch {
    // The process ends; its lock is then a dead one's.
  }
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
