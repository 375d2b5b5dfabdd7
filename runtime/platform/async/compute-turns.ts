/**
 * Divides the event loop among the computations of namespaces: one pauses after a few milliseconds until the others had their turns, and
 * until the process has read its sockets.
 */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { Clock } from '../clock.ts'
import { Turns } from './turns.ts'

/** Long enough to make the pauses cheap, and short enough that other calls do not notice. */
const turnMs = 2

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
