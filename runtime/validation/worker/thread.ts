/**
 * Controls the validation thread from the process: it answers one request at a time, and is ended when it computes for too long.
 */
import type { EventLoopUtilization } from 'node:perf_hooks'
import { Worker } from 'node:worker_threads'
import type { Clock } from '../../platform/clock.ts'
import { buffersOf, type ValidationMemory } from '../run/snapshot.ts'
import { printable } from '../../api/values.ts'
import { runForThread } from '../../git/command/relayed-git.ts'
import { type FromIsolate, type IsolateData, verdictBytes, type ToIsolate } from './messages.ts'

const pollIntervalMs = 1_000
/** Three semi-spaces of 1 MiB, as the image sets for the process itself. */
const youngMiB = 3

/** The thread's program: beside the bundle, or the source itself. */
const program = import.meta.url.endsWith('/worker/thread.ts')
  ? new URL('worker.ts', import.meta.url)
  : new URL('isolate.mjs', import.meta.url)

/** The result of a request; `gone`: the thread has ended; `isLate`: it took too long. `path`: the file that was read last, if any. */
export type Ended =
  | Exclude<FromIsolate, { kind: 'bug' | 'git' | 'ready' | 'rested' }>
  | (Extract<FromIsolate, { kind: 'bug' }> & { path: string })
  | { kind: 'gone'; why: string; path: string; isLate: boolean }

/** A commit to validate. */
export type Question = Omit<Extract<ToIsolate, { kind: 'validate' }>, 'kind'>
type Limits = { clock: Clock; maxBusyMs: number }
type Answer = Ended | Extract<FromIsolate, { kind: 'rested' }>

/** Takes one request at a time. */
export type Thread = {
  /** Ends a thread that takes too long. An aborted request settles once the thread has noticed. */
  validate(question: Question, limits: Limits, signal: AbortSignal): Promise<Ended>
  /** Ends the thread and returns its state; undefined when that takes too long. */
  rest(limits: Limits): Promise<ValidationMemory | undefined>
  end(): Promise<void>
}

/** `memory`: the state of an earlier thread; its buffers are moved. `gone` is called when the thread has ended, in any way. */
export function startThread({ heapMiB, memory }: { heapMiB: number; memory: ValidationMemory | undefined }, gone: () => void): Thread {
  const verdict = new SharedArrayBuffer(verdictBytes)
  const worker = new Worker(program, {
    workerData: { verdict, memory } satisfies IsolateData,
    transferList: memory === undefined ? [] : buffersOf(memory),
    // Options of this process, such as the loader of a test runner, would take part of the heap.
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: heapMiB, maxYoungGenerationSizeMb: youngMiB },
  })
  // An idle thread must not keep the process alive.
  worker.unref()
  let answer = Promise.withResolvers<Answer>()
  let why = 'ended their thread'
  let isReady = false
  let isLate = false
  const path = (): string => {
    const bytes = Buffer.from(verdict)
    return bytes.toString('utf8', 2, 2 + Math.min(bytes.readUInt16LE(0), verdictBytes - 2))
  }
  worker.on('message', (message: FromIsolate) => {
    if (message.kind === 'ready') isReady = true
    else if (message.kind === 'git') runForThread(message.asked)
    else answer.resolve(message.kind === 'bug' ? { ...message, path: path() } : message)
  })
  worker.on('error', (error: Error & { code?: string }) => {
    why =
      error.code === 'ERR_WORKER_OUT_OF_MEMORY'
        ? `needed more than ${heapMiB} MiB of memory`
        : `failed unexpectedly: ${printable(error.message, 512)}`
  })
  worker.on('exit', () => {
    gone()
    // A thread that never started its work gives no verdict about the commit.
    const notStarted = { kind: 'fault', reason: 'Unexpected', message: `the thread of the checks did not start: it ${why}` } as const
    answer.resolve(isReady ? { kind: 'gone', why, path: path(), isLate } : notStarted)
  })

  const say = (message: ToIsolate): void => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- threads have no origin
    worker.postMessage(message)
  }
  const endWhenLate = async ({ clock, maxBusyMs }: Limits, over: AbortSignal, asked: AbortSignal | undefined): Promise<void> => {
    let before: EventLoopUtilization | undefined
    for (;;) {
      const wasAborted = asked?.aborted === true
      await clock.wait(pollIntervalMs, over)
      // A thread that computes does not notice that its request was aborted.
      if (wasAborted) await worker.terminate()
      if (!isReady) continue
      before ??= worker.performance.eventLoopUtilization()
      if (worker.performance.eventLoopUtilization(before).active < maxBusyMs) continue
      isLate = true
      why = `took longer than ${Math.round(maxBusyMs / 1000)} s`
      await worker.terminate()
    }
  }
  const ask = async (message: ToIsolate, limits: Limits, signal?: AbortSignal): Promise<Answer> => {
    answer = Promise.withResolvers()
    const over = new AbortController()
    const cancel = (): void => say({ kind: 'cancel' })
    signal?.addEventListener('abort', cancel, { once: true })
    endWhenLate(limits, over.signal, signal).catch(() => undefined)
    worker.ref()
    say(message)
    try {
      return await answer.promise
    } finally {
      worker.unref()
      over.abort()
      signal?.removeEventListener('abort', cancel)
    }
  }
  return {
    async validate(question, limits, signal) {
      const ended = await ask({ kind: 'validate', ...question }, limits, signal)
      if (ended.kind === 'rested') throw new Error('the thread of the checks answered another question')
      return ended
    },
    async rest(limits) {
      const ended = await ask({ kind: 'rest' }, limits)
      await worker.terminate()
      return ended.kind === 'rested' ? ended.memory : undefined
    },
    async end() {
      await worker.terminate()
    },
  }
}
