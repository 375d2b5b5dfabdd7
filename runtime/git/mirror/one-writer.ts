/**
 * Runs work on the files of a mirror sequentially; one that fails does not stop the next. Namespaces take turns. Work that is equal to
 * waiting work of other namespaces runs once for all of them.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { Turns } from '../../platform/async/turns.ts'
import { systemClock } from '../../platform/clock.ts'
import { Fault } from '../../platform/fault.ts'

/** `equal`: works with the same text do the same, with the same result. `signal` is the one that aborts the work. */
export type WriterTurn = { namespace: string; equal?: string; signal?: AbortSignal }

/** `giveWay` is aborted when the work has to start again later. */
type Work<Value> = (giveWay: AbortSignal) => Promise<Value>
type Waiting = WriterTurn & { work: Work<unknown>; resolve(value: unknown): void; reject(error: unknown): void }

const checkEveryMs = 500

/** One for each folder. */
export class OneWriter {
  readonly #isHeldUp: (namespace: string) => boolean
  readonly #waiting = new Turns<Waiting>()
  #pending = 0
  #running: Promise<void> | undefined
  #isClosed = false

  /**
   * `isHeldUp`: whether the running work of a namespace waits for its other work. It then yields if another namespace waits for its turn.
   */
  constructor(isHeldUp: (namespace: string) => boolean = () => false) {
    this.#isHeldUp = isHeldUp
  }

  /** Whether no work is running or waiting. */
  get isIdle(): boolean {
    return this.#pending === 0
  }

  /** Settles as `work` does, or as equal work of another namespace that begins after this call. */
  async run<Value>(turn: WriterTurn, work: Work<Value>): Promise<Value> {
    if (this.#isClosed) throw new Fault('GitKilled', 'the mirror was removed')
    const { promise, resolve, reject } = Promise.withResolvers<Value>()
    this.#pending += 1
    // Bound, because a wait for memory is attributed to the work of a limiter in which this was called.
    this.#waiting.add(turn.namespace, { ...turn, work: AsyncLocalStorage.bind(work), resolve, reject })
    this.#running ??= this.#runAll()
    return await promise
  }

  /** Refuses all further work with GitKilled, unless some is running or waiting. Returns whether it does. */
  close(): boolean {
    this.#isClosed ||= this.isIdle
    return this.#isClosed
  }

  /** Settles when no work is running or waiting. */
  async settled(): Promise<void> {
    await this.#running
  }

  async #runAll(): Promise<void> {
    for (let next = this.#waiting.take(); next !== undefined; next = this.#waiting.take()) await this.#runOne(next)
    this.#running = undefined
  }

  async #runOne(next: Waiting): Promise<void> {
    const equal: Waiting[] = []
    const isEqual = (other: Waiting): boolean => next.equal !== undefined && other.equal === next.equal
    for (let one = this.#waiting.take(isEqual); one !== undefined; one = this.#waiting.take(isEqual)) equal.push(one)
    const { namespace } = next
    const [giveWay, over] = [new AbortController(), new AbortController()]
    const check = (): void => {
      const doOthersWait = this.#waiting.size > this.#waiting.sizeOf(namespace) || equal.some((one) => one.namespace !== namespace)
      if (doOthersWait && this.#isHeldUp(namespace)) giveWay.abort(new Error('another namespace goes first'))
    }
    repeat(check, over.signal).catch(() => undefined)
    let settle: (one: Waiting) => void
    try {
      const value = await next.work(giveWay.signal)
      settle = ({ resolve }) => resolve(value)
    } catch (error) {
      if (giveWay.signal.aborted && next.signal?.aborted !== true) {
        for (const one of [...equal, next]) this.#waiting.add(one.namespace, one)
        this.#waiting.postpone(namespace)
        return
      }
      settle = ({ reject }) => reject(error)
      // Only the namespace whose turn it was has canceled.
      if (next.signal?.aborted === true) for (const one of equal.splice(0)) this.#waiting.add(one.namespace, one)
    } finally {
      over.abort()
    }
    this.#pending -= 1 + equal.length
    for (const one of [next, ...equal]) settle(one)
  }
}

/** Rejects when the signal is aborted. */
async function repeat(check: () => void, signal: AbortSignal): Promise<never> {
  for (;;) {
    await systemClock.wait(checkEveryMs, signal)
    check()
  }
}
