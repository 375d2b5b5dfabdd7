/**
 * The validation thread that keeps its state from one commit to the next. It ends while there is nothing to validate; the next one takes over
 * its state.
 */
import pLimit from 'p-limit'
import type { Clock } from '../../platform/clock.ts'
import type { Verdict } from '../../reconcile/decide/observation.ts'
import type { ValidationMemory } from '../run/snapshot.ts'
import { type Ended, type Question, Thread } from './thread.ts'

/** As `IsolateOptions`. */
type Options = { clock: Clock; heapMiB: number; maxBusyMs: number; restAfterMs: number }

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
        const { ended, hadState } = await this.#ask(question, signal)
        // The state of other commits may have filled the heap, so this end is no evidence about the commit.
        const isSuspect = ended.kind === 'gone' && !ended.isLate && hadState && !signal.aborted
        return isSuspect ? (await this.#ask(question, signal)).ended : ended
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

  async #ask(question: Question, signal: AbortSignal): Promise<{ ended: Ended; hadState: boolean }> {
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
