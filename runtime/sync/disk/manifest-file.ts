/**
 * Reads the ownership manifest from the data directory, appends to it durably and compacts it.
 */
import * as fs from 'node:fs'
import { diskFault, errorCode, isMissing, syncFolder, writeDurably } from './disk.ts'
import { type EngineFolder, openEngineFolder } from './folders.ts'
import {
  emptyManifest,
  type Manifest,
  type ManifestChange,
  type ManifestChanges,
  type State,
  unknownCommit,
  wantsCompaction,
} from '../model/manifest.ts'
import { changeLines, encodeHead, encodeState, inPieces, manifestReader } from '../model/manifest-lines.ts'

const newline = 10

/** A file that says that there was a manifest: if that is missing beside it, the record of what we wrote was lost. */
const marker = 'was-synced'

/** Reads line by line, because the text for 20,000 files should not be in memory at once. Damage becomes a doubt, not a failure. */
export function readManifest(dataDir: string): Manifest {
  let fd: number
  try {
    using engine = openEngineFolder(dataDir)
    fd = fs.openSync(engine.at('manifest'), fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK)
  } catch (error) {
    if (isMissing(error)) return emptyManifest(hasMarker(dataDir) ? 'the manifest is missing' : undefined)
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
 * has changed: what is in memory is put back, and what was appended is cut off. `pieces`: the lines of the changes, where they are made already.
 */
export function appendManifest(
  dataDir: string,
  manifest: Manifest,
  changes: ManifestChanges,
  state: State,
  pieces: Iterable<Buffer> = inPieces(changeLines(changes)),
): void {
  const whole = manifest.bytes === 0 || wantsCompaction(manifest)
  const isFirst = manifest.files.size === 0
  const files = isFirst ? [] : Array.from(changes, ({ path }) => manifest.files.get(path))
  const before = { state: manifest.state, doubt: manifest.doubt, files }
  applyChanges(manifest, changes, state)
  if (state.commit !== null) manifest.doubt = undefined
  try {
    if (whole) writeMarker(dataDir)
    if (!whole) append(dataDir, manifest, { pieces, count: changes.length, state })
    else if (isFirst) rewrite(dataDir, manifest, { pieces, count: changes.length, state })
    else rewrite(dataDir, manifest, { pieces: inPieces(changeLines(all(manifest))), count: manifest.files.size, state })
  } catch (error) {
    const undone = Array.from(changes, ({ path }, index) => ({ path, owned: before.files[index] }))
    applyChanges(manifest, undone, before.state)
    manifest.doubt = before.doubt
    throw error
  }
}

function applyChanges(manifest: Manifest, changes: Iterable<ManifestChange>, state: State | undefined): void {
  for (const { path, owned } of changes) {
    if (owned === undefined) manifest.files.delete(path)
    else manifest.files.set(path, owned)
  }
  manifest.state = state
}

function hasMarker(dataDir: string): boolean {
  try {
    using engine = openEngineFolder(dataDir)
    return fs.lstatSync(engine.at(marker), { throwIfNoEntry: false }) !== undefined
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
}

/** What is known of a folder whose records cannot be trusted. `state` is undefined when no publish has ever ended. */
export type Doubt = { why: string; changes: ManifestChanges; state: State | undefined }

/**
 * Makes a doubt outlive this process: until everything has been verified, the manifest names no commit. Files that it owns stay owned, with
 * the given changes.
 */
export function recordDoubt(dataDir: string, manifest: Manifest, { why, changes, state }: Doubt): void {
  const unknown = unknownCommit(state)
  if (unknown === undefined) writeMarker(dataDir)
  else appendManifest(dataDir, manifest, changes, unknown)
  manifest.doubt = why
}

function writeMarker(dataDir: string): void {
  if (hasMarker(dataDir)) return
  using engine = openEngineFolder(dataDir)
  writeDurably(engine.at(marker), ['A manifest stands beside this file, and says which files of the data directory are ours.\n'])
}

/** One write: `count` lines of files, and the state that ends it. */
type Text = { pieces: Iterable<Buffer>; count: number; state: State }

function rewrite(dataDir: string, manifest: Manifest, { pieces, count, state }: Text): void {
  using engine = openEngineFolder(dataDir)
  manifest.bytes = writeDurably(engine.at('manifest'), [encodeHead(0), ...pieces, encodeState(state)])
  writeHead(engine, manifest.bytes)
  manifest.lines = count + 2
}

function* all({ files }: Manifest): Generator<ManifestChange> {
  for (const [path, owned] of files) yield { path, owned }
}

/** Writes the head in place: a disk writes a sector as a whole. A head lost with the power does no harm, for the tail is read all the same. */
function writeHead(engine: EngineFolder, bytes: number): void {
  const fd = fs.openSync(engine.at('manifest'), fs.constants.O_WRONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK)
  try {
    fs.writeSync(fd, encodeHead(bytes), 0)
  } finally {
    fs.closeSync(fd)
  }
}

function append(dataDir: string, manifest: Manifest, { pieces, count, state }: Text): void {
  using engine = openEngineFolder(dataDir)
  const fd = fs.openSync(engine.at('manifest'), fs.constants.O_WRONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK)
  try {
    // Anything after the last complete write is the beginning of one that failed.
    fs.ftruncateSync(fd, manifest.bytes)
    const text = Buffer.concat([...pieces, Buffer.from(encodeState(state))])
    try {
      let offset = 0
      while (offset < text.length) offset += fs.writeSync(fd, text, offset, text.length - offset, manifest.bytes + offset)
      fs.fsyncSync(fd)
    } catch (error) {
      // A complete line may be there though it was not synced: the next start must not trust it.
      fs.ftruncateSync(fd, manifest.bytes)
      throw error
    }
    manifest.bytes += text.length
    fs.writeSync(fd, encodeHead(manifest.bytes), 0)
    manifest.lines += count + 1
  } finally {
    fs.closeSync(fd)
  }
}

/** Removes a file of ours durably; a missing one is fine. */
export function dropDurably(file: string, folder: string): void {
  try {
    fs.unlinkSync(file)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return
    throw error
  }
  syncFolder(folder)
}
