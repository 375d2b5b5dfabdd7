/**
 * Receives blobs one after the other and writes each, verified, to the files that hold it.
 */
import * as fs from 'node:fs'
import type { BlobId } from '../../delivery/protocol.ts'
import { Fault } from '../../fault.ts'
import type { DesiredFile } from '../desired/desired-tree.ts'
import { diskFault, type Ownership, writeAll } from '../disk/disk.ts'
import type { FileStat, Rendered } from '../model/manifest.ts'
import { statOf } from '../plan/observe.ts'
import { createHeldBlobs, maxHeldBytes } from './held-blobs.ts'
import { damaged, type IncomingBlob, type PutTarget, type Targets } from './incoming-blob.ts'
import { type LargeBlob, streamedBlob, type StreamedFiles, wholeBlob } from './large-blobs.ts'
import type { StageFolders } from './stage-folders.ts'

/** What was written, by the index of its file. Not an object for each file, because a first sync has thousands. */
export type Staged = {
  stats: (FileStat | undefined)[]
  /** Only for rendered files. */
  rendered: Map<number, Rendered>
}

/** Makes a file's content from its blob; undefined when the blob itself is the content. Throws TemplateFailed. */
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
 * A small blob is written when others have come too, or at the end. All but `abandon` throw DeliveryFailed for damaged content, TemplateFailed,
 * and faults of the disk, also because of a blob that came before.
 */
export type BlobReceiver = {
  begin(id: BlobId, size: number, targets: Targets): void
  data(chunk: Uint8Array): void
  end(): void
  /** Writes what has come as a whole. Only then it is in `staged`. */
  finish(): void
  /** Closes a file that is half written: while open it would keep its space on the disk even after it is removed. */
  abandon(): void
}

/** For one run's folder. */
export function createReceiver(options: ReceiverOptions): BlobReceiver {
  const files = createFileWriter(options)
  const held = createHeldBlobs()
  const beginLarge = (blob: LargeBlob): IncomingBlob => {
    const rendered = blob.targets.find(({ put }) => options.needsRender(put))
    return rendered === undefined ? streamedBlob(blob, files) : wholeBlob(blob, rendered.put.path, files.writeWhole)
  }
  // Neither an object nor a function is made for a blob here, of which a first sync has thousands.
  let into: IncomingBlob | undefined
  let [id, size, received] = ['', 0, 0]
  return {
    begin(ofBlob, bytes, targets) {
      if (held.isFull()) held.takeAll(files.writeWhole)
      id = ofBlob
      size = bytes
      received = 0
      into = held
      if (size <= maxHeldBytes) held.begin(ofBlob, size, targets)
      else into = beginLarge({ id: ofBlob, size, targets })
    },
    data(chunk) {
      if (into === undefined) throw new Fault('DeliveryFailed', 'data arrived outside of a blob')
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
    finish: () => held.takeAll(files.writeWhole),
    abandon() {
      into?.abandon()
      into = undefined
      held.abandon()
    },
  }
}

type FileWriter = StreamedFiles & {
  /** Writes content that is held as a whole, rendered if need be. Throws TemplateFailed and faults of the disk. */
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
