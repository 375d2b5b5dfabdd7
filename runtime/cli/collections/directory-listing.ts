/**
 * Lists a directory. Never follows links, and skips `.git`, dependency folders and submodules: a commit of the directory contains none of their
 * files.
 */
import { closeSync, fstatSync, lstatSync, openSync, readdirSync, readSync } from 'node:fs'
import path from 'node:path'
import { Fault } from '../../platform/fault.ts'
import type { ContentSink, FileEntry, Listing } from '../../validation/model/listing.ts'

const batchSize = 1_000
const chunkBytes = 256 * 1024
/** A directory with more files is not a configuration repository. */
const maxFiles = 500_000
const notEntered = new Set(['.git', 'node_modules'])

/**
 * The files of a directory, or of the file or folder `below` it; paths are relative to the directory. Throws InvalidConfiguration if a folder or file
 * cannot be read, or if there are too many files.
 */
export function directoryListing(folder: string, below = ''): Listing {
  return {
    async *list(signal) {
      let batch: FileEntry[] = []
      let count = 0
      for (const entry of walk(folder, below)) {
        if ((count += 1) > maxFiles) throw new Fault('InvalidConfiguration', `${folder} contains more than ${maxFiles} files`)
        batch.push(entry)
        if (batch.length < batchSize) continue
        signal.throwIfAborted()
        yield batch
        batch = []
      }
      if (batch.length > 0) yield batch
    },
    async read(entries, sink, signal) {
      const chunk = Buffer.allocUnsafe(chunkBytes)
      for (const entry of entries) {
        signal.throwIfAborted()
        const file = openFile(`${folder}/${entry.path}`)
        try {
          readFile(file, entry, chunk, sink)
        } finally {
          closeSync(file)
        }
      }
    },
  }
}

/** Nearly every file fits into one chunk, and the read then shows its size: a stat call costs as much as the read. */
function readFile(file: number, entry: FileEntry, chunk: Buffer, sink: ContentSink): void {
  let filled = fill(file, chunk)
  sink.begin(entry, filled < chunk.length ? filled : fstatSync(file).size)
  for (; filled === chunk.length; filled = fill(file, chunk)) sink.data(chunk)
  if (filled > 0) sink.data(chunk.subarray(0, filled))
  sink.end()
}

/** Reads until the chunk is full or the file has ended. */
function fill(file: number, chunk: Buffer): number {
  let filled = 0
  for (let size = -1; size !== 0 && filled < chunk.length; filled += size) size = readSync(file, chunk, filled, chunk.length - filled, null)
  return filled
}

function* walk(folder: string, below: string): Generator<FileEntry> {
  const self = lstatSync(path.join(folder, below), { throwIfNoEntry: false })
  if (self?.isFile() === true) yield { path: below }
  else if (self?.isDirectory() === true) yield* walkFolder(folder, below)
}

function* walkFolder(folder: string, below: string, isTop = true): Generator<FileEntry> {
  const entries = readFolder(path.join(folder, below))
  // A folder with its own `.git` is another repository; that of a submodule is a file.
  if (!isTop && entries.some(({ name }) => name === '.git')) return
  for (const entry of entries) {
    const name = below === '' ? entry.name : `${below}/${entry.name}`
    if (entry.isDirectory() && !notEntered.has(entry.name)) yield* walkFolder(folder, name, false)
    else if (entry.isFile()) yield { path: name }
  }
}

function readFolder(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    throw new Fault('InvalidConfiguration', `${folder} cannot be read: ${codeOf(error)}`, { cause: error })
  }
}

function openFile(file: string): number {
  try {
    return openSync(file, 'r')
  } catch (error) {
    throw new Fault('InvalidConfiguration', `${file} cannot be read: ${codeOf(error)}`, { cause: error })
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error)
}
