/**
 * Queues messages per receiver and sends them one at a time: new messages are joined with waiting ones, so that a slow or dead receiver
 * holds one message. Callers never wait; undeliverable messages are dropped and reported.
 */
import { backoffMs, type Clock, deadline, pause } from '../platform/clock.ts'
import { asFault, Fault } from '../platform/fault.ts'
import { FairLimiter } from '../platform/async/fair-limiter.ts'

/** The result of an attempt: `again` is retried, not before `afterMs` if the receiver requests that; `never` is dropped at once. */
export type Tried = { kind: 'sent' } | { kind: 'again'; fault: Fault; afterMs?: number } | { kind: 'never'; fault: Fault }

/** `retried`: another attempt follows; `dropped`: there is none. */
export type Delivery = { kind: 'sent' } | { kind: 'retried' | 'dropped'; fault: Fault }

/** `key` identifies a receiver; its part before the first `/` is the namespace that shares with others, or a receiver of the installation. */
export type Outbox<Message> = {
  /** Sends a message to a receiver, joined with what waits for it already. Beyond the maximum number of receivers it is dropped at once. */
  put(key: string, message: Message): void
  /** Settles once nothing is running; only after the signal, which ends waits and calls. */
  settled(): Promise<void>
}

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
  /** Of one attempt. */
  timeoutMs?: number
}

const defaultTimeoutMs = 15_000
/** Delays of 2, 4, 8 … seconds, at most five minutes: a quarter of an hour in total. */
const defaultFirstRetryMs = 2_000
const longestRetryMs = 300_000
const maxTries = 10
/** Concurrent calls to all receivers together: a namespace whose git host does not answer leaves some to others. */
const calls = { total: 4, perTenant: 2 } as const
/** A namespace holds at most as many receivers as are free, so that there is always room for another one's. */
const maxReceivers = 2_000

type Entry<Message> = { waiting: Message | undefined; tries: number }

/** Runs until `signal` aborts; waiting messages are then dropped. */
export function createOutbox<Message>(options: OutboxOptions<Message>, signal: AbortSignal): Outbox<Message> {
  const { clock, join, delivered, gatherMs, spacingMs, firstRetryMs = defaultFirstRetryMs, timeoutMs = defaultTimeoutMs } = options
  const entries = new Map<string, Entry<Message>>()
  const running = new Set<Promise<void>>()
  const limiter = new FairLimiter({ ...calls, clock })

  const tryOnce = async (key: string, message: Message): Promise<Tried> => {
    try {
      return await options.send(key, message, deadline(timeoutMs, signal))
    } catch (error) {
      const fault = asFault(error)
      return { kind: fault.retry === 'on-change' ? 'never' : 'again', fault }
    }
  }

  /** Sends what waits; returns the delay of the next attempt. */
  const sendOnce = async (key: string, entry: Entry<Message>): Promise<number> => {
    const message = entry.waiting
    if (message === undefined) return 0
    entry.waiting = undefined
    const tried = await tryOnce(key, message)
    if (signal.aborted) return 0
    entry.tries += 1
    if (tried.kind === 'again' && entry.tries < maxTries) {
      entry.waiting = entry.waiting === undefined ? message : join(message, entry.waiting)
      delivered(key, message, { kind: 'retried', fault: tried.fault })
      return Math.max(backoffMs(entry.tries, firstRetryMs, longestRetryMs, clock.random()), Math.min(tried.afterMs ?? 0, longestRetryMs))
    }
    entry.tries = 0
    delivered(key, message, tried.kind === 'sent' ? tried : { kind: 'dropped', fault: tried.fault })
    return spacingMs
  }

  const tend = async (key: string, entry: Entry<Message>): Promise<void> => {
    await pause(clock, gatherMs, signal)
    while (!signal.aborted) {
      // It throws only when the signal aborts.
      const hold = await limiter.acquire({ tenant: tenantOf(key) }, signal).catch(() => undefined)
      if (hold === undefined) break
      const waitMs = await sendOnce(key, entry).finally(hold.release)
      await pause(clock, waitMs, signal)
      if (entry.waiting === undefined) break
    }
    entries.delete(key)
  }

  return {
    put(key, message) {
      if (signal.aborted) return
      const known = entries.get(key)
      if (known !== undefined) {
        known.waiting = known.waiting === undefined ? message : join(known.waiting, message)
        return
      }
      const own = [...entries.keys()].filter((one) => tenantOf(one) === tenantOf(key))
      if (own.length >= maxReceivers - entries.size) {
        const fault = new Fault('TooManyRequests', `${own.length} receivers of ${tenantOf(key)} and ${entries.size} of all wait already`)
        return delivered(key, message, { kind: 'dropped', fault })
      }
      const entry: Entry<Message> = { waiting: message, tries: 0 }
      entries.set(key, entry)
      const work = tend(key, entry).finally(() => running.delete(work))
      running.add(work)
    },
    async settled() {
      await Promise.allSettled(running)
    },
  }
}

function tenantOf(key: string): string {
  return key.split('/')[0] ?? key
}
