/**
 * Addresses below one folder that no symbolic link can redirect. Each folder on the way is opened once without following links, and calls are
 * made relative to its descriptor (`/proc/self/fd/<n>/<name>`): if somebody swaps a folder for a link between two of our calls, the second
 * still reaches the same folder. A program in the gateway's container could do that at any time, to make us read or overwrite files that it
 * may not touch itself, such as our own tokens.
 *
 * A system without such addresses (macOS, for development only) checks every folder on the way before each call instead, which leaves the
 * moment between check and call.
 */
import * as fs from 'node:fs'
import path from 'node:path'
import { Fault } from '../../fault.ts'
import { engineFolder } from '../../gatewaysync/names.ts'
import { parentOf } from '../../gatewaysync/values.ts'
import { diskFault, errorCode, isMissing, readSmallFile } from './disk.ts'

/** To be disposed of, which closes all descriptors. Paths are relative to the root. */
export type Folders = {
  /**
   * The address of an entry, valid until the second call after this one. Throws SymbolicLink when a folder on the way is a link, and system
   * errors for one that is missing (ENOENT) or not a folder (ENOTDIR).
   */
  at(entry: string): string
  /** The address of a folder itself; `''` is the root. */
  folder(folder: string): string
  /** To be called for a folder that we moved, replaced or removed: closes its descriptor and those below it. */
  forget(folder: string): void
  /** Removes a folder with everything in it, without following a link anywhere in it. One that is missing is fine. */
  removeTree(folder: string): void
} & Disposable

/** How many descriptors are kept: a publish goes through its folders in order. */
const keptHandles = 64
/** O_PATH, which Node's constants lack: opens a folder without reading it, so that no right to list it is needed. */
const pathOnly = 0o10000000
const openFolder = fs.constants.O_DIRECTORY | fs.constants.O_NOFOLLOW | (process.platform === 'linux' ? pathOnly : 0)
const descriptors = '/proc/self/fd'

/** Throws DataDirectoryMissing, SymbolicLink, or what opening a folder throws. */
export function openFolders(root: string): Folders {
  return process.platform === 'linux' ? throughDescriptors(root) : afterALook(root)
}

/** Our own folder in the data directory: on the same file system as what the gateway reads, but where no gateway looks. */
export type EngineFolder = {
  /** The address of the folder itself. */
  folder(): string
  /** The address of a file in it. */
  at(name: string): string
} & Disposable

/** Throws what `openFolders` throws; when our folder is missing, the first address throws ENOENT. */
export function openEngineFolder(dataDir: string): EngineFolder {
  const folders = openFolders(dataDir)
  return {
    folder: () => folders.folder(engineFolder),
    at: (name) => folders.at(`${engineFolder}/${name}`),
    [Symbol.dispose]: () => folders[Symbol.dispose](),
  }
}

/** Reads an ordinary file up to `maxBytes`; undefined when it is absent, larger, not an ordinary file, or below a link. */
export function readPresent(folders: Folders, file: string, maxBytes: number): Buffer | undefined {
  try {
    return readSmallFile(folders.at(file), maxBytes)
  } catch (error) {
    if (isMissing(error) || (error instanceof Fault && error.reason === 'SymbolicLink')) return undefined
    throw diskFault(error, file)
  }
}

function throughDescriptors(root: string): Folders {
  const top = { folder: '', handle: openRoot(root) }
  const handles = new Map<string, number>([['', top.handle]])
  /** The folders of the last two addresses: the next is often one of them, or in one, and to find it among all takes the hash of its path. */
  let current = top
  let previous = top
  const handleOf = (folder: string): number => {
    if (folder === current.folder) return current.handle
    const next = { folder, handle: knownHandle(folder) ?? walk(folder) }
    previous = current
    current = next
    return next.handle
  }
  const knownHandle = (folder: string): number | undefined => {
    if (folder === current.folder) return current.handle
    return folder === previous.folder ? previous.handle : handles.get(folder)
  }
  /** Opens the folders on the way, from the nearest one that is open. */
  const walk = (folder: string): number => {
    let known = parentOf(folder)
    let handle = knownHandle(known)
    while (handle === undefined) {
      known = parentOf(known)
      handle = knownHandle(known)
    }
    for (let end = 0; end < folder.length;) {
      const start = known === '' ? 0 : known.length + 1
      const slash = folder.indexOf('/', start)
      end = slash < 0 ? folder.length : slash
      const next = folder.slice(0, end)
      handle = openChild(`${descriptors}/${handle}/${folder.slice(start, end)}`, next)
      handles.set(next, handle)
      makeRoom(next)
      known = next
    }
    return handle
  }
  const close = (folder: string): void => {
    const handle = handles.get(folder)
    handles.delete(folder)
    if (current.folder === folder) current = top
    if (previous.folder === folder) previous = top
    if (handle !== undefined) fs.closeSync(handle)
  }
  /** Closes the oldest descriptor, but none of the last two addresses: a rename needs both. */
  const makeRoom = (newest: string): void => {
    if (handles.size <= keptHandles) return
    for (const folder of handles.keys()) {
      if (folder === '' || folder === current.folder || folder === previous.folder || folder === newest) continue
      close(folder)
      return
    }
  }
  const folderAddress = (folder: string): string => `${descriptors}/${handleOf(folder)}`
  const at = (entry: string): string => {
    const slash = entry.lastIndexOf('/')
    return slash < 0
      ? `${descriptors}/${handleOf('')}/${entry}`
      : `${descriptors}/${handleOf(entry.slice(0, slash))}/${entry.slice(slash + 1)}`
  }
  const forget = (folder: string): void => {
    const below = `${folder}/`
    for (const known of handles.keys()) if (known === folder || known.startsWith(below)) close(known)
  }
  return {
    at,
    folder: folderAddress,
    forget,
    removeTree(folder) {
      let handle: number
      try {
        handle = fs.openSync(at(folder), openFolder)
      } catch (error) {
        if (errorCode(error) === 'ENOENT') return
        throw error
      }
      try {
        removeBelow(handle)
      } finally {
        fs.closeSync(handle)
      }
      forget(folder)
      fs.rmdirSync(at(folder))
    },
    [Symbol.dispose]() {
      for (const handle of handles.values()) fs.closeSync(handle)
      handles.clear()
      // Its number may soon be another's.
      top.handle = -1
      current = top
      previous = top
    },
  }
}

function openRoot(root: string): number {
  // Without a slash at its end, which would follow a link.
  const handle = openChild(path.resolve(root), root)
  if (fs.existsSync(`${descriptors}/${handle}`)) return handle
  fs.closeSync(handle)
  throw new Fault('InvalidConfiguration', `${descriptors} does not exist; mount /proc, by which files are written without following links`)
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

/** Names are bytes here, for a folder may hold names that are not valid UTF-8. */
function removeBelow(handle: number): void {
  for (const entry of fs.readdirSync(`${descriptors}/${handle}`, { withFileTypes: true, encoding: 'buffer' })) {
    const address = Buffer.concat([Buffer.from(`${descriptors}/${handle}/`), entry.name])
    if (!entry.isDirectory()) {
      fs.unlinkSync(address)
      continue
    }
    const child = fs.openSync(address, openFolder)
    try {
      removeBelow(child)
    } finally {
      fs.closeSync(child)
    }
    fs.rmdirSync(address)
  }
}

function afterALook(root: string): Folders {
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
    removeTree(folder) {
      fs.rmSync(at(folder), { recursive: true, force: true })
    },
    [Symbol.dispose]: () => undefined,
  }
}
