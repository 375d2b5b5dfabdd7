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
import { type FromWorker, type WorkerStart, currentPathBytes, type ToWorker } from './messages.ts'
import pLimit from 'p-limit'
import type { Verdict } from '../../reconcile/decide/observation.ts'

const pollIntervalMs = 1_000
/** Three semi-spaces of 1 MiB, as the image sets for the process itself. */
const youngMiB = 3

/** The thread's program: beside the bundle, or the source itself. */
const program = import.meta.url.endsWith('/worker/thread.ts')
  ? new URL('worker.ts', import.meta.url)
  : new URL('isolate.mjs', import.meta.url)

/** The result of a request; `gone`: the thread has ended; `isLate`: it took too long. `path`: the file that was read last, if any. */
export type Ended =
  | Exclude<FromWorker, { kind: 'bug' | 'git' | 'ready' | 'rested' }>
  | (Extract<FromWorker, { kind: 'bug' }> & { path: string })
  | { kind: 'gone'; why: string; path: string; isLate: boolean }

/** A commit to validate. */
type Question = Omit<Extract<ToWorker, { kind: 'validate' }>, 'kind'>
type Limits = { clock: Clock; maxBusyMs: number }
type Answer = Ended | Extract<FromWorker, { kind: 'rested' }>

/** Takes one request at a time. */
export class Thread {
  readonly #worker: Worker
  readonly #heapMiB: number
  /** Shared with the thread, which writes the path of the file that it reads. */
  readonly #currentPath = new SharedArrayBuffer(currentPathBytes)
  readonly #gone: () => void
  #answer = Promise.withResolvers<Answer>()
  /** Starts git for the namespace of the request. */
  #start: StartGit = startGit
  #why = 'ended its thread'
  #isReady = false
  #isLate = false

  /** `memory`: the state of an earlier thread; its buffers are moved. `gone` is called when the thread has ended, for any reason. */
  constructor({ heapMiB, memory }: { heapMiB: number; memory: ValidationMemory | undefined }, gone: () => void) {
    this.#heapMiB = heapMiB
    this.#gone = gone
    this.#worker = new Worker(program, {
      workerData: { currentPath: this.#currentPath, memory } satisfies WorkerStart,
      transferList: memory === undefined ? [] : buffersOf(memory),
      // Options of this process, such as the loader of a test runner, would take part of the heap.
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: heapMiB, maxYoungGenerationSizeMb: youngMiB },
    })
    // An idle thread must not keep the process running.
    this.#worker.unref()
    this.#worker.on('message', (message: FromWorker) => this.#received(message))
    this.#worker.on('error', (error: Error & { code?: string }) => this.#failed(error))
    this.#worker.on('exit', () => this.#exited())
  }

  /** Ends a thread that takes too long. An aborted request settles once the thread has noticed. */
  async validate(question: Question, limits: Limits, signal: AbortSignal): Promise<Ended> {
    const { repository, request } = question
    const { start = startGit, ...files } = repository
    this.#start = start
    const ended = await this.#send({ kind: 'validate', repository: files, request }, limits, signal)
    if (ended.kind === 'rested') throw new Error('the validation thread answered another request')
    return ended
  }

  /** Ends the thread and returns its state; undefined when that takes too long. */
  async rest(limits: Limits): Promise<ValidationMemory | undefined> {
    const ended = await this.#send({ kind: 'rest' }, limits)
    await this.#worker.terminate()
    return ended.kind === 'rested' ? ended.memory : undefined
  }

  async end(): Promise<void> {
    await this.#worker.terminate()
  }

  #received(message: FromWorker): void {
    if (message.kind === 'ready') this.#isReady = true
    else if (message.kind === 'git') runForThread(message.request, this.#start)
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
    // A thread that never started its work says nothing about the commit.
    const notStarted = { kind: 'fault', reason: 'Unexpected', message: `the validation thread did not start: it ${why}` } as const
    this.#answer.resolve(this.#isReady ? { kind: 'gone', why, path: this.#path(), isLate: this.#isLate } : notStarted)
  }

  #path(): string {
    const bytes = Buffer.from(this.#currentPath)
    return bytes.toString('utf8', 2, 2 + Math.min(bytes.readUInt16LE(0), currentPathBytes - 2))
  }

  async #send(message: ToWorker, limits: Limits, signal?: AbortSignal): Promise<Answer> {
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

  #post(message: ToWorker): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- threads have no origin
    this.#worker.postMessage(message)
  }

  async #endWhenLate({ clock, maxBusyMs }: Limits, over: AbortSignal, signal: AbortSignal | undefined): Promise<void> {
    const worker = this.#worker
    let before: EventLoopUtilization | undefined
    for (;;) {
      const wasAborted = signal?.aborted === true
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

/** As `IsolatedValidatorOptions`. */
type Options = { clock: Clock; heapMiB: number; maxBusyMs: number; restAfterMs: number }

/**
 * The thread that keeps its state from one commit to the next. It ends while there is nothing to validate; the next one takes over its
 * state.
 */
export class KeptThread {
  readonly #options: Options
  readonly #ended: () => void
  /** The thread answers one request at a time, and may get a rest request only in between. */
  readonly #oneAtATime = pLimit(1)
  #thread: Thread | undefined
  /** Whether the thread holds the state of earlier checks. */
  #hasState = false
  /** The state of the last thread, until another one takes it over. */
  #memory: ValidationMemory | undefined
  #idle = new AbortController()

  /** `ended` is called when a thread has ended. No thread is started before the first call. */
  constructor(options: Options, ended: () => void) {
    this.#options = options
    this.#ended = ended
  }

  /** A verdict of earlier threads, while none runs. */
  verdict(key: string): Verdict | undefined {
    return this.#memory?.verdicts.get(key)?.value
  }

  /** Starts the thread, unless it runs. */
  prepare(): void {
    this.#running()
    this.#restLater()
  }

  async validate(question: Question, signal: AbortSignal): Promise<Ended> {
    return await this.#oneAtATime(async () => {
      try {
        const { ended, hadState } = await this.#validateOnce(question, signal)
        // The state of other commits may have filled the heap, so this end says nothing about the commit.
        const isSuspect = ended.kind === 'gone' && !ended.isLate && hadState && !signal.aborted
        return isSuspect ? (await this.#validateOnce(question, signal)).ended : ended
      } finally {
        this.#restLater()
      }
    })
  }

  async close(): Promise<void> {
    this.#idle.abort()
    await this.#thread?.end()
    this.#thread = undefined
  }

  async #validateOnce(question: Question, signal: AbortSignal): Promise<{ ended: Ended; hadState: boolean }> {
    const thread = this.#running()
    const hadState = this.#hasState
    this.#hasState = true
    return { ended: await thread.validate(question, this.#options, signal), hadState }
  }

  #running(): Thread {
    if (this.#thread !== undefined) return this.#thread
    const memory = this.#memory
    this.#thread = new Thread({ heapMiB: this.#options.heapMiB, memory }, () => {
      this.#thread = undefined
      this.#ended()
    })
    this.#hasState = memory !== undefined
    this.#memory = undefined
    return this.#thread
  }

  #restLater(): void {
    this.#idle.abort()
    this.#idle = new AbortController()
    const { signal } = this.#idle
    const { clock, restAfterMs } = this.#options
    const resting = clock.wait(restAfterMs, signal).then(() => this.#oneAtATime(() => this.#rest(signal)))
    resting.catch(() => undefined)
  }

  /** Ends the thread and keeps its state. */
  async #rest(signal: AbortSignal): Promise<void> {
    if (signal.aborted || this.#thread === undefined) return
    this.#memory = await this.#thread.rest(this.#options)
  }
}
