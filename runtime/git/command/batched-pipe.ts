/**
 * Opens named pipes from one program to another, and to this process, which reads at most once a millisecond. `git cat-file` writes header and
 * content of each blob separately. A reader that wakes up at each write reads 25,000 times for 20,000 blobs, which takes as much processor time as
 * git itself; one that lets the pipe fill reads 300 times.
 */
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { Socket } from 'node:net'
import path from 'node:path'
import { promisify } from 'node:util'
import { isMainThread } from 'node:worker_threads'
import { systemClock } from '../../platform/clock.ts'
import { systemPath } from './settings.ts'

/** Two descriptors that must be closed: `input` by the caller, the other by `chunks` or `close`. */
export type BatchedPipe = {
  /**
   * The descriptor that a program writes to. Its caller closes it once the program has started, because the pipe ends with its last writer.
   */
  input: number
  /** The written data; complete when the iteration ends without throwing. Call it once; leaving the loop early closes the pipe. */
  chunks(): AsyncGenerator<Buffer>
  /** Closes the end that `chunks` would read; for when the program did not start. */
  close(): void
}

/** The capacity of a pipe on Linux. */
const chunkBytes = 64 * 1024
const pauseMs = 1
const mkfifoMs = 10_000

/**
 * `folder` holds the pipe's name for a moment. Undefined when the volume or the machine has no named pipes, and in a worker thread: when a
 * thread ends, Node closes every descriptor number that it opened and did not close itself. The pipe's was closed by its socket, and the
 * number may by then belong to a file or connection of another thread.
 */
export async function openBatchedPipe(folder: string): Promise<BatchedPipe | undefined> {
  if (!isMainThread) return undefined
  return await makePipes(folder, 1, ([file = '']) => openBatched(file))
}

/** A pipe from one program to another; its caller closes both ends once the programs have started. */
export type Pipe = { input: number; output: number }

/** A pipe between two programs, and one from the second to this process. Undefined in the cases of `openBatchedPipe`. */
export async function openPipeline(folder: string): Promise<{ between: Pipe; output: BatchedPipe } | undefined> {
  if (!isMainThread) return undefined
  return await makePipes(folder, 2, ([first = '', second = '']) => {
    const between = openBetween(first)
    try {
      return { between, output: openBatched(second) }
    } catch (error) {
      for (const descriptor of [between.input, between.output]) fs.closeSync(descriptor)
      throw error
    }
  })
}

function openBatched(file: string): BatchedPipe {
  // Non-blocking: open(2) for reading would wait for a writer, which comes only below.
  const output = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK)
  const input = openOrClose(file, fs.constants.O_WRONLY, output)
  return { input, chunks: () => readInBatches(output), close: () => fs.closeSync(output) }
}

function openBetween(file: string): Pipe {
  const input = fs.openSync(file, fs.constants.O_RDWR)
  try {
    // A writer exists, so this does not block; a non-blocking descriptor would stay non-blocking for the program that reads.
    const output = fs.openSync(file, fs.constants.O_RDONLY)
    return { input: openOrClose(file, fs.constants.O_WRONLY, output), output }
  } finally {
    fs.closeSync(input)
  }
}

/** One program makes all of them. */
async function makePipes<Ends>(folder: string, count: number, open: (files: readonly string[]) => Ends): Promise<Ends | undefined> {
  const files = Array.from({ length: count }, () => path.join(folder, `.pipe-${randomBytes(16).toString('hex')}`))
  try {
    await promisify(execFile)('mkfifo', ['-m', '600', ...files], { env: { PATH: systemPath }, timeout: mkfifoMs })
    return open(files)
  } catch {
    return undefined
  } finally {
    for (const file of files) removeName(file)
  }
}

/** It may have none, or a clean-up of the folder may have removed it already. */
function removeName(file: string): void {
  try {
    fs.unlinkSync(file)
  } catch {}
}

/** Closes the other end if this one cannot be opened. */
function openOrClose(file: string, flags: number, other: number): number {
  try {
    return fs.openSync(file, flags)
  } catch (error) {
    fs.closeSync(other)
    throw error
  }
}

async function* readInBatches(descriptor: number): AsyncGenerator<Buffer> {
  const buffer = Buffer.allocUnsafe(chunkBytes)
  let buffered: Buffer | undefined
  let ended = false
  let failure: Error | undefined
  let wake = (): void => undefined
  const callback = (count: number): boolean => {
    buffered = Buffer.from(buffer.subarray(0, count))
    wake()
    // Stops reading until the chunk is taken.
    return false
  }
  const socket = new Socket({ fd: descriptor, readable: true, writable: false, onread: { buffer, callback } })
  socket.once('error', (error) => {
    failure = error
  })
  socket.once('close', () => {
    ended = true
    wake()
  })
  try {
    for (;;) {
      if (buffered === undefined && !ended) await new Promise<void>((resolve) => (wake = resolve))
      if (failure !== undefined) throw failure
      if (buffered === undefined) return
      const chunk = buffered
      buffered = undefined
      const pause = systemClock.wait(pauseMs)
      yield chunk
      await pause
      socket.resume()
    }
  } finally {
    socket.destroy()
  }
}
