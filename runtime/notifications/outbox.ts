/**
 * Queues messages per receiver and sends them one at a time: new messages are joined with waiting ones, so that a slow or dead receiver has
 * one waiting message. Callers never wait; undeliverable messages are dropped and reported.
 */
import { backoffMs, type Clock, deadline, pause } from '../platform/clock.ts'
import { asFault, Fault } from '../platform/fault.ts'
import { FairLimiter } from '../platform/async/fair-limiter.ts'

/** The result of an attempt: `again` is retried, not before `afterMs` if the receiver requests that; `never` is dropped immediately. */
export type Tried = { kind: 'sent' } | { kind: 'again'; fault: Fault; afterMs?: number } | { kind: 'never'; fault: Fault }

/** `retried`: another attempt follows; `dropped`: there is none. */
export type Delivery = { kind: 'sent' } | { kind: 'retried' | 'dropped'; fault: Fault }

export type OutboxOptions<Message> = {
  clock: Clock
  /** Sends one message; an exception is retried unless its reason lasts until something changes. */
  send(key: string, message: Message, signal: AbortSignal): Promise<Tried>
  /** Combines two messages. */
  join(before: Message, next: Message): Message
  delivered(key: string, message: Message, how: Delivery): void
  /** How long the first message to a receiver is gathered with others. */
  gatherMs: number
  /** Minimum time between two messages to one receiver. */
  spacingMs: number
  firstRetryMs?: number
  /** Timeout of one attempt. */
  timeoutMs?: number
}

const defaultTimeoutMs = 15_000
/** Delays of 2, 4, 8 … seconds, at most five minutes: a quarter of an hour in total. */
const defaultFirstRetryMs = 2_000
const longestRetryMs = 300_000
const maxTries = 10
/**
 * Concurrent calls to all receivers together. Namespaces whose receivers did not answer the last time share two. A call in the reserve that
 * takes longer than ten seconds is repeated later if another namespace waits.
 */
const calls = { total: 4, reserve: 1, perTenant: 2, perKey: 2, slowAfterMs: 10_000 } as const
/** A namespace uses at most as many receivers as are free, so that there is always space for those of another one. */
const maxReceivers = 2_000

type Entry<Message> = { waiting: Message | undefined; tries: number }

/**
 * Runs until `signal` aborts; waiting messages are then dropped. A key identifies a receiver; its part before the first `/` is the namespace
 * that shares with others, or a receiver of the installation.
 */
export class Outbox<Message> {
  readonly #options: OutboxOptions<Message>
  readonly #signal: AbortSignal
  readonly #entries = new Map<string, Entry<Message>>()
  readonly #running = new Set<Promise<void>>()
  readonly #limiter: FairLimiter

  constructor(options: OutboxOptions<Message>, signal: AbortSignal) {
    this.#options = options
    this.#signal = signal
    this.#limiter = new FairLimiter({ ...calls, clock: options.clock })
  }

  /**
   * Sends a message to a receiver, joined with what waits for it already. Beyond the maximum number of receivers it is dropped immediately.
   */
  put(key: string, message: Message): void {
    if (this.#signal.aborted) return
    const entries = this.#entries
    const known = entries.get(key)
    if (known !== undefined) {
      known.waiting = known.waiting === undefined ? message : this.#options.join(known.waiting, message)
      return
    }
    const own = [...entries.keys()].filter((one) => tenantOf(one) === tenantOf(key))
    if (own.length >= maxReceivers - entries.size) {
      const fault = new Fault(
        'TooManyRequests',
        `${own.length} receivers of ${tenantOf(key)} and ${entries.size} in total are already waiting`,
      )
      this.#options.delivered(key, message, { kind: 'dropped', fault })
      return
    }
    const entry: Entry<Message> = { waiting: message, tries: 0 }
    entries.set(key, entry)
    const work = this.#serve(key, entry).finally(() => this.#running.delete(work))
    this.#running.add(work)
  }

  /** Settles once nothing is running; only after the signal, which ends waits and calls. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#running)
  }

  async #serve(key: string, entry: Entry<Message>): Promise<void> {
    const { clock, gatherMs } = this.#options
    await pause(clock, gatherMs, this.#signal)
    while (!this.#signal.aborted) {
      const sent = await this.#limiter
        .run({ tenant: tenantOf(key) }, this.#signal, (own) => this.#sendOnce(key, entry, own))
        .catch((error: unknown) => {
          if (!this.#signal.aborted) throw error
        })
      if (sent === undefined) break
      await pause(clock, sent.result, this.#signal)
      if (entry.waiting === undefined) break
    }
    this.#entries.delete(key)
  }

  /** Sends what waits; returns the delay of the next attempt. Throws the signal's reason; the message then waits again. */
  async #sendOnce(key: string, entry: Entry<Message>, signal: AbortSignal): Promise<number> {
    const { clock, delivered, spacingMs, firstRetryMs = defaultFirstRetryMs } = this.#options
    const message = entry.waiting
    if (message === undefined) return 0
    entry.waiting = undefined
    const tried = await this.#tryOnce(key, message, signal)
    const again = (): void => {
      entry.waiting = entry.waiting === undefined ? message : this.#options.join(message, entry.waiting)
    }
    if (signal.aborted && tried.kind !== 'sent') {
      again()
      throw signal.reason
    }
    entry.tries += 1
    if (tried.kind === 'again' && entry.tries < maxTries) {
      again()
      delivered(key, message, { kind: 'retried', fault: tried.fault })
      return Math.max(backoffMs(entry.tries, firstRetryMs, longestRetryMs, clock.random()), Math.min(tried.afterMs ?? 0, longestRetryMs))
    }
    entry.tries = 0
    delivered(key, message, tried.kind === 'sent' ? tried : { kind: 'dropped', fault: tried.fault })
    return spacingMs
  }

  async #tryOnce(key: string, message: Message, signal: AbortSignal): Promise<Tried> {
    const { timeoutMs = defaultTimeoutMs } = this.#options
    try {
      return await this.#options.send(key, message, deadline(timeoutMs, signal))
    } catch (error) {
      const fault = asFault(error)
      return { kind: fault.retry === 'on-change' ? 'never' : 'again', fault }
    }
  }
}

function tenantOf(key: string): string {
  return key.split('/')[0] ?? key
}
