/**
 * Runs pieces of work on a mirror's files one after the other; one that fails does not stop the next. Namespaces take turns. Work that is
 * equal to waiting work of other namespaces runs once for all of them.
 */
import { Turns } from '../../platform/async/turns.ts'

/** `equal`: works with the same text do the same, with the same result. `signal` is the one that aborts the work. */
export type WriterTurn = { namespace: string; equal?: string; signal?: AbortSignal }

type Waiting = WriterTurn & { work(): Promise<unknown>; resolve(value: unknown): void; reject(error: unknown): void }

/** One for each folder. */
export class OneWriter {
  readonly #waiting = new Turns<Waiting>()
  #pending = 0
  #running: Promise<void> | undefined

  /** Whether no work is running or waiting. */
  get isIdle(): boolean {
    return this.#pending === 0
  }

  /** Settles as `work` does, or as equal work of another namespace that begins after this call. */
  async run<Value>(turn: WriterTurn, work: () => Promise<Value>): Promise<Value> {
    const { promise, resolve, reject } = Promise.withResolvers<Value>()
    this.#pending += 1
    this.#waiting.add(turn.namespace, { ...turn, work, resolve, reject })
    this.#running ??= this.#runAll()
    return await promise
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
    let settle: (one: Waiting) => void
    try {
      const value = await next.work()
      settle = ({ resolve }) => resolve(value)
    } catch (error) {
      settle = ({ reject }) => reject(error)
      // Only the namespace whose turn it was has given up.
      if (next.signal?.aborted === true) for (const one of equal.splice(0)) this.#waiting.add(one.namespace, one)
    }
    this.#pending -= 1 + equal.length
    for (const one of [next, ...equal]) settle(one)
  }
}
