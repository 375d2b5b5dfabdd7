/**
 * Removes folders that may hold anything, in small steps.
 */
import * as fs from 'node:fs'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { errorCode } from './disk.ts'
import { descriptors, openFolder, openFolders } from './folders.ts'

/** A call and a descriptor for each level would exceed the stack and the number of open files: deeper folders are moved up first. */
const maxNested = 64
/** Entries of one folder in memory: another process may create millions. */
const maxNames = 512
/** Removals between two yields to the event loop: some file systems take a millisecond for each folder. */
const removalSlice = 16
/** Far more than any volume holds, unless another process keeps creating entries meanwhile. */
const maxRemovals = 20_000_000

/**
 * Removes a folder with everything in it, without following a link anywhere in it; a missing one is fine. It may hold any number of entries
 * of other processes: that takes long, but neither holds up the event loop nor fills the memory. Throws what the system throws.
 */
export async function removeTree(root: string, folder: string): Promise<void> {
  const folders = openFolders(root)
  try {
    const address = folders.at(folder)
    if (process.platform === 'linux') await removeOpened(address)
    else await fs.promises.rm(address, { recursive: true, force: true })
  } finally {
    folders.close()
  }
}

/** `top`: the folder that is removed, where too deep ones are moved; `count`: of entries. */
type Removal = { top: number; count: number }

async function removeOpened(address: string): Promise<void> {
  let top: number
  try {
    top = fs.openSync(address, openFolder)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return
    throw error
  }
  try {
    await removeBelow(top, { top, count: 0 }, maxNested)
  } finally {
    fs.closeSync(top)
  }
  fs.rmdirSync(address)
}

async function removeBelow(handle: number, removal: Removal, levels: number): Promise<void> {
  for (let entries = firstEntries(handle); entries.length > 0; entries = firstEntries(handle)) {
    for (const { address, isFolder } of entries) {
      removal.count += 1
      if (removal.count === maxRemovals) throw new Error('another process keeps creating entries')
      if (removal.count % removalSlice === 0) await yieldToEventLoop()
      if (!isFolder) fs.unlinkSync(address)
      else if (levels > 0) await removeFolder(address, removal, levels - 1)
      // No two folders have one inode, not even one that an interrupted removal left.
      else fs.renameSync(address, `${descriptors}/${removal.top}/lifted-${fs.lstatSync(address).ino}`)
    }
  }
}

async function removeFolder(address: Buffer, removal: Removal, levels: number): Promise<void> {
  const handle = fs.openSync(address, openFolder)
  try {
    await removeBelow(handle, removal, levels)
  } finally {
    fs.closeSync(handle)
  }
  fs.rmdirSync(address)
}

/** Names are bytes here, for a folder may hold names that are not valid UTF-8. */
function firstEntries(handle: number): { address: Buffer; isFolder: boolean }[] {
  const folder = `${descriptors}/${handle}`
  const entries: { address: Buffer; isFolder: boolean }[] = []
  const opened = fs.opendirSync(folder, { encoding: 'latin1', bufferSize: maxNames })
  try {
    for (let entry = opened.readSync(); entry !== null; entry = entries.length < maxNames ? opened.readSync() : null) {
      entries.push({ address: Buffer.from(`${folder}/${entry.name}`, 'latin1'), isFolder: entry.isDirectory() })
    }
  } finally {
    opened.closeSync()
  }
  return entries
}
