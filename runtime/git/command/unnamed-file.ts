/**
 * Passes data to a program in a file that has no name: nothing remains on the disk, however the processes end.
 */
import { randomBytes } from 'node:crypto'
import { closeSync, openSync, unlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'

/**
 * Returns a descriptor that can only read the file, from its beginning; the caller closes it. The file loses its name in `folder` before
 * the content is written.
 */
export function openUnnamedFile(folder: string, content: string | Uint8Array): number {
  const name = path.join(folder, `.cluster-sync-${randomBytes(16).toString('hex')}`)
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

function openWithoutName(name: string): number {
  try {
    return openSync(name, 'r')
  } finally {
    unlinkSync(name)
  }
}
