/**
 * Reads what is on disk at the paths that a plan concerns. Every component of a path is checked with lstat: a symbolic link is reported,
 * never followed.
 */
import * as fs from 'node:fs'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { BlobId } from '../../content/protocol/protocol.ts'
import { Fault } from '../../platform/fault.ts'
import { isDirectlyIn, parentOf } from '../../api/values.ts'
import { diskFault, errorCode, hashFile, isMissing } from '../disk/disk.ts'
import { knownVerdict } from './drift.ts'
import { type Folders, openFolders, withFolders } from '../disk/folders.ts'
import type { FileStat, Owned } from '../model/manifest.ts'
import { isForbidden, isGatewayIdentity, tooLong } from '../model/paths.ts'
import { createObservations, type Observed, type Observations } from './observed.ts'

/** Listing stops after this many files: in a larger folder `prune: All` does not delete all foreign files in one sync. */
const maxListed = 1_000_000
/** Files between two yields to the event loop, which serves probes and signals; 500 lstat calls take about 2 ms. */
const slice = 500

/** Changes with the entries of a folder. On disks with coarse timestamps, `nlink` shows a change within the same timestamp. */
type FolderStat = Pick<fs.Stats, 'ino' | 'mtimeMs' | 'nlink' | 'size'>
type Folder =
  ({ kind: 'folder' } & FolderStat) | { kind: 'absent'; topmost: string } | Extract<Observed, { kind: 'special' | 'under-file' }>

/** Inspects paths of one data directory and caches their folders. */
export type Observer = {
  /** Returns what is at a path, without reading content. Throws faults of the disk. */
  observe(path: string): Observed
  /**
   * Call this after time has passed: clears the cache unless each folder is the same, with no entry created, removed or renamed. Throws
   * faults of the disk.
   */
  refresh(): void
}

/**
 * Caches folders, so each use needs a new or refreshed observer. Uses plain paths, because inspecting reveals only kinds, sizes and times,
 * and a drift check makes thousands of calls; everything that is read or written goes through descriptors (folders.ts).
 */
export function createObserver(dataDir: string): Observer {
  const folders = new Map<string, Folder>()
  /** Most files are in the folder of the previous one. */
  let latest: { folder: string; is: Folder } | undefined
  const folderAt = (folder: string): Folder => {
    const known = folders.get(folder)
    if (known !== undefined) return known
    const above = folder === '' ? undefined : folderAt(parentOf(folder))
    // Below a folder that is missing, damaged records may name any number of others.
    if (above !== undefined && above.kind !== 'folder') return above
    const result = classify(folder)
    folders.set(folder, result)
    return result
  }
  /** The last path where nothing existed: everything below it is absent too, and no folder there is read or cached. */
  let below: { prefix: string; is: Folder } | undefined
  const folderOf = (file: string): Folder => {
    if (below !== undefined && file.startsWith(below.prefix)) return below.is
    if (latest === undefined || !isDirectlyIn(file, latest.folder)) {
      const folder = parentOf(file)
      latest = { folder, is: folderAt(folder) }
    }
    const { is } = latest
    if (is.kind === 'absent') below = { prefix: `${is.topmost}/`, is }
    return is
  }
  const classify = (folder: string): Folder => {
    const stat = lstat(dataDir, folder)
    // The data directory itself is not checked here.
    if (folder === '' || stat?.isDirectory() === true) return { kind: 'folder', ...folderStat(stat) }
    if (stat === undefined) return { kind: 'absent', topmost: folder }
    if (stat.isFile()) return { kind: 'under-file', file: folder }
    return { kind: 'special', at: folder, what: stat.isSymbolicLink() ? 'link' : 'special' }
  }
  const isAsBefore = (folder: string, known: Folder): boolean => {
    if (known.kind !== 'folder') return true
    const now = classify(folder)
    return now.kind === 'folder' && sameFolder(now, known)
  }
  return {
    observe(file) {
      const above = folderOf(file)
      if (above.kind !== 'folder') return above
      const stat = lstat(dataDir, file)
      if (stat === undefined) return { kind: 'absent', topmost: file }
      if (stat.isFile()) return { kind: 'file', stat: statOf(stat), exec: (stat.mode & 0o100) !== 0, id: undefined }
      if (stat.isDirectory()) return { kind: 'folder', files: [] }
      return { kind: 'special', at: file, what: stat.isSymbolicLink() ? 'link' : 'special' }
    },
    refresh() {
      for (const [folder, known] of folders) {
        if (isAsBefore(folder, known)) continue
        folders.clear()
        latest = undefined
        below = undefined
        return
      }
    },
  }
}

function folderStat(stat: fs.Stats | undefined): FolderStat {
  return { ino: stat?.ino ?? 0, mtimeMs: stat?.mtimeMs ?? 0, nlink: stat?.nlink ?? 0, size: stat?.size ?? 0 }
}

function sameFolder(one: FolderStat, other: FolderStat): boolean {
  return one.ino === other.ino && one.mtimeMs === other.mtimeMs && one.nlink === other.nlink && one.size === other.size
}

function lstat(dataDir: string, file: string): fs.Stats | undefined {
  try {
    return fs.lstatSync(file === '' ? dataDir : `${dataDir}/${file}`, { throwIfNoEntry: false })
  } catch (error) {
    // Nothing can be at a path that is too long; the plan reports it.
    if (isMissing(error) || errorCode(error) === 'ENAMETOOLONG') return undefined
    throw diskFault(error, file)
  }
}

/** Returns the part of a stat that the manifest records, by which an unchanged file is recognized. */
export function statOf({ size, mtimeMs, ino, mode }: fs.Stats): FileStat {
  return { size, mtimeMs, ino, mode: mode & 0o7777 }
}

/**
 * Inspects the given paths. A file is read only if it is not owned or its stat differs from the recorded one; with `verifyContent` always.
 * `like` is any id of the commit, for the hash algorithm; `observer` may have cached folders and was just refreshed. Throws faults of the
 * disk and the signal's reason.
 */
export async function observe(
  dataDir: string,
  paths: Iterable<string>,
  owned: ReadonlyMap<string, Owned>,
  options: { like: BlobId; verifyContent: boolean; observer?: Observer | undefined },
  signal: AbortSignal,
): Promise<Observations> {
  const { observer = createObserver(dataDir) } = options
  const folders = openFolders(dataDir)
  try {
    const buffer = new Uint8Array(64 * 1024)
    const result = createObservations()
    let count = 0
    for (const file of paths) {
      if ((count += 1) % slice === 0) {
        await yieldToEventLoop()
        signal.throwIfAborted()
      }
      result.set(file, await observeOne({ folders, observer, buffer, signal }, file, owned.get(file), options))
    }
    return result
  } finally {
    folders.close()
  }
}

type Reading = { folders: Folders; observer: Observer; buffer: Uint8Array; signal: AbortSignal }

async function observeOne(
  reading: Reading,
  file: string,
  owned: Owned | undefined,
  options: { like: BlobId; verifyContent: boolean },
): Promise<Observed> {
  const seen = reading.observer.observe(file)
  if (seen.kind === 'folder') return { kind: 'folder', files: listFiles(reading.folders, file) }
  if (seen.kind !== 'file') return seen
  const verdict = owned === undefined || options.verifyContent ? undefined : knownVerdict(owned, seen.stat)
  if (verdict === 'clean') return { ...seen, id: owned?.rendered?.id ?? owned?.id }
  if (verdict !== undefined) return { ...seen, id: owned?.driftVerdict?.id }
  return { ...seen, id: await hashOf(reading, file, options.like) }
}

/** Returns the content's id; null if it is unreadable, changes meanwhile, or is no longer the file that was inspected. */
async function hashOf({ folders, buffer, signal }: Reading, file: string, like: BlobId): Promise<BlobId | null> {
  try {
    return (await hashFile(folders.at(file), like, buffer, signal)) ?? null
  } catch (error) {
    if (isMissing(error) || (error instanceof Fault && error.reason === 'SymbolicLink')) return null
    throw diskFault(error, file)
  }
}

/** An owned file that differs from what was written. */
export type DriftedFile = { path: string; seen: Observed }

/** Returns the owned files that differ from what was written. Calls stat for each; content is read only if the stat differs. */
export async function findDrift(
  dataDir: string,
  owned: ReadonlyMap<string, Owned>,
  options: { like: BlobId; verifyContent: boolean },
  signal: AbortSignal,
): Promise<{ drifted: DriftedFile[]; touched: DriftedFile[] }> {
  const observer = createObserver(dataDir)
  const folders = openFolders(dataDir)
  try {
    const buffer = new Uint8Array(64 * 1024)
    const drifted: DriftedFile[] = []
    /** Files with the same content but another stat: the manifest records it, so that they are not read again. */
    const touched: DriftedFile[] = []
    let count = 0
    for (const [file, entry] of owned) {
      if ((count += 1) % slice === 0) {
        await yieldToEventLoop()
        signal.throwIfAborted()
      }
      const seen = observer.observe(file)
      if (!options.verifyContent && seen.kind === 'file' && knownVerdict(entry, seen.stat) === 'clean') continue
      const full = await observeOne({ folders, observer, buffer, signal }, file, entry, options)
      const same = full.kind === 'file' && full.id === (entry.rendered?.id ?? entry.id) && !wasChmod(entry, full)
      if (!same) drifted.push({ path: file, seen: full })
      else if (knownVerdict(entry, full.stat) !== 'clean') touched.push({ path: file, seen: full })
    }
    return { drifted, touched }
  } finally {
    folders.close()
  }
}

/**
 * Whether the permissions of the written file itself were changed. A gateway that writes the same content again gives the new file its
 * default permissions; that is not a change as long as the executable bit is the same.
 */
function wasChmod({ exec, stat }: Owned, seen: Extract<Observed, { kind: 'file' }>): boolean {
  return seen.exec !== exec || (seen.stat.ino === stat.ino && seen.stat.mtimeMs === stat.mtimeMs && seen.stat.mode !== stat.mode)
}

/**
 * Returns the paths of all files, links and special files below a folder. Folders themselves are not listed, except those whose path is too
 * long for the file system: thousands of nested ones would exhaust the memory. Such a path is never desired, nor a file to delete.
 */
function listFiles(folders: Folders, folder: string): string[] {
  const result: string[] = []
  const waiting = [folder]
  for (let next = waiting.pop(); next !== undefined && result.length < maxListed; next = waiting.pop()) {
    let entries: fs.Dirent[]
    try {
      entries = fs.readdirSync(folders.folder(next), { withFileTypes: true })
    } catch (error) {
      if (isMissing(error)) continue
      throw diskFault(error, next)
    }
    for (const entry of entries) {
      const file = next === '' ? entry.name : `${next}/${entry.name}`
      if (entry.isDirectory() && tooLong(file, 0) === undefined) waiting.push(file)
      else result.push(file)
    }
  }
  return result
}

/** Lists folders of the data directory, each once; a missing folder is empty. Throws faults of the disk. */
export function listings(dataDir: string): (folder: string) => ReadonlySet<string> {
  const known = new Map<string, ReadonlySet<string>>()
  return (folder) => {
    const names = known.get(folder) ?? new Set(namesIn(dataDir, folder))
    known.set(folder, names)
    return names
  }
}

function namesIn(dataDir: string, folder: string): string[] {
  return withFolders(dataDir, (folders) => {
    try {
      return fs.readdirSync(folders.folder(folder))
    } catch (error) {
      if (isMissing(error)) return []
      throw diskFault(error, folder)
    }
  })
}

/** Returns the paths of all files, links and special files below a folder of the data directory. */
export function listBelow(dataDir: string, folder: string): string[] {
  return withFolders(dataDir, (folders) => listFiles(folders, folder))
}

/**
 * Returns the regular files below a folder that `prune: All` may delete: not desired, not the gateway's identity, not in a forbidden place.
 */
export function listForeign(dataDir: string, folder: string, isDesired: (file: string) => boolean): string[] {
  const observer = createObserver(dataDir)
  if (observer.observe(folder).kind !== 'folder') return []
  return withFolders(dataDir, (folders) =>
    listFiles(folders, folder).filter(
      (file) => !isDesired(file) && !isForbidden(file) && !isGatewayIdentity(file) && observer.observe(file).kind === 'file',
    ),
  )
}
