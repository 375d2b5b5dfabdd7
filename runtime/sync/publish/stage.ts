/**
 * Writes blobs as they stream in, verified, into a run's folder: outside of everything that a gateway reads but on the same file system, so
 * that publishing takes only renames.
 */
import * as fs from 'node:fs'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { BlobId, BlobSink } from '../../delivery/protocol.ts'
import { Fault } from '../../fault.ts'
import { diskFault, errorCode, folderMaker, type Ownership, writeAll } from '../disk/disk.ts'
import type { Folders } from '../disk/folders.ts'
import { beginBlob, type BlobPlace, bufferBytes, type IncomingBlob, nameOf, takeChunk, type PutTarget, verify } from './blob-writer.ts'
import type { FileStat, Rendered } from '../model/manifest.ts'
import type { PlannedPut } from '../plan/plan.ts'
import { statOf } from '../plan/observe.ts'
import { blobHash } from '../model/blob-hash.ts'
import { blobsOf } from './blobs-of.ts'
import { createStageFolders, type StageFolders } from './stage-folders.ts'

/** How many folders are made before the event loop turns again; 100 take about 1 ms. */
const slice = 100

/** What was written, by index in the plan's `puts`. Not an object for each file, because a first sync has thousands. */
export type Staged = {
  stats: (FileStat | undefined)[]
  /** Only for rendered files. */
  rendered: Map<number, Rendered>
}

/** Makes a file's content from its blob; undefined when the blob itself is the content. Throws TemplateFailed. */
export type Render = (put: PlannedPut, content: Uint8Array) => { content: Uint8Array; rendered: Rendered } | undefined

/** Receives the content of one run: give `ids` to the source, with `sink`, then call `finish`. */
export type Stage = {
  sink: BlobSink
  ids: BlobId[]
  staged: Staged
  /** Makes all folders, with turns of the event loop in between. Optional: otherwise each folder is made with its first file. */
  makeFolders(signal: AbortSignal): Promise<void>
  /** Throws DeliveryFailed when a blob never came. */
  finish(): void
  /** Closes a file that is half written: while open it would keep its space on the disk even after it is removed. */
  abandon(): void
}

/** One run's folder, and how its files are made. */
export type StageOptions = {
  /** The run's folder, and all folders by which it is reached. */
  run: string
  folders: Folders
  ownership: Ownership
  puts: readonly PlannedPut[]
  /** The path below the run's folder, by index in `puts`. */
  placeOf(index: number): string
  /** Folders below the run's folder that are there already; those that are made are added. */
  made?: Set<string>
  /** What is staged already, by index in `puts`: it is not asked for. */
  present?: readonly (FileStat | undefined)[]
  needsRender(put: PlannedPut): boolean
  render: Render
  /** Called with each content that is held as a whole, to add findings; may throw. */
  inspect?(put: PlannedPut, content: Uint8Array): void
  /** Told of each content that has arrived, and of how many are asked for. */
  arrived?(done: number, total: number): void
}

/** The sink throws DeliveryFailed for content that was not asked for or is damaged, TemplateFailed, and faults of the disk. */
export function createStage(options: StageOptions): Stage {
  const { puts, present = [] } = options
  const { ids, targetsOf } = blobsOf(puts, present)
  const staged: Staged = { stats: Array.from(puts, (_put, index) => present[index]), rendered: new Map() }
  const folders = createStageFolders(options)
  const files = createFileWriter(options, folders, staged)
  const buffer = Buffer.allocUnsafe(bufferBytes)
  const place: BlobPlace = { buffer, needsRender: options.needsRender, open: ({ index }) => openNew(folders.addressOf(index)) }
  let arrived = 0
  let current: IncomingBlob | undefined

  return {
    ids,
    staged,
    // No function is made for a blob, of which a first sync has thousands.
    sink: {
      begin(id, size) {
        const targets = id === ids[arrived] ? targetsOf(arrived) : undefined
        if (targets === undefined) throw new Fault('DeliveryFailed', `an unexpected blob ${id} arrived`)
        try {
          current = beginBlob(id, size, targets, place)
        } catch (error) {
          throw diskFault(error, nameOf({ targets }))
        }
      },
      data(chunk) {
        if (current === undefined) throw new Fault('DeliveryFailed', 'data arrived outside of a blob')
        if (current.received + chunk.length > current.size) throw new Fault('DeliveryFailed', `blob ${current.id} is longer than announced`)
        try {
          takeChunk(current, chunk)
        } catch (error) {
          throw diskFault(error, nameOf(current))
        }
      },
      end() {
        const blob = current
        current = undefined
        if (blob === undefined) throw new Fault('DeliveryFailed', 'a blob ended that had not begun')
        verify(blob)
        arrived += 1
        options.arrived?.(arrived, ids.length)
        if (blob.kind === 'streamed') return withDiskFault(() => files.writeStreamed(blob, buffer), nameOf(blob))
        const content = blob.content.subarray(blob.header, blob.header + blob.size)
        for (const target of blob.targets) {
          try {
            files.writeWhole(target, content)
          } catch (error) {
            throw diskFault(error, target.put.path)
          }
        }
      },
    },
    async makeFolders(signal) {
      for (const [index, { path }] of puts.entries()) {
        if (present[index] !== undefined) continue
        withDiskFault(() => folders.makeFor(index), path)
        if ((index + 1) % slice > 0) continue
        await yieldToEventLoop()
        signal.throwIfAborted()
      }
    },
    abandon() {
      if (current?.kind === 'streamed') fs.closeSync(current.fd)
      current = undefined
    },
    finish() {
      const missing = ids[arrived]
      if (missing !== undefined) throw new Fault('DeliveryFailed', `${ids.length - arrived} blobs did not arrive, among them ${missing}`)
    },
  }
}

type StreamedBlob = IncomingBlob & { kind: 'streamed' }

type FileWriter = {
  /** Writes content that is held as a whole, rendered if need be. */
  writeWhole(target: PutTarget, content: Uint8Array): void
  /** The first target has received the stream; further ones are copied from its descriptor, and their content is verified again. */
  writeStreamed(blob: StreamedBlob, buffer: Uint8Array): void
}

function createFileWriter(options: StageOptions, folders: StageFolders, staged: Staged): FileWriter {
  const { ownership } = options
  const copyStreamed = (blob: StreamedBlob, { put, index }: PutTarget, buffer: Uint8Array): void => {
    const fd = openNew(folders.addressOf(index))
    try {
      copyVerified(blob, fd, buffer)
      staged.stats[index] = applyModeAndOwner(fd, put.exec, ownership)
    } finally {
      fs.closeSync(fd)
    }
  }
  return {
    writeWhole({ put, index }, content) {
      const made = options.needsRender(put) ? options.render(put, content) : undefined
      options.inspect?.(put, content)
      const fd = openNew(folders.addressOf(index))
      try {
        writeAll(fd, made?.content ?? content)
        staged.stats[index] = applyModeAndOwner(fd, put.exec, ownership)
        if (made !== undefined) staged.rendered.set(index, made.rendered)
      } finally {
        fs.closeSync(fd)
      }
    },
    writeStreamed(blob, buffer) {
      const [first, ...others] = blob.targets
      try {
        for (const target of others) withDiskFault(() => copyStreamed(blob, target, buffer), target.put.path)
        if (first !== undefined) staged.stats[first.index] = applyModeAndOwner(blob.fd, first.put.exec, ownership)
      } finally {
        fs.closeSync(blob.fd)
      }
    },
  }
}

function withDiskFault(work: () => void, where: string): void {
  try {
    work()
  } catch (error) {
    throw diskFault(error, where)
  }
}

function openNew(file: string): number {
  return fs.openSync(file, fs.constants.O_RDWR | fs.constants.O_CREAT | fs.constants.O_EXCL, 0o666)
}

function copyVerified(blob: StreamedBlob, to: number, buffer: Uint8Array): void {
  const hash = blobHash(blob.id, blob.size)
  for (let at = 0; at < blob.size;) {
    const count = fs.readSync(blob.fd, buffer, 0, buffer.length, at)
    if (count === 0) break
    const part = buffer.subarray(0, count)
    hash.update(part)
    writeAll(to, part)
    at += count
  }
  if (hash.digest('hex') !== blob.id) throw new Fault('DeliveryFailed', `blob ${blob.id} was changed on the disk while it was copied`)
}

/** Sets mode and owner of a written file and returns the stat by which it will be recognised. */
function applyModeAndOwner(fd: number, exec: boolean, ownership: Ownership): FileStat {
  const stat = fs.fstatSync(fd)
  const mode = exec ? ownership.execMode : ownership.fileMode
  if (ownership.owner !== undefined) fs.fchownSync(fd, ownership.owner.uid, ownership.owner.gid)
  if ((stat.mode & 0o777) === mode) return statOf(stat)
  fs.fchmodSync(fd, mode)
  // Read again: some volumes ignore permissions.
  return statOf(fs.fstatSync(fd))
}

/** Creates the folder of a run. Throws EEXIST as it is, for a run's id is random, and faults of the disk. */
export function createRunFolder(address: string, ownership: Ownership): void {
  try {
    folderMaker(ownership)(address)
  } catch (error) {
    throw errorCode(error) === 'EEXIST' ? error : diskFault(error, '.cluster-sync')
  }
}
