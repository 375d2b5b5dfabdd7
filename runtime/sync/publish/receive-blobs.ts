/**
 * Receives blobs one after the other and writes each, verified, to the files that hold it.
 */
import * as fs from 'node:fs'
import type { BlobId } from '../../delivery/protocol.ts'
import { Fault } from '../../fault.ts'
import { diskFault, type Ownership, writeAll } from '../disk/disk.ts'
import { blobHash } from '../model/blob-hash.ts'
import type { FileStat, Rendered } from '../model/manifest.ts'
import { statOf } from '../plan/observe.ts'
import type { DesiredFile } from '../desired/desired-tree.ts'
import { beginBlob, type BlobPlace, bufferBytes, type IncomingBlob, nameOf, type PutTarget, takeChunk, verify } from './blob-writer.ts'
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

/** All but `abandon` throw DeliveryFailed for damaged content, TemplateFailed, and faults of the disk. */
export type BlobReceiver = {
  begin(id: BlobId, size: number, targets: IncomingBlob['targets']): void
  data(chunk: Uint8Array): void
  end(): void
  /** Closes a file that is half written: while open it would keep its space on the disk even after it is removed. */
  abandon(): void
}

/** For one run's folder. */
export function createReceiver(options: ReceiverOptions): BlobReceiver {
  const files = createFileWriter(options)
  const buffer = Buffer.allocUnsafe(bufferBytes)
  const place: BlobPlace = { buffer, needsRender: options.needsRender, open: ({ index }) => openNew(options.folders.addressOf(index)) }
  let current: IncomingBlob | undefined
  // No function is made for a blob, of which a first sync has thousands.
  return {
    begin(id, size, targets) {
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
    abandon() {
      if (current?.kind === 'streamed') fs.closeSync(current.fd)
      current = undefined
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

function createFileWriter({ folders, ownership, staged, needsRender, render, inspect }: ReceiverOptions): FileWriter {
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
      const made = needsRender(put) ? render(put, content) : undefined
      inspect?.(put, content)
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

/** Runs a call of the file system; `where` names its path in a fault. */
export function withDiskFault(work: () => void, where: string): void {
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
