/**
 * Takes blobs as they stream in and writes them, verified, into a run's folder: outside of everything a gateway reads, on the same file
 * system, so that publishing is nothing but renames.
 */
import { hash as hashOnce, type Hash } from 'node:crypto'
import * as fs from 'node:fs'
import path from 'node:path'
import type { BlobId, BlobSink } from '../delivery/protocol.ts'
import { Fault } from '../fault.ts'
import { blobHash, diskFault, errorCode, folderMaker, makeFolder, type Ownership, writeAll } from './disk.ts'
import type { FileStat, Rendered } from './manifest.ts'
import { parentOf } from './paths.ts'
import type { PlannedPut } from './plan.ts'
import { statOf } from './present.ts'

/** Up to this size a blob is held in one reused buffer and hashed at once; beyond, it streams to its file. Measured: git.md section 5. */
const bufferedBytes = 128 * 1024
/** A template or patch needs the whole file in memory a few times over. */
export const maxRenderedBytes = 8 * 1024 * 1024

export type Staged = { stat: FileStat; rendered: Rendered | undefined }

/** Makes a file's content from its blob; undefined where the blob itself is the content. Throws TemplateFailed. */
export type Render = (put: PlannedPut, content: Uint8Array) => { content: Uint8Array; rendered: Rendered } | undefined

export type Stage = {
  sink: BlobSink
  ids: BlobId[]
  staged: Map<string, Staged>
  /** Throws DeliveryFailed when a blob never came. */
  finish(): void
  /** Lets go of a file that is only half there: an open one keeps its space on the disk though its name is gone. */
  abandon(): void
}

export type StageOptions = {
  runFolder: string
  ownership: Ownership
  puts: readonly PlannedPut[]
  /** Where each put goes below the run's folder. */
  places: ReadonlyMap<string, string>
  needsRender(put: PlannedPut): boolean
  render: Render
  /** Told of small contents, for findings; may throw. */
  inspect?(put: PlannedPut, content: Uint8Array): void
}

export function createStage(options: StageOptions): Stage {
  const { runFolder, ownership, places } = options
  const waiting = new Map<BlobId, PlannedPut[]>()
  for (const put of options.puts) {
    const list = waiting.get(put.id)
    if (list === undefined) waiting.set(put.id, [put])
    else list.push(put)
  }
  const ids = [...waiting.keys()]
  const folders = new Set<string>([''])
  const staged = new Map<string, Staged>()
  const buffer = Buffer.allocUnsafe(bufferedBytes + 64)
  let current: Incoming | undefined

  const makeOne = folderMaker(ownership)
  // Cut by hand: path.join and path.dirname cost as much here as the calls to the system.
  const placeOf = (put: PlannedPut): string => {
    const place = places.get(put.path) ?? ''
    ensureFolder(parentOf(place))
    return `${runFolder}/${place}`
  }
  const ensureFolder = (folder: string): void => {
    if (folders.has(folder)) return
    ensureFolder(parentOf(folder))
    makeOne(`${runFolder}/${folder}`)
    folders.add(folder)
  }
  const writeWhole = (put: PlannedPut, content: Uint8Array): void => {
    const made = options.needsRender(put) ? options.render(put, content) : undefined
    options.inspect?.(put, content)
    const fd = openNew(placeOf(put))
    try {
      writeAll(fd, made?.content ?? content)
      staged.set(put.path, { stat: settle(fd, put.exec, ownership), rendered: made?.rendered })
    } finally {
      fs.closeSync(fd)
    }
  }
  const guarded = (work: () => void, where: string): void => {
    try {
      work()
    } catch (error) {
      throw diskFault(error, where)
    }
  }

  return {
    ids,
    staged,
    sink: {
      begin(id, size) {
        const puts = waiting.get(id)
        const first = puts?.[0]
        if (puts === undefined || first === undefined) throw new Fault('DeliveryFailed', `an unexpected blob ${id} arrived`)
        guarded(() => {
          current = beginBlob(
            { id, size, puts },
            buffer,
            () => puts.some(options.needsRender),
            () => openNew(placeOf(first)),
          )
        }, first.path)
      },
      data(chunk) {
        const blob = current
        if (blob === undefined) throw new Fault('DeliveryFailed', 'data arrived outside of a blob')
        if (blob.received + chunk.length > blob.size) throw new Fault('DeliveryFailed', `blob ${blob.id} is longer than announced`)
        guarded(() => takeChunk(blob, chunk), blob.puts[0]?.path ?? '')
      },
      end() {
        const blob = current
        current = undefined
        if (blob === undefined) throw new Fault('DeliveryFailed', 'a blob ended that had not begun')
        verify(blob)
        guarded(() => {
          if (blob.kind === 'streamed') finishStreamed(blob, staged, ownership, placeOf)
          else for (const put of blob.puts) writeWhole(put, blob.content.subarray(blob.header, blob.header + blob.size))
        }, blob.puts[0]?.path ?? '')
        waiting.delete(blob.id)
      },
    },
    abandon() {
      if (current?.kind === 'streamed') fs.closeSync(current.fd)
      current = undefined
    },
    finish() {
      const [missing] = waiting.keys()
      if (missing !== undefined) throw new Fault('DeliveryFailed', `${waiting.size} blobs did not arrive, among them ${missing}`)
    },
  }
}

type Incoming = { id: BlobId; size: number; puts: readonly PlannedPut[]; received: number } & (
  { kind: 'whole'; content: Buffer; header: number } | { kind: 'streamed'; fd: number; hash: Hash }
)

/** Small blobs stand behind git's header in the reused buffer, so that one call hashes both; what is rendered stays in memory whole. */
function beginBlob(
  blob: { id: BlobId; size: number; puts: readonly PlannedPut[] },
  buffer: Buffer,
  rendered: () => boolean,
  open: () => number,
): Incoming {
  const header = `blob ${blob.size}\0`
  const whole = (target: Buffer): Incoming => ({
    ...blob,
    received: 0,
    kind: 'whole',
    content: target,
    header: target.write(header, 'latin1'),
  })
  if (blob.size <= bufferedBytes) return whole(buffer)
  if (!rendered()) return { ...blob, received: 0, kind: 'streamed', fd: open(), hash: blobHash(blob.id, blob.size) }
  if (blob.size > maxRenderedBytes) {
    throw new Fault(
      'TemplateFailed',
      `"${blob.puts[0]?.path ?? ''}" has ${blob.size} bytes; templates and patches take files up to ${maxRenderedBytes}`,
    )
  }
  return whole(Buffer.allocUnsafe(blob.size + header.length))
}

function takeChunk(blob: Incoming, chunk: Uint8Array): void {
  if (blob.kind === 'whole') blob.content.set(chunk, blob.header + blob.received)
  else {
    blob.hash.update(chunk)
    writeAll(blob.fd, chunk)
  }
  blob.received += chunk.length
}

function verify(blob: Incoming): void {
  const complete = blob.received === blob.size
  const algorithm = blob.id.length === 64 ? 'sha256' : 'sha1'
  const id = !complete
    ? undefined
    : blob.kind === 'streamed'
      ? blob.hash.digest('hex')
      : hashOnce(algorithm, blob.content.subarray(0, blob.header + blob.size), 'hex')
  if (id === blob.id) return
  if (blob.kind === 'streamed') fs.closeSync(blob.fd)
  throw new Fault('DeliveryFailed', `blob ${blob.id} arrived damaged (${blob.received} of ${blob.size} bytes)`)
}

/** The first target took the stream; further ones are copies of it. */
function finishStreamed(
  blob: Extract<Incoming, { kind: 'streamed' }>,
  staged: Map<string, Staged>,
  ownership: Ownership,
  placeOf: (put: PlannedPut) => string,
): void {
  const [first, ...others] = blob.puts
  if (first === undefined) return
  try {
    staged.set(first.path, { stat: settle(blob.fd, first.exec, ownership), rendered: undefined })
  } finally {
    fs.closeSync(blob.fd)
  }
  for (const put of others) {
    const place = placeOf(put)
    fs.copyFileSync(placeOf(first), place, fs.constants.COPYFILE_EXCL | fs.constants.COPYFILE_FICLONE)
    const fd = fs.openSync(place, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW)
    try {
      staged.set(put.path, { stat: settle(fd, put.exec, ownership), rendered: undefined })
    } finally {
      fs.closeSync(fd)
    }
  }
}

function openNew(file: string): number {
  return fs.openSync(file, fs.constants.O_WRONLY | fs.constants.O_CREAT | fs.constants.O_EXCL, 0o666)
}

/** Gives a written file its mode and owner and returns the stat by which it is known from now on. */
function settle(fd: number, exec: boolean, ownership: Ownership): FileStat {
  const stat = fs.fstatSync(fd)
  const mode = exec ? ownership.execMode : ownership.fileMode
  if ((stat.mode & 0o777) !== mode) fs.fchmodSync(fd, mode)
  if (ownership.owner !== undefined) fs.fchownSync(fd, ownership.owner.uid, ownership.owner.gid)
  return statOf(stat)
}

/** Creates the folder of a run; an unused name, for a run's folder never outlives its run except by a crash. */
export function createRunFolder(folder: string, ownership: Ownership): void {
  try {
    makeFolder(folder, ownership)
  } catch (error) {
    throw errorCode(error) === 'EEXIST' ? error : diskFault(error, path.basename(folder))
  }
}
