/**
 * Receives blobs sequentially, verifies each, and writes it to its files.
 */
import { hash } from 'node:crypto'
import * as fs from 'node:fs'
import { isDirectlyIn, objectFormatOf, parentOf } from '../../api/values.ts'
import type { BlobId } from '../../content/protocol/protocol.ts'
import { Fault } from '../../platform/fault.ts'
import type { DesiredFile } from '../desired/desired-tree.ts'
import { diskFault, folderMaker, type Ownership, writeAll } from '../disk/disk.ts'
import type { Folders } from '../disk/folders.ts'
import { blobHeader, type FileStat, type Rendered } from '../model/manifest.ts'
import { statOf } from '../plan/observe.ts'
import {
  damaged,
  type IncomingBlob,
  type LargeBlob,
  type PutTarget,
  streamedBlob,
  type StreamedFiles,
  type Targets,
  wholeBlob,
} from './large-blobs.ts'

/** What was written, by the index of its file. Maps and arrays instead of an object per file, because a first sync has thousands. */
export type Staged = {
  stats: (FileStat | undefined)[]
  /** Only for rendered files. */
  rendered: Map<number, Rendered>
}

/** Renders a file's content from its blob; undefined if the blob itself is the content. Throws TemplateFailed. */
export type Render = (put: DesiredFile, content: Uint8Array) => { content: Uint8Array; rendered: Rendered } | undefined

/** How files are written. */
export type ReceiverOptions = {
  folders: StageFolders
  ownership: Ownership
  staged: Staged
  needsRender(put: DesiredFile): boolean
  render: Render
  /** Called with each content that is held as a whole, to add findings; may throw. */
  inspect?(put: DesiredFile, content: Uint8Array): void
}

/**
 * A small blob is written together with others, or at the end. All functions but `abandon` throw DeliveryFailed for damaged content,
 * TemplateFailed, and faults of the disk, also for an earlier blob.
 */
export type BlobReceiver = {
  begin(id: BlobId, size: number, targets: Targets): void
  data(chunk: Uint8Array): void
  end(): void
  /** Writes all blobs that have arrived completely. Only then they are in `staged`. */
  finish(): void
  /** Closes a half-written file: while open it would keep its space on the disk even after it is removed. */
  abandon(): void
}

export function createReceiver(options: ReceiverOptions): BlobReceiver {
  const files = createFileWriter(options)
  const buffered = bufferBlobs()
  const beginLarge = (blob: LargeBlob): IncomingBlob => {
    const rendered = blob.targets.find(({ put }) => options.needsRender(put))
    return rendered === undefined ? streamedBlob(blob, files) : wholeBlob(blob, rendered.put.path, files.writeWhole)
  }
  // Creates neither an object nor a function per blob: a first sync has thousands.
  let into: IncomingBlob | undefined
  let [id, size, received] = ['', 0, 0]
  return {
    begin(ofBlob, bytes, targets) {
      if (buffered.isFull()) buffered.takeAll(files.writeWhole)
      id = ofBlob
      size = bytes
      received = 0
      into = buffered
      if (size <= maxBufferedBytes) buffered.begin(ofBlob, size, targets)
      else into = beginLarge({ id: ofBlob, size, targets })
    },
    data(chunk) {
      if (into === undefined) throw new Fault('DeliveryFailed', 'data arrived outside a blob')
      received += chunk.length
      if (received > size) throw new Fault('DeliveryFailed', `blob ${id} is longer than announced`)
      into.data(chunk)
    },
    end() {
      if (into === undefined) throw new Fault('DeliveryFailed', 'a blob ended that had not begun')
      if (received !== size) throw damaged(id, received, size)
      const blob = into
      into = undefined
      blob.end()
    },
    finish: () => buffered.takeAll(files.writeWhole),
    abandon() {
      into?.abandon()
      into = undefined
      buffered.abandon()
    },
  }
}

type FileWriter = StreamedFiles & {
  /** Writes content that is held as a whole, rendered if necessary. Throws TemplateFailed and faults of the disk. */
  writeWhole(target: PutTarget, content: Uint8Array): void
}

function createFileWriter({ folders, ownership, staged, needsRender, render, inspect }: ReceiverOptions): FileWriter {
  const open = (index: number): number =>
    fs.openSync(folders.addressOf(index), fs.constants.O_RDWR | fs.constants.O_CREAT | fs.constants.O_EXCL, 0o666)
  return {
    open: ({ index }) => open(index),
    finish({ put, index }, fd) {
      staged.stats[index] = applyModeAndOwner(fd, put.exec, ownership)
    },
    writeWhole({ put, index }, content) {
      const made = needsRender(put) ? render(put, content) : undefined
      inspect?.(put, content)
      try {
        const fd = open(index)
        try {
          writeAll(fd, made?.content ?? content)
          staged.stats[index] = applyModeAndOwner(fd, put.exec, ownership)
        } finally {
          fs.closeSync(fd)
        }
      } catch (error) {
        throw diskFault(error, put.path)
      }
      if (made !== undefined) staged.rendered.set(index, made.rendered)
    },
  }
}

/** Sets mode and owner of a written file and returns the stat by which it will be recognized. */
function applyModeAndOwner(fd: number, exec: boolean, ownership: Ownership): FileStat {
  const stat = fs.fstatSync(fd)
  const mode = exec ? ownership.execMode : ownership.fileMode
  if (ownership.owner !== undefined) fs.fchownSync(fd, ownership.owner.uid, ownership.owner.gid)
  if ((stat.mode & 0o777) === mode) return statOf(stat)
  fs.fchmodSync(fd, mode)
  // Read again: some volumes ignore permissions.
  return statOf(fs.fstatSync(fd))
}

/**
 * Buffers small blobs and verifies and writes them in batches: that takes less time than writing each between the arrival of two others
 * (docs/development/benchmarks.md). Maximum size of a buffered blob.
 */
export const maxBufferedBytes = 128 * 1024
/** A batch is written at this count or size. */
const [enoughBlobs, enoughBytes] = [64, 32 * 1024]
/** Space for git's header of a blob. */
const maxHeaderBytes = 64
const bufferBytes = enoughBytes + maxHeaderBytes + maxBufferedBytes

/** As an incoming blob it is the one that began last. */
type BufferedBlobs = IncomingBlob & {
  /** Whether the buffer is full: it must be emptied before another blob begins. */
  isFull(): boolean
  /** At most `size` bytes may follow. */
  begin(id: BlobId, size: number, targets: Targets): void
  /** Passes each content to each of its targets, and empties the buffer. Throws DeliveryFailed for damage, and what `write` throws. */
  takeAll(write: (target: PutTarget, content: Uint8Array) => void): void
}

/** The header of git is at `start` to `contentAt`, before the content, so that one call hashes both. */
type BufferedBlob = { id: BlobId; size: number; targets: Targets; start: number; contentAt: number }

function bufferBlobs(): BufferedBlobs {
  const buffer = Buffer.from(new ArrayBuffer(bufferBytes))
  // Faster than a slice of a Buffer.
  const view = (start: number, end: number): Uint8Array => new Uint8Array(buffer.buffer, start, end - start)
  let buffered: BufferedBlob[] = []
  let latest: BufferedBlob | undefined
  let filled = 0
  const takeOut = (): BufferedBlob[] => {
    const taken = buffered
    buffered = []
    latest = undefined
    filled = 0
    return taken
  }
  return {
    isFull: () => buffered.length >= enoughBlobs || filled > enoughBytes,
    begin(id, size, targets) {
      const start = filled
      filled += buffer.write(blobHeader(size), start, 'latin1')
      latest = { id, size, targets, start, contentAt: filled }
    },
    data(chunk) {
      buffer.set(chunk, filled)
      filled += chunk.length
    },
    end() {
      if (latest !== undefined) buffered.push(latest)
      latest = undefined
    },
    abandon() {
      takeOut()
    },
    takeAll(write) {
      for (const { id, size, targets, start, contentAt } of takeOut()) {
        const end = contentAt + size
        if (hash(objectFormatOf(id), view(start, end), 'hex') !== id) throw damaged(id, size, size)
        const content = view(contentAt, end)
        targets.forEach((target) => write(target, content))
      }
    },
  }
}

/** Indexes are those of the plan's `puts`. Both throw errors of the file system. */
type StageFolders = {
  /** Creates the folder of a file. */
  makeFor(index: number): void
  /** Returns the path at which a file is opened; creates its folder first. */
  addressOf(index: number): string
}

type Options = {
  /** The run's folder, and all of its parent folders. */
  run: string
  folders: Folders
  ownership: Ownership
  /** The path of a file below the run's folder. */
  placeOf(index: number): string
  /** Folders that exist already; created ones are added. */
  made?: Set<string>
}

/** Serves one run; records which folders it has created. */
export function createStageFolders({ run, folders: all, ownership, placeOf, made = new Set(['']) }: Options): StageFolders {
  /** Files arrive in the order of their folders: most are in the folder of the previous file, or next to it. */
  let latest = ''
  let above = ''
  /** The address of the latest folder, valid until another folder is requested. */
  let address: string | undefined
  const makeOne = folderMaker(ownership)
  const ensure = (folder: string): void => {
    if (folder === above || made.has(folder)) return
    const parent = parentOf(folder)
    ensure(parent)
    makeOne(all.at(`${run}/${folder}`))
    made.add(folder)
    above = parent
  }
  const make = (folder: string): void => {
    if (folder === latest) return
    ensure(folder)
    latest = folder
    address = undefined
  }
  return {
    makeFor: (index) => make(parentOf(placeOf(index))),
    // Not path.join and path.dirname, which cost as much here as the system calls.
    addressOf(index) {
      const place = placeOf(index)
      if (address === undefined || !isDirectlyIn(place, latest)) {
        make(parentOf(place))
        address ??= all.folder(latest === '' ? run : `${run}/${latest}`)
      }
      return `${address}/${latest === '' ? place : place.slice(latest.length + 1)}`
    },
  }
}
