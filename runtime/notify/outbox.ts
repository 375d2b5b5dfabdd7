/**
 * Messages that wait to be sent, one at a time for each addressee: what comes meanwhile is joined with what waits, so that a slow or dead
 * addressee holds one message. Nobody waits for an outbox; what cannot be sent is given up and told.
 */
import { backoffMs, type Clock, deadline, pause } from '../clock.ts'
import { asFault, Fault } from '../fault.ts'
import { limitConcurrency } from '../limit-concurrency.ts'

/** What became of a try: `again` is tried again, not before `afterMs` where the addressee asks for that; `never` is given up at once. */
export type Tried = { kind: 'sent' } | { kind: 'again'; fault: Fault; afterMs?: number } | { kind: 'never'; fault: Fault }

/** `retried`: another try follows; `dropped`: there is none. */
export type Told = { kind: 'sent' } | { kind: 'retried' | 'dropped'; fault: Fault }

/** `key` names an addressee. */
export type Outbox<Message> = {
  /** Sends a message to an addressee, together with what waits for it already. Beyond the bound of addressees it is dropped at once. */
  put(key: string, message: Message): void
  /** Settles once nothing is under way any more; only after the signal, which ends waits and calls. */
  settled(): Promise<void>
}

export type OutboxOptions<Message> = {
  clock: Clock
  /** Sends one message; what it throws is tried again unless its reason lasts until something changes. */
  send(key: string, message: Message, signal: AbortSignal): Promise<Tried>
  /** One message that says what both say. */
  join(before: Message, next: Message): Message
  told(key: string, message: Message, how: Told): void
  /** How long the first message to an addressee waits for others to join it. */
  gatherMs: number
  /** At least this lies between two messages to one addressee. */
  spacingMs: number
  firstRetryMs?: number
  /** Of one try. */
  timeoutMs?: number
}

const usualTimeoutMs = 15_000
/** Waits of 2, 4, 8 … seconds, at most five minutes: a quarter of an hour in all. */
const usualFirstRetryMs = 2_000
const longestRetryMs = 300_000
const mostTries = 10
/** Calls at once to all addressees together. */
const mostCalls = 4
const mostAddressees = 2_000

type Entry<Message> = { waiting: Message | undefined; tries: number }

/** Works until the signal; what waits then is forgotten. */
export function createOutbox<Message>(options: OutboxOptions<Message>, signal: AbortSignal): Outbox<Message> {
  const { clock, join, told, gatherMs, spacingMs, firstRetryMs = usualFirstRetryMs, timeoutMs = usualTimeoutMs } = options
  const entries = new Map<string, Entry<Message>>()
  const running = new Set<Promise<void>>()
  const calls = limitConcurrency(mostCalls)

  const tryOnce = async (key: string, message: Message): Promise<Tried> => {
    try {
      return await options.send(key, message, deadline(timeoutMs, signal))
    } catch (error) {
      const fault = asFault(error)
      return { kind: fault.retry === 'on-change' ? 'never' : 'again', fault }
    }
  }

  /** Sends what waits; returns for how long the next try has to wait. */
  const sendOnce = async (key: string, entry: Entry<Message>): Promise<number> => {
    const message = entry.waiting
    if (message === undefined) return 0
    entry.waiting = undefined
    const tried = await tryOnce(key, message)
    if (signal.aborted) return 0
    entry.tries += 1
    if (tried.kind === 'again' && entry.tries < mostTries) {
      entry.waiting = entry.waiting === undefined ? message : join(message, entry.waiting)
      told(key, message, { kind: 'retried', fault: tried.fault })
      return Math.max(backoffMs(entry.tries, firstRetryMs, longestRetryMs, clock.random()), Math.min(tried.afterMs ?? 0, longestRetryMs))
    }
    entry.tries = 0
    told(key, message, tried.kind === 'sent' ? tried : { kind: 'dropped', fault: tried.fault })
    return spacingMs
  }

  const tend = async (key: string, entry: Entry<Message>): Promise<void> => {
    await pause(clock, gatherMs, signal)
    while (!signal.aborted) {
      const waitMs = await calls(() => sendOnce(key, entry))
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
      if (entries.size >= mostAddressees) {
        const fault = new Fault('TooManyRequests', `${mostAddressees} addressees wait already`)
        return told(key, message, { kind: 'dropped', fault })
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
