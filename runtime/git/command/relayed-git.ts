/**
 * Runs git for a worker thread that may be terminated. Node neither ends a child process of such a thread nor reaps it, so that its process id stays
 * taken until this process ends. So the main thread starts git and relays its input and output. When the thread ends, its port closes, and git is
 * ended.
 */
import { Readable, Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { type GitEnd, type GitLimits, type GitProcess, type GitRun, startGit, type StartGit } from './git.ts'
import { maxErrorBytes } from './http-trace.ts'

/** The request of a thread; the port is transferred with the message. */
export type GitRequest = { run: GitRun; limits: GitLimits; port: MessagePort }

/** `more` requests a chunk of output; after `leave` the output is dropped. */
type ToGit =
  | { kind: 'input'; chunk: string | Uint8Array }
  | { kind: 'inputEnds' }
  | { kind: 'more' }
  | { kind: 'leave' }
  | { kind: 'signal'; name: 'SIGTERM' | 'SIGKILL' }
/** A thread that works on one piece has the next one waiting. */
const aheadBytes = 128 * 1024
type FromGit = { kind: 'stdout' | 'stderr'; chunk: Uint8Array<ArrayBuffer> } | { kind: 'ended'; end: GitEnd }

/** For the main thread. Never throws, and does not keep the process alive. */
export function runForThread({ run, limits, port }: GitRequest, start: StartGit = startGit): void {
  let git: GitProcess
  try {
    git = start(run, limits)
  } catch (error) {
    say(port, { kind: 'ended', end: { code: null, by: null, error: (error as Error).cause as Error } })
    return
  }
  const { stdin, stdout, stderr } = git
  stdin.on('error', () => undefined)
  stdout.on('data', (chunk: Buffer<ArrayBuffer>) => {
    stdout.pause()
    say(port, { kind: 'stdout', chunk })
  })
  stdout.pause()
  let errorBytes = 0
  stderr.on('data', (chunk: Buffer<ArrayBuffer>) => {
    // The output is not read piece by piece, and a busy thread reads nothing for minutes.
    const isRead = errorBytes < maxErrorBytes
    errorBytes += chunk.length
    if (isRead) say(port, { kind: 'stderr', chunk })
  })
  let isOver = false
  void git.ended.then((end) => {
    isOver = true
    say(port, { kind: 'ended', end })
  })
  port.on('message', (message: ToGit) => {
    if (message.kind === 'input') stdin.write(message.chunk)
    else if (message.kind === 'inputEnds') stdin.end()
    else if (message.kind === 'more') stdout.resume()
    else if (message.kind === 'leave') stdout.destroy()
    else git.signal(message.name)
  })
  port.once('close', () => {
    // The process id may be reused by now.
    if (!isOver) git.signal('SIGKILL')
    stdout.destroy()
  })
  git.unref()
  port.unref()
}

/** For the thread: `send` sends the request to the thread that calls `runForThread`. */
export function relayedGit(run: GitRun, limits: GitLimits, send: (request: GitRequest, moved: MessagePort[]) => void): GitProcess {
  const { port1: port, port2 } = new MessageChannel()
  const stdin = new Writable({
    decodeStrings: false,
    write(chunk: string | Uint8Array, _encoding, done) {
      say(port, { kind: 'input', chunk })
      done()
    },
    final(done) {
      say(port, { kind: 'inputEnds' })
      done()
    },
  })
  const stdout = new Readable({
    highWaterMark: aheadBytes,
    read: () => say(port, { kind: 'more' }),
    destroy(error, done) {
      say(port, { kind: 'leave' })
      done(error)
    },
  })
  const stderr = new Readable({ read() {} })
  const streams = { stdout, stderr }
  const { promise: ended, resolve } = Promise.withResolvers<GitEnd>()
  port.on('message', (message: FromGit) => {
    if (message.kind !== 'ended') {
      const { buffer, byteOffset, byteLength } = message.chunk
      if (!streams[message.kind].destroyed) streams[message.kind].push(Buffer.from(buffer, byteOffset, byteLength))
      return
    }
    port.close()
    for (const stream of [stdout, stderr]) if (!stream.destroyed) stream.push(null)
    // Like Node: a process has ended once its output has been read.
    void Promise.allSettled([finished(stdout), finished(stderr)]).then(() => resolve(message.end))
  })
  send({ run, limits, port: port2 }, [port2])
  return { pid: undefined, stdin, stdout, stderr, ended, signal: (name) => say(port, { kind: 'signal', name }), unref() {} }
}

function say(port: MessagePort, message: ToGit | FromGit): void {
  const isWhole = (message.kind === 'stdout' || message.kind === 'stderr') && message.chunk.byteLength === message.chunk.buffer.byteLength
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- threads have no origin
  port.postMessage(message, isWhole ? [message.chunk.buffer] : [])
}
