/**
 * Files that have no name: nothing remains on the disk, however the processes end.
 */
import { randomBytes } from 'node:crypto'
import { closeSync, openSync, unlinkSync, writeFileSync } from 'node:fs'
import { type FileHandle, open, unlink } from 'node:fs/promises'
import path from 'node:path'

/**
 * Returns a descriptor that can only read the file, from its beginning; the caller closes it. The file loses its name in `folder` before
 * the content is written.
 */
export function openUnnamedFile(folder: string, content: string | Uint8Array): number {
  const name = newName(folder)
  const writer = openSync(name, 'wx', 0o600)
  try {
    const reader = openWithoutName(name)
    try {
      writeFileSync(writer, content)
      return reader
    } catch (error) {
      closeSync(reader)
      throw error
    }
  } finally {
    closeSync(writer)
  }
}

/** An empty file in `folder` for this process, which may write and read it; the caller closes it. */
export async function createUnnamedFile(folder: string): Promise<FileHandle> {
  const name = newName(folder)
  const file = await open(name, 'wx+', 0o600)
  try {
    await unlink(name)
    return file
  } catch (error) {
    await file.close()
    throw error
  }
}

function newName(folder: string): string {
  return path.join(folder, `.cluster-sync-${randomBytes(16).toString('hex')}`)
}

function openWithoutName(name: string): number {
  try {
    return openSync(name, 'r')
  } finally {
    unlinkSync(name)
  }
}
