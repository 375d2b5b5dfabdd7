/**
 * Ensures one writer per data directory with a lock file that names its holder. The lock belongs to the process, not to one cycle: no other
 * process may write between two cycles either. A holder in the same PID namespace is checked by its process. One in another namespace (a
 * container, another machine) is not visible, regardless of its host name: every holder touches its lock every few seconds, and a process
 * that waits for the lock watches for the next touch. Wall clocks, which may jump or differ, are not used.
 */
import { randomUUID } from 'node:crypto'
import * as fs from 'node:fs'
import { hostname } from 'node:os'
import path from 'node:path'
import { performance } from 'node:perf_hooks'
import type { Clock } from '../../platform/clock.ts'
import { Fault } from '../../platform/fault.ts'
import { currentBootId } from './clean-marker.ts'
import { diskFault, errorCode, giveToFolderOwner, isMissing, readSmallFile, removeFile, writeAll } from './disk.ts'
import { type EngineFolder, withEngineFolder } from './folders.ts'
import { type Holder, classifyHolder, parseHolder, startTimeOf } from './lock-holder.ts'

/** Heartbeat interval of a holder. */
const beatMs = 5_000
/** A holder that is not visible counts as dead after this long without a heartbeat: several intervals, for a disk may be slow. */
const silentMs = 20_000
const pollIntervalMs = 250
const maxLockBytes = 64 * 1024

const ownId = randomUUID()

/** This process as the holder of a lock. `only`: see `Holder`. */
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

/** The locks of this process by data directory, with their heartbeat timers. */
const held = new Map<string, { timer: NodeJS.Timeout; beatAtMs: number }>()
let releasesAtExit = false

/**
 * Takes the lock, or keeps it if this process holds it already. `only`: see `Holder`. Waits for up to 20 s if a holder may be dead. Throws
 * FolderLocked, NotWritable, DiskFull, and the signal's reason.
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
  throw new Fault('FolderLocked', `several processes request the lock of "${dataDir}" at once; retrying`)
}

function refusal(dataDir: string, { holder }: HeldLock): Fault {
  const who = holder === undefined ? 'an unknown process' : `process ${holder.pid} on "${holder.host}"`
  const stop = holder !== undefined && holder.host === hostname() ? `stop it (kill ${holder.pid})` : 'stop it'
  const where = path.join(dataDir, '.cluster-sync/lock')
  return new Fault(
    'FolderLocked',
    `${who} is writing to "${dataDir}"; ${stop}, or give each its own data directory (the lock is "${where}")`,
  )
}

type HeldLock = { holder: Holder | undefined; text: string; verdict: 'alive' | 'dead' | 'unseen' }

/** Tries to take the lock. Returns its holder; undefined if this process has it now. */
function tryLock(dataDir: string, self: Holder): HeldLock | undefined {
  return withEngineFolder(dataDir, (engine) => {
    for (let attempt = 0; attempt < 3; attempt += 1) {
      // Read first: a lock already held needs no space on a volume that may be full.
      const text = readLock(engine)
      if (text === undefined) {
        if (createLock(engine, self)) return undefined
        continue
      }
      const holder = parseHolder(text)
      if (holder === undefined) return { holder, text, verdict: 'unseen' }
      const verdict = classifyHolder(holder, self, startTimeOf(String(holder.pid)))
      if (verdict === 'ours') return undefined
      return { holder, text, verdict }
    }
    throw new Fault('FolderLocked', `"${path.join(dataDir, '.cluster-sync/lock')}" is not a file; remove it`)
  })
}

/** Watches a holder that is not visible until it sends a heartbeat, or has sent none for too long. */
async function showsLife(dataDir: string, { text, verdict }: HeldLock, clock: Clock, signal: AbortSignal): Promise<boolean> {
  if (verdict === 'alive') return true
  const before = signOfLife(dataDir)
  const endMs = clock.monotonicMs() + silentMs
  while (clock.monotonicMs() < endMs) {
    await clock.wait(pollIntervalMs, signal)
    // Released, or taken by another process meanwhile.
    if (withEngineFolder(dataDir, readLock) !== text) return false
    if (signOfLife(dataDir) !== before) return true
  }
  return false
}

function signOfLife(dataDir: string): number | undefined {
  return withEngineFolder(dataDir, (engine) => fs.lstatSync(engine.at('lock'), { throwIfNoEntry: false })?.mtimeMs)
}

/** Creates the lock by a hard link to a complete file, so that a half-written one is never read. False if there is a lock already. */
function createLock({ at }: EngineFolder, self: Holder): boolean {
  const temporary = at(`lock.${randomUUID()}`)
  writeLock(temporary, self)
  try {
    fs.linkSync(temporary, at('lock'))
    return true
  } catch (error) {
    // The temporary file is gone when another process has just taken the lock and swept the folder.
    if (['EEXIST', 'ENOENT'].includes(errorCode(error) ?? '')) return false
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(errorCode(error) ?? '')) throw error
    return createWithoutLink(at('lock'), self)
  } finally {
    removeFile(temporary)
  }
}

/** Leaves no partial file if it throws, as on a full volume. */
function writeLock(file: string, self: Holder): void {
  const fd = fs.openSync(file, 'wx', 0o600)
  try {
    giveToFolderOwner(fd, path.dirname(file))
    writeAll(fd, Buffer.from(JSON.stringify(self)))
  } catch (error) {
    removeFile(file)
    throw error
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

/** Moves the lock away and checks what was moved: if another process took it over meanwhile, it is put back. */
function removeStale(dataDir: string, content: string): void {
  withEngineFolder(dataDir, (engine) => {
    const [lock, aside] = [engine.at('lock'), engine.at(`lock.${randomUUID()}`)]
    if (readLock(engine) !== content) return
    try {
      fs.renameSync(lock, aside)
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return
      throw error
    }
    try {
      if (readSmallFile(aside, maxLockBytes)?.toString('utf8') !== content) fs.linkSync(aside, lock)
    } finally {
      removeFile(aside)
    }
  })
}

function keepBeating(dataDir: string): void {
  if (held.has(dataDir)) return
  // A process that exits normally releases its locks.
  if (!releasesAtExit) process.once('exit', releaseAll)
  releasesAtExit = true
  const timer = setInterval(() => beat(dataDir), beatMs)
  timer.unref()
  held.set(dataDir, { timer, beatAtMs: performance.now() })
}

function beat(dataDir: string): void {
  const known = held.get(dataDir)
  try {
    withEngineFolder(dataDir, (engine) => {
      if (known === undefined || parseHolder(readLock(engine) ?? '')?.id !== ownId) return forget(dataDir)
      const now = Date.now() / 1000
      fs.lutimesSync(engine.at('lock'), now, now)
      known.beatAtMs = performance.now()
    })
  } catch {
    // The next cycle hits the same error and reports it.
  }
}

/** Sends a heartbeat if one is due; for work that keeps timers from running for long. */
export function beatWhenDue(dataDir: string): void {
  const known = held.get(dataDir)
  if (known !== undefined && performance.now() - known.beatAtMs > beatMs) beat(dataDir)
}

/** Called before the first rename. Throws FolderLocked if another process has the lock by now, as after this process was suspended. */
export function confirmLock(dataDir: string): void {
  const holder = parseHolder(withEngineFolder(dataDir, readLock) ?? '')
  if (holder?.id === ownId) return
  forget(dataDir)
  throw refusal(dataDir, { holder, text: '', verdict: 'alive' })
}

function forget(dataDir: string): void {
  clearInterval(held.get(dataDir)?.timer)
  held.delete(dataDir)
}

/** Releases the lock if this process holds it. Never throws: the next writer takes over the lock of a dead process. */
export function releaseLock(dataDir: string): void {
  forget(dataDir)
  try {
    withEngineFolder(dataDir, (engine) => {
      if (parseHolder(readLock(engine) ?? '')?.id === ownId) removeFile(engine.at('lock'))
    })
  } catch (error) {
    if (isMissing(error)) return
    // The process exits anyway, and its lock is then that of a dead process.
  }
}

function releaseAll(): void {
  for (const dataDir of held.keys()) releaseLock(dataDir)
}

function readLink(file: string): string {
  try {
    return fs.readlinkSync(file)
  } catch {
    return ''
  }
}
