/**
 * Reads the ownership manifest from the data directory, appends to it durably and compacts it.
 */
import * as fs from 'node:fs'
import { heapLimit } from '../../platform/memory.ts'
import { diskFault, errorCode, isMissing, syncFolder, writeDurably } from './disk.ts'
import { type EngineFolder, withEngineFolder } from './folders.ts'
import {
  emptyManifest,
  type Manifest,
  type ManifestChange,
  type ManifestChanges,
  type RecordFile,
  type State,
  unknownCommit,
  wantsCompaction,
} from '../model/manifest.ts'
import { changeLines, encodeHead, encodeState, inPieces, manifestReader } from '../model/manifest-lines.ts'

const newline = 10

/** A file that shows that a manifest existed: if the manifest is missing beside it, the record of written files was lost. */
const marker = 'was-synced'

/** A line of a usual path has 160 bytes: 26,000 and 600,000 files. */
const [leastRecordBytes, mostRecordBytes] = [4 * 1024 * 1024, 96 * 1024 * 1024]
/** Measured: a text of the shortest lines takes 4 times as much memory when it is read, and 8 times while a sync compares its files. */
const heapPerRecordByte = 12
/** An array takes three bytes in the text or more, and this much in memory. */
const bytesPerArray = 40
/** More than the state with its findings takes, which is the longest line. */
const maxLineBytes = 1024 * 1024

/**
 * The largest manifest or journal that is read, in bytes. The gateway can write both, and one that fills the memory would end the agent at
 * each start.
 */
export function maxRecordBytes(): number {
  return Math.max(leastRecordBytes, Math.min(mostRecordBytes, Math.floor(heapLimit() / heapPerRecordByte)))
}

/** Explains why a manifest or journal is not read. */
export function tooLarge(bytes: number): string {
  const [has, most] = [bytes, maxRecordBytes()].map((each) => Math.ceil(each / (1024 * 1024)))
  return `it has ${has} MiB, and this process reads at most ${most} MiB; if it syncs that many files, give it more memory`
}

/**
 * Reads line by line, because the text for 20,000 files should not be in memory as a whole. A damaged manifest is
 * suspect; it is not a fault.
 */
export function readManifest(dataDir: string): Manifest {
  let fd: number
  try {
    const flags = fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK
    fd = withEngineFolder(dataDir, ({ at }) => fs.openSync(at('manifest'), flags))
  } catch (error) {
    if (isMissing(error)) return emptyManifest(hasMarker(dataDir) ? 'the manifest is missing' : undefined)
    throw diskFault(error, '.cluster-sync/manifest')
  }
  try {
    const stat = fs.fstatSync(fd)
    if (!stat.isFile()) return emptyManifest('the manifest is not an ordinary file')
    if (stat.size > maxRecordBytes()) return emptyManifest(`the manifest cannot be used: ${tooLarge(stat.size)}`)
    const reader = manifestReader()
    const problem = eachLine(fd, stat.size, reader.line)
    return { ...reader.finish(problem), file: recordFile(stat) }
  } catch (error) {
    throw diskFault(error, '.cluster-sync/manifest')
  } finally {
    fs.closeSync(fd)
  }
}

/**
 * Passes the lines of the first `size` bytes to `take`, until it returns false. Returns what is wrong with the lines; text after the last
 * line end is ignored.
 */
export function eachLine(fd: number, size: number, take: (text: string, bytes: number) => boolean): string | undefined {
  let rest = Buffer.alloc(0)
  const buffer = Buffer.allocUnsafe(64 * 1024)
  let left = size
  let spare = maxRecordBytes()
  for (;;) {
    const count = fs.readSync(fd, buffer, 0, Math.min(left, buffer.length), null)
    if (count === 0) return undefined
    left -= count
    const block = rest.length === 0 ? buffer.subarray(0, count) : Buffer.concat([rest, buffer.subarray(0, count)])
    let start = 0
    for (let end = block.indexOf(newline); end >= 0; end = block.indexOf(newline, start)) {
      const text = block.toString('utf8', start, end)
      const bytes = end + 1 - start
      spare -= Math.max(bytes, arraysIn(text) * bytesPerArray)
      if (spare < 0) return 'its lines take more memory than those of a sync'
      if (!take(text, bytes)) return 'too many lines are damaged'
      start = end + 1
    }
    rest = Buffer.from(block.subarray(start))
    if (rest.length > maxLineBytes) return `a line is longer than ${maxLineBytes} bytes`
  }
}

function arraysIn(text: string): number {
  let count = 0
  for (let at = text.indexOf('['); at >= 0; at = text.indexOf('[', at + 1)) count += 1
  return count
}

function recordFile({ dev, ino, size }: fs.Stats): RecordFile {
  return { dev, ino, size }
}

/** Whether the manifest on disk is still the file that was read or written last. Throws faults of the disk. */
export function isSameFile(dataDir: string, { file }: Manifest): boolean {
  try {
    return withEngineFolder(dataDir, (engine) => {
      const stat = fs.lstatSync(engine.at('manifest'), { throwIfNoEntry: false })
      return stat?.dev === file?.dev && stat?.ino === file?.ino && stat?.size === file?.size
    })
  } catch (error) {
    throw diskFault(error, '.cluster-sync/manifest')
  }
}

/**
 * Applies changes and the new state to the manifest in memory and on disk; on return both survive a power loss. If it throws, neither is
 * known anymore: the text may hold a part of the write or all of it, and the manifest must be read again. `pieces`: the encoded lines of
 * the changes, if they exist already.
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
  for (const { path, owned } of changes) {
    if (owned === undefined) manifest.files.delete(path)
    else manifest.files.set(path, owned)
  }
  if (whole) writeMarker(dataDir)
  if (!whole) append(dataDir, manifest, { pieces, count: changes.length, state })
  if (whole && isFirst) rewrite(dataDir, manifest, { pieces, count: changes.length, state })
  else if (whole || manifest.bytes > maxRecordBytes()) {
    rewrite(dataDir, manifest, { pieces: inPieces(changeLines(all(manifest))), count: manifest.files.size, state })
  }
  manifest.state = state
  if (state.commit !== null) manifest.suspectReason = undefined
}

function hasMarker(dataDir: string): boolean {
  try {
    return withEngineFolder(dataDir, (engine) => fs.lstatSync(engine.at(marker), { throwIfNoEntry: false }) !== undefined)
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
}

/** What is known of a folder whose records cannot be trusted. `state` is undefined if no apply has ever ended. */
export type Suspicion = { why: string; changes: ManifestChanges; state: State | undefined }

/**
 * Keeps the manifest suspect beyond this process: until everything has been verified, the manifest names no commit. Files that it owns stay owned, with
 * the given changes.
 */
export function markSuspect(dataDir: string, manifest: Manifest, { why, changes, state }: Suspicion): void {
  const unknown = unknownCommit(state)
  if (unknown === undefined) writeMarker(dataDir)
  else appendManifest(dataDir, manifest, changes, unknown)
  manifest.suspectReason = why
}

function writeMarker(dataDir: string): void {
  if (hasMarker(dataDir)) return
  withEngineFolder(dataDir, (engine) =>
    writeDurably(engine.at(marker), ['The manifest beside this file lists the files of the data directory that a sync has written.\n']),
  )
}

/** One write: `count` lines of files, and the state that ends it. */
type Text = { pieces: Iterable<Buffer>; count: number; state: State }

function rewrite(dataDir: string, manifest: Manifest, { pieces, count, state }: Text): void {
  withEngineFolder(dataDir, (engine) => {
    manifest.bytes = writeDurably(engine.at('manifest'), [encodeHead(0), ...pieces, encodeState(state)])
    manifest.file = writeHead(engine, manifest.bytes)
    manifest.lines = count + 2
  })
}

function* all({ files }: Manifest): Generator<ManifestChange> {
  for (const [path, owned] of files) yield { path, owned }
}

/**
 * Writes the head in place: a disk writes a sector as a whole. A head lost in a power loss does no harm, for the tail is read nevertheless.
 */
function writeHead(engine: EngineFolder, bytes: number): RecordFile {
  const fd = fs.openSync(engine.at('manifest'), fs.constants.O_WRONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK)
  try {
    fs.writeSync(fd, encodeHead(bytes), 0)
    return recordFile(fs.fstatSync(fd))
  } finally {
    fs.closeSync(fd)
  }
}

function append(dataDir: string, manifest: Manifest, { pieces, count, state }: Text): void {
  withEngineFolder(dataDir, (engine) => {
    const fd = fs.openSync(engine.at('manifest'), fs.constants.O_WRONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK)
    try {
      // Anything after the last complete write is the beginning of a failed one.
      fs.ftruncateSync(fd, manifest.bytes)
      const text = Buffer.concat([...pieces, Buffer.from(encodeState(state))])
      let offset = 0
      while (offset < text.length) offset += fs.writeSync(fd, text, offset, text.length - offset, manifest.bytes + offset)
      fs.fsyncSync(fd)
      manifest.bytes += text.length
      fs.writeSync(fd, encodeHead(manifest.bytes), 0)
      manifest.file = recordFile(fs.fstatSync(fd))
      manifest.lines += count + 1
    } finally {
      fs.closeSync(fd)
    }
  })
}

/** Removes one of the operator's files durably; a missing one is fine. */
export function dropDurably(file: string, folder: string): void {
  try {
    fs.unlinkSync(file)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return
    throw error
  }
  syncFolder(folder)
}
