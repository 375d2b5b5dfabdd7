/**
 * Provides paths below one folder that no symbolic link can redirect. Each parent folder is opened once without following links, and calls
 * are made relative to its descriptor (`/proc/self/fd/<n>/<name>`): if another process swaps a folder for a link between two calls, the
 * second still reaches the same folder. A program in the gateway's container could do that at any time, to make the agent read or overwrite
 * files that the program may not access itself, such as the agent's tokens. A system without such paths (macOS, for development only)
 * checks every parent folder before each call instead, which leaves the moment between check and call.
 */
import * as fs from 'node:fs'
import path from 'node:path'
import { Fault } from '../../platform/fault.ts'
import { engineFolder } from '../../api/names.ts'
import { parentOf } from '../../api/values.ts'
import { diskFault, errorCode, isMissing, readSmallFile } from './disk.ts'

/** Paths are relative to the root. */
export type Folders = {
  /**
   * The address of an entry, valid until the second call after this one. Throws SymbolicLink if a parent folder is a link, and system
   * errors for one that is missing (ENOENT) or not a folder (ENOTDIR).
   */
  at(entry: string): string
  /** The address of a folder itself; `''` is the root. */
  folder(folder: string): string
  /** Call this for a folder that was moved, replaced or removed: closes its descriptor and those below it. */
  forget(folder: string): void
  /** Closes all descriptors; no address is valid after this. */
  close(): void
}

/** How many descriptors stay open: an apply accesses its folders in order, and a process may be permitted few open files. */
const keptHandles = 16
/** O_PATH, which Node's constants lack: opens a folder without reading it, so that no permission to list it is needed. */
const pathOnly = 0o10000000
export const openFolder = fs.constants.O_DIRECTORY | fs.constants.O_NOFOLLOW | (process.platform === 'linux' ? pathOnly : 0)
export const descriptors = '/proc/self/fd'

/** Throws DataDirectoryMissing, SymbolicLink, or what opening a folder throws. */
export function openFolders(root: string): Folders {
  return process.platform === 'linux' ? new DescriptorFolders(root) : checkedFolders(root)
}

/** The operator's folder in the data directory: on the same file system as what the gateway reads, but where no gateway reads. */
export type EngineFolder = {
  /** The address of the folder itself. */
  folder(): string
  /** The address of a file in it. */
  at(name: string): string
}

/** Opens the folders for one synchronous call. Throws what `openFolders` throws. */
export function withFolders<T>(root: string, use: (folders: Folders) => T): T {
  const folders = openFolders(root)
  try {
    return use(folders)
  } finally {
    folders.close()
  }
}

/** The same for the operator's folder. If it is missing, the first address throws ENOENT. */
export function withEngineFolder<T>(dataDir: string, use: (engine: EngineFolder) => T): T {
  return withFolders(dataDir, (folders) =>
    use({ folder: () => folders.folder(engineFolder), at: (name) => folders.at(`${engineFolder}/${name}`) }),
  )
}

/** Reads a regular file up to `maxBytes`; undefined if it is absent, larger, not a regular file, or below a link. */
export function readPresent(folders: Folders, file: string, maxBytes: number): Buffer | undefined {
  try {
    return readSmallFile(folders.at(file), maxBytes)
  } catch (error) {
    if (isMissing(error) || (error instanceof Fault && error.reason === 'SymbolicLink')) return undefined
    throw diskFault(error, file)
  }
}

class DescriptorFolders implements Folders {
  readonly #top: { folder: string; handle: number }
  readonly #handles: Map<string, number>
  /**
   * The folders of the last two addresses: the next one is often one of them, or in one, and finding it among all takes the hash of its
   * path.
   */
  #current: { folder: string; handle: number }
  #previous: { folder: string; handle: number }

  constructor(root: string) {
    this.#top = { folder: '', handle: openRoot(root) }
    this.#handles = new Map([['', this.#top.handle]])
    this.#current = this.#top
    this.#previous = this.#top
  }

  at(entry: string): string {
    const slash = entry.lastIndexOf('/')
    return slash < 0 ? `${this.folder('')}/${entry}` : `${this.folder(entry.slice(0, slash))}/${entry.slice(slash + 1)}`
  }

  folder(folder: string): string {
    return `${descriptors}/${this.#handleOf(folder)}`
  }

  forget(folder: string): void {
    const below = `${folder}/`
    for (const known of this.#handles.keys()) if (known === folder || known.startsWith(below)) this.#close(known)
  }

  close(): void {
    for (const handle of this.#handles.values()) fs.closeSync(handle)
    this.#handles.clear()
    // The descriptor's number may soon be reused.
    this.#top.handle = -1
    this.#current = this.#top
    this.#previous = this.#top
  }

  #handleOf(folder: string): number {
    if (folder === this.#current.folder) return this.#current.handle
    const next = { folder, handle: this.#knownHandle(folder) ?? this.#walk(folder) }
    this.#previous = this.#current
    this.#current = next
    return next.handle
  }

  #knownHandle(folder: string): number | undefined {
    if (folder === this.#current.folder) return this.#current.handle
    return folder === this.#previous.folder ? this.#previous.handle : this.#handles.get(folder)
  }

  /** Opens the parent folders, from the nearest open one. */
  #walk(folder: string): number {
    let known = parentOf(folder)
    let handle = this.#knownHandle(known)
    while (handle === undefined) {
      known = parentOf(known)
      handle = this.#knownHandle(known)
    }
    for (let end = 0; end < folder.length;) {
      const start = known === '' ? 0 : known.length + 1
      const slash = folder.indexOf('/', start)
      end = slash < 0 ? folder.length : slash
      const next = folder.slice(0, end)
      handle = openChild(`${descriptors}/${handle}/${folder.slice(start, end)}`, next)
      this.#handles.set(next, handle)
      this.#closeOldest(next)
      known = next
    }
    return handle
  }

  /** Closes the oldest descriptor, but none of the last two addresses: a rename needs both. */
  #closeOldest(newest: string): void {
    if (this.#handles.size <= keptHandles) return
    const [current, previous] = [this.#current.folder, this.#previous.folder]
    for (const folder of this.#handles.keys()) {
      if (folder === '' || folder === current || folder === previous || folder === newest) continue
      this.#close(folder)
      return
    }
  }

  #close(folder: string): void {
    const handle = this.#handles.get(folder)
    this.#handles.delete(folder)
    if (this.#current.folder === folder) this.#current = this.#top
    if (this.#previous.folder === folder) this.#previous = this.#top
    if (handle !== undefined) fs.closeSync(handle)
  }
}

function openRoot(root: string): number {
  // Without a trailing slash, which would follow a link.
  const handle = openChild(path.resolve(root), root)
  if (fs.existsSync(`${descriptors}/${handle}`)) return handle
  fs.closeSync(handle)
  throw new Fault(
    'InvalidConfiguration',
    `${descriptors} does not exist; mount /proc, which is needed to write files without following links`,
  )
}

function openChild(address: string, named: string): number {
  try {
    return fs.openSync(address, openFolder)
  } catch (error) {
    // ENOTDIR means a link or a file.
    if (errorCode(error) === 'ELOOP' || (errorCode(error) === 'ENOTDIR' && isLink(address))) throw linkFault(named, error)
    throw error
  }
}

function linkFault(named: string, cause?: unknown): Fault {
  return new Fault('SymbolicLink', `"${named}" is a symbolic link, which is never followed; put the folder itself there`, { cause })
}

function isLink(file: string): boolean {
  try {
    return fs.lstatSync(file).isSymbolicLink()
  } catch {
    return false
  }
}

function checkedFolders(root: string): Folders {
  const check = (folder: string): string => {
    const full = path.join(root, folder)
    const stat = fs.lstatSync(full)
    if (stat.isSymbolicLink()) throw linkFault(folder === '' ? root : folder)
    if (!stat.isDirectory()) throw Object.assign(new Error(`ENOTDIR: not a folder, "${full}"`), { code: 'ENOTDIR' })
    if (folder !== '') check(parentOf(folder))
    return full
  }
  const at = (entry: string): string => path.join(check(parentOf(entry)), entry.slice(entry.lastIndexOf('/') + 1))
  return {
    at,
    folder: check,
    forget: () => undefined,
    close: () => undefined,
  }
}
