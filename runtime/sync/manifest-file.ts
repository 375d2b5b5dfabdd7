/**
 * Reads the ownership manifest from the data directory, appends to it durably and compacts it.
 */
import * as fs from 'node:fs'
import { diskFault, errorCode, isMissing, syncFolder, writeDurably } from './disk.ts'
import { openEngineFolder } from './folders.ts'
import {
  encodeChange,
  encodeState,
  emptyManifest,
  type Manifest,
  type ManifestChange,
  manifestHead,
  manifestReader,
  type State,
  wantsCompaction,
} from './manifest.ts'

const newline = 10

/** Reads line by line: the text of 20,000 files is never in memory as a whole. Throws StateUnreadable. */
export function readManifest(dataDir: string): Manifest {
  let fd: number
  try {
    using engine = openEngineFolder(dataDir)
    fd = fs.openSync(engine.at('manifest'), fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK)
  } catch (error) {
    if (isMissing(error)) return emptyManifest()
    throw diskFault(error, '.cluster-sync/manifest')
  }
  const reader = manifestReader()
  try {
    let rest = Buffer.alloc(0)
    const buffer = Buffer.allocUnsafe(64 * 1024)
    for (let count = fs.readSync(fd, buffer); count > 0; count = fs.readSync(fd, buffer)) {
      const block = rest.length === 0 ? buffer.subarray(0, count) : Buffer.concat([rest, buffer.subarray(0, count)])
      let start = 0
      for (let end = block.indexOf(newline); end >= 0; end = block.indexOf(newline, start)) {
        reader.line(block.toString('utf8', start, end), end + 1 - start)
        start = end + 1
      }
      rest = Buffer.from(block.subarray(start))
    }
  } finally {
    fs.closeSync(fd)
  }
  return reader.finish()
}

/**
 * Applies changes and the new state to the manifest in memory and on disk; on return both survive a loss of power. When it throws, neither
 * has changed: what is in memory is put back, and what was appended is cut off.
 */
export function appendManifest(dataDir: string, manifest: Manifest, changes: readonly ManifestChange[], state: State): void {
  const before = { state: manifest.state, files: changes.map(({ path }) => manifest.files.get(path)) }
  const whole = manifest.bytes === 0 || wantsCompaction(manifest)
  applyChanges(manifest, changes, state)
  try {
    if (whole) rewrite(dataDir, manifest)
    else append(dataDir, manifest, changes, state)
  } catch (error) {
    const undone = changes.map(({ path }, index) => ({ path, owned: before.files[index] }))
    applyChanges(manifest, undone, before.state)
    throw error
  }
}

function applyChanges(manifest: Manifest, changes: readonly ManifestChange[], state: State | undefined): void {
  for (const { path, owned } of changes) {
    if (owned === undefined) manifest.files.delete(path)
    else manifest.files.set(path, owned)
  }
  manifest.state = state
}

function rewrite(dataDir: string, manifest: Manifest): void {
  using engine = openEngineFolder(dataDir)
  manifest.bytes = writeDurably(engine.at('manifest'), wholeText(manifest))
  manifest.lines = manifest.files.size + 2
}

function append(dataDir: string, manifest: Manifest, changes: readonly ManifestChange[], state: State): void {
  using engine = openEngineFolder(dataDir)
  const fd = fs.openSync(engine.at('manifest'), fs.constants.O_WRONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK)
  try {
    // What lies behind the last complete write is the beginning of one that failed.
    fs.ftruncateSync(fd, manifest.bytes)
    const text = Buffer.from(changes.map(encodeChange).join('') + encodeState(state))
    try {
      let offset = 0
      while (offset < text.length) offset += fs.writeSync(fd, text, offset, text.length - offset, manifest.bytes + offset)
      fs.fsyncSync(fd)
    } catch (error) {
      // A whole line may be there though it was not made durable: the next start must not believe it.
      fs.ftruncateSync(fd, manifest.bytes)
      throw error
    }
    manifest.bytes += text.length
    manifest.lines += changes.length + 1
  } finally {
    fs.closeSync(fd)
  }
}

function* wholeText(manifest: Manifest): Generator<string> {
  let chunk = manifestHead
  for (const [path, owned] of manifest.files) {
    chunk += encodeChange({ path, owned })
    if (chunk.length < 64 * 1024) continue
    yield chunk
    chunk = ''
  }
  if (manifest.state !== undefined) chunk += encodeState(manifest.state)
  yield chunk
}

/** Removes a file of ours durably; one that is not there is fine. */
export function dropDurably(file: string, folder: string): void {
  try {
    fs.unlinkSync(file)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return
    throw error
  }
  syncFolder(folder)
}
