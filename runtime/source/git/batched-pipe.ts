/**
 * A pipe of the system that is read at most once in a millisecond. `git cat-file` writes the header and the content of each blob by itself.
 * A reader that is woken by each write reads 25,000 times for 20,000 blobs, which takes it as much processor time as git; one that lets
 * the pipe fill reads 300 times.
 */
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { Socket } from 'node:net'
import path from 'node:path'
import { promisify } from 'node:util'
import { isMainThread } from 'node:worker_threads'
import { systemClock } from '../../clock.ts'
import { systemPath } from './git.ts'

export type BatchedPipe = {
  /** The descriptor that a program writes to. Whoever starts the program closes it then, for the pipe ends with its last writer. */
  input: number
  /** What is written, complete when the iteration ends without throwing. To be called once; whoever leaves it early ends the pipe. */
  chunks(): AsyncGenerator<Buffer>
}

/** What a pipe of Linux holds. */
const chunkBytes = 64 * 1024
const pauseMs = 1
const mkfifoMs = 10_000

/**
 * `folder` holds the pipe's name for a moment. Undefined where the volume or the machine has no such pipes, and in a thread: at its end Node
 * closes each number that the thread has opened and not closed itself. The pipe's was closed with its socket, and may be a file or a
 * connection of another thread by then.
 */
export async function openBatchedPipe(folder: string): Promise<BatchedPipe | undefined> {
  if (!isMainThread) return undefined
  const file = path.join(folder, `.pipe-${randomBytes(16).toString('hex')}`)
  try {
    await promisify(execFile)('mkfifo', ['-m', '600', file], { env: { PATH: systemPath }, timeout: mkfifoMs })
    try {
      return openEnds(file)
    } finally {
      // Whoever clears the folder may have been faster.
      fs.rmSync(file, { force: true })
    }
  } catch {
    return undefined
  }
}

function openEnds(file: string): BatchedPipe {
  // A reader that waits for a writer would wait here for ever.
  const output = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK)
  try {
    return { input: fs.openSync(file, fs.constants.O_WRONLY), chunks: () => readInBatches(output) }
  } catch (error) {
    fs.closeSync(output)
    throw error
  }
}

async function* readInBatches(descriptor: number): AsyncGenerator<Buffer> {
  const buffer = Buffer.allocUnsafe(chunkBytes)
  let held: Buffer | undefined
  let ended = false
  let failure: Error | undefined
  let wake = (): void => undefined
  const callback = (count: number): boolean => {
    held = Buffer.from(buffer.subarray(0, count))
    wake()
    // No more until it was taken.
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
      if (held === undefined && !ended) await new Promise<void>((resolve) => (wake = resolve))
      if (failure !== undefined) throw failure
      if (held === undefined) return
      const chunk = held
      held = undefined
      const pause = systemClock.wait(pauseMs)
      yield chunk
      await pause
      socket.resume()
    }
  } finally {
    socket.destroy()
  }
}
