/**
 * Controls the validation thread from the process: it answers one request at a time, and is ended when it computes for too long.
 */
import type { EventLoopUtilization } from 'node:perf_hooks'
import { Worker } from 'node:worker_threads'
import type { Clock } from '../../platform/clock.ts'
import { buffersOf, type ValidationMemory } from '../run/snapshot.ts'
import { printable } from '../../api/values.ts'
import { startGit, type StartGit } from '../../git/command/git.ts'
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
export class Thread {
  readonly #worker: Worker
  readonly #heapMiB: number
  /** Shared with the thread, which writes the path of the file that it reads. */
  readonly #verdict = new SharedArrayBuffer(verdictBytes)
  readonly #gone: () => void
  #answer = Promise.withResolvers<Answer>()
  /** Starts git for the namespace of the request. */
  #start: StartGit = startGit
  #why = 'ended their thread'
  #isReady = false
  #isLate = false

  /** `memory`: the state of an earlier thread; its buffers are moved. `gone` is called when the thread has ended, for any reason. */
  constructor({ heapMiB, memory }: { heapMiB: number; memory: ValidationMemory | undefined }, gone: () => void) {
    this.#heapMiB = heapMiB
    this.#gone = gone
    this.#worker = new Worker(program, {
      workerData: { verdict: this.#verdict, memory } satisfies IsolateData,
      transferList: memory === undefined ? [] : buffersOf(memory),
      // Options of this process, such as the loader of a test runner, would take part of the heap.
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: heapMiB, maxYoungGenerationSizeMb: youngMiB },
    })
    // An idle thread must not keep the process running.
    this.#worker.unref()
    this.#worker.on('message', (message: FromIsolate) => this.#received(message))
    this.#worker.on('error', (error: Error & { code?: string }) => this.#failed(error))
    this.#worker.on('exit', () => this.#exited())
  }

  /** Ends a thread that takes too long. An aborted request settles once the thread has noticed. */
  async validate(question: Question, limits: Limits, signal: AbortSignal): Promise<Ended> {
    const { repository, request } = question
    const { start = startGit, ...files } = repository
    this.#start = start
    const ended = await this.#ask({ kind: 'validate', repository: files, request }, limits, signal)
    if (ended.kind === 'rested') throw new Error('the thread of the checks answered another question')
    return ended
  }

  /** Ends the thread and returns its state; undefined when that takes too long. */
  async rest(limits: Limits): Promise<ValidationMemory | undefined> {
    const ended = await this.#ask({ kind: 'rest' }, limits)
    await this.#worker.terminate()
    return ended.kind === 'rested' ? ended.memory : undefined
  }

  async end(): Promise<void> {
    await this.#worker.terminate()
  }

  #received(message: FromIsolate): void {
    if (message.kind === 'ready') this.#isReady = true
    else if (message.kind === 'git') runForThread(message.asked, this.#start)
    else this.#answer.resolve(message.kind === 'bug' ? { ...message, path: this.#path() } : message)
  }

  #failed({ code, message }: { code?: string; message: string }): void {
    this.#why =
      code === 'ERR_WORKER_OUT_OF_MEMORY'
        ? `needed more than ${this.#heapMiB} MiB of memory`
        : `failed unexpectedly: ${printable(message, 512)}`
  }

  #exited(): void {
    this.#gone()
    const why = this.#why
    // A thread that never started its work is no verdict on the commit.
    const notStarted = { kind: 'fault', reason: 'Unexpected', message: `the thread of the checks did not start: it ${why}` } as const
    this.#answer.resolve(this.#isReady ? { kind: 'gone', why, path: this.#path(), isLate: this.#isLate } : notStarted)
  }

  #path(): string {
    const bytes = Buffer.from(this.#verdict)
    return bytes.toString('utf8', 2, 2 + Math.min(bytes.readUInt16LE(0), verdictBytes - 2))
  }

  async #ask(message: ToIsolate, limits: Limits, signal?: AbortSignal): Promise<Answer> {
    this.#answer = Promise.withResolvers()
    const over = new AbortController()
    const cancel = (): void => this.#post({ kind: 'cancel' })
    signal?.addEventListener('abort', cancel, { once: true })
    this.#endWhenLate(limits, over.signal, signal).catch(() => undefined)
    this.#worker.ref()
    this.#post(message)
    try {
      return await this.#answer.promise
    } finally {
      this.#worker.unref()
      over.abort()
      signal?.removeEventListener('abort', cancel)
    }
  }

  #post(message: ToIsolate): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- threads have no origin
    this.#worker.postMessage(message)
  }

  async #endWhenLate({ clock, maxBusyMs }: Limits, over: AbortSignal, asked: AbortSignal | undefined): Promise<void> {
    const worker = this.#worker
    let before: EventLoopUtilization | undefined
    for (;;) {
      const wasAborted = asked?.aborted === true
      await clock.wait(pollIntervalMs, over)
      // A thread that computes does not notice that its request was aborted.
      if (wasAborted) await worker.terminate()
      if (!this.#isReady) continue
      before ??= worker.performance.eventLoopUtilization()
      if (worker.performance.eventLoopUtilization(before).active < maxBusyMs) continue
      this.#isLate = true
      this.#why = `took longer than ${Math.round(maxBusyMs / 1000)} s`
      await worker.terminate()
    }
  }
}
