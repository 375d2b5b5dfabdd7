/**
 * Lets namespaces take turns: waiting items, and computations that share the event loop.
 */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { Clock } from '../clock.ts'

/**
 * Orders waiting items so that namespaces take turns: one with many items delays another by at most one. For work of milliseconds, such as
 * reconciles: a FairLimiter compares all waiting namespaces at each start, which takes 1.4 s of CPU for a thousand of them.
 */
export class Turns<Item> {
  /** In the order of turns; within a namespace, items are in the order of arrival. */
  readonly #namespaces = new Map<string, Set<Item>>()
  #size = 0

  get size(): number {
    return this.#size
  }

  /** How many items of a namespace wait. */
  sizeOf(namespace: string): number {
    return this.#namespaces.get(namespace)?.size ?? 0
  }

  /** The item must not be waiting already. */
  add(namespace: string, item: Item): void {
    const items = this.#namespaces.get(namespace) ?? new Set()
    this.#namespaces.set(namespace, items.add(item))
    this.#size += 1
  }

  /** Makes a namespace the last to get another turn. */
  postpone(namespace: string): void {
    const items = this.#namespaces.get(namespace)
    if (items === undefined) return
    this.#namespaces.delete(namespace)
    this.#namespaces.set(namespace, items)
  }

  /** Removes and returns the next item that may be taken. Its namespace is the last to get another turn. */
  take(mayTake: (item: Item) => boolean = () => true): Item | undefined {
    for (const [namespace, items] of this.#namespaces) {
      for (const item of items) {
        if (!mayTake(item)) continue
        items.delete(item)
        this.#size -= 1
        this.#namespaces.delete(namespace)
        if (items.size > 0) this.#namespaces.set(namespace, items)
        return item
      }
    }
    return undefined
  }
}

/** Long enough to make the pauses cheap, and short enough that other calls do not notice. */
const turnMs = 2

/**
 * Divides the event loop among the computations of namespaces: one pauses after a few milliseconds until the others had their turns, and
 * until the process has read its sockets.
 */
export class ComputeTurns {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #waiting = new Turns<() => void>()
  #isRunning = false

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock
  }

  /** Returns the items one by one, with pauses in between. What the caller does with an item must not wait. */
  async *each<Item>(namespace: string, items: Iterable<Item>): AsyncGenerator<Item> {
    let untilMs = Number.NEGATIVE_INFINITY
    for (const item of items) {
      if (this.#clock.monotonicMs() >= untilMs) {
        await this.#turn(namespace)
        untilMs = this.#clock.monotonicMs() + turnMs
      }
      yield item
    }
  }

  async #turn(namespace: string): Promise<void> {
    const turn = Promise.withResolvers<void>()
    this.#waiting.add(namespace, turn.resolve)
    if (!this.#isRunning) void this.#run()
    await turn.promise
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    for (let next = this.#waiting.take(); next !== undefined; next = this.#waiting.take()) {
      next()
      await yieldToEventLoop()
    }
    this.#isRunning = false
  }
}
