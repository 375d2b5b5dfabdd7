/**
 * Asks git hosts apart from the reconcile passes, so that a host that hangs holds up nothing but its own GatewaySyncs. One question per
 * GatewaySync is under way at most; its answer waits here until a pass has acted on it.
 */
import { type Clock } from '../clock.ts'
import { asFault, isAbort } from '../fault.ts'
import type { SourceObservation } from '../gatewaysync/decide.ts'
import type { LastLookup } from '../gatewaysync/lookup.ts'
import type { Wanted } from '../gatewaysync/request.ts'
import type { SyncKey } from './store.ts'

/** One question to a git host: what it is about, and how to ask. */
export type Question = {
  /** What of the spec the answer depends on, besides the ref. */
  subject: string
  /** Who is asked: a host gets at most three quarters of the places, so that one that hangs leaves room for the others. */
  host: string
  /** Subject and ref: equal texts are equal questions. */
  text: string
  wanted: Wanted
  ask(signal: AbortSignal): Promise<SourceObservation>
}

export type Answer = { subject: string; wanted: Wanted; source: SourceObservation }

export type Lookups = {
  /** What is known of the last answered question. */
  last(key: SyncKey): LastLookup | undefined
  /**
   * Whether a question is under way that this one has to wait for: the same, or for another request for the same. A stream of requests
   * would cancel each other's for ever; a poll gives way, because its answer may be older than the request.
   */
  isAsking(key: SyncKey, question: Pick<Question, 'text' | 'wanted'>): boolean
  /** Asks in the background; a different question under way for the key is cancelled first. */
  ask(key: SyncKey, question: Question): void
  /** The answer that no pass has acted on yet; it stays until one has. */
  answer(key: SyncKey): Answer | undefined
  /** An answer has been acted on, or no longer matters. */
  done(key: SyncKey, answer: Answer): void
  forget(key: SyncKey): void
  /** Settles when no question is under way any more; call after `signal` was aborted. */
  settled(): Promise<void>
}

type Entry = {
  asking: { text: string; requestId: string | undefined; cancel: AbortController } | undefined
  answer: Answer | undefined
  last: LastLookup | undefined
}

type Options = {
  clock: Clock
  /** How many git hosts may be asked at once. */
  concurrency: number
  answered(key: SyncKey): void
  signal: AbortSignal
}

export function createLookups({ clock, concurrency, answered, signal }: Options): Lookups {
  const entries = new Map<SyncKey, Entry>()
  const underWay = new Set<Promise<void>>()
  const places = createPlaces(concurrency, Math.ceil(concurrency * 0.75))

  const entryOf = (key: SyncKey): Entry => {
    const known = entries.get(key)
    if (known !== undefined) return known
    const fresh: Entry = { asking: undefined, answer: undefined, last: undefined }
    entries.set(key, fresh)
    return fresh
  }

  const run = async (key: SyncKey, entry: Entry, question: Question, own: AbortSignal): Promise<void> => {
    await places.take(question.host)
    let source: SourceObservation
    try {
      own.throwIfAborted()
      source = await question.ask(own)
    } catch (error) {
      if (isAbort(error, own) || own.aborted) return
      source = { kind: 'fault', fault: asFault(error) }
    } finally {
      places.giveBack(question.host)
    }
    // A question that was replaced meanwhile no longer matters.
    if (own.aborted || entries.get(key) !== entry) return
    const fault = 'fault' in source ? source.fault : undefined
    entry.asking = undefined
    entry.answer = { subject: question.subject, wanted: question.wanted, source }
    entry.last = {
      subject: question.subject,
      question: question.text,
      ref: question.wanted.ref,
      requestId: question.wanted.undecided ? question.wanted.request?.id : undefined,
      atMs: clock.monotonicMs(),
      failures: fault === undefined ? 0 : (entry.last?.failures ?? 0) + 1,
      fault,
    }
    answered(key)
  }

  return {
    last: (key) => entries.get(key)?.last,
    isAsking(key, { text, wanted }) {
      const asking = entries.get(key)?.asking
      if (asking === undefined || asking.text !== text) return false
      return !wanted.undecided || asking.requestId !== undefined
    },
    ask(key, question) {
      const entry = entryOf(key)
      entry.asking?.cancel.abort()
      const cancel = new AbortController()
      const requestId = question.wanted.undecided ? question.wanted.request?.id : undefined
      entry.asking = { text: question.text, requestId, cancel }
      const own = AbortSignal.any([signal, cancel.signal])
      const work: Promise<void> = run(key, entry, question, own).finally(() => underWay.delete(work))
      underWay.add(work)
    },
    answer: (key) => entries.get(key)?.answer,
    done(key, answer) {
      const entry = entries.get(key)
      // Another may have come meanwhile.
      if (entry?.answer === answer) entry.answer = undefined
    },
    forget(key) {
      entries.get(key)?.asking?.cancel.abort()
      entries.delete(key)
    },
    async settled() {
      await Promise.all(underWay)
    },
  }
}

/** So many may have a place at once, and so many of one host; whoever has waited longest comes first. */
function createPlaces(all: number, ofOneHost: number): { take(host: string): Promise<void>; giveBack(host: string): void } {
  const taken = new Map<string, number>()
  const waiting: { host: string; start(): void }[] = []
  let free = all
  const count = (host: string, change: 1 | -1): void => {
    const left = (taken.get(host) ?? 0) + change
    if (left === 0) taken.delete(host)
    else taken.set(host, left)
    free -= change
  }
  const mayStart = (host: string): boolean => free > 0 && (taken.get(host) ?? 0) < ofOneHost
  return {
    async take(host) {
      if (mayStart(host)) count(host, 1)
      else await new Promise<void>((start) => waiting.push({ host, start }))
    },
    giveBack(host) {
      count(host, -1)
      const index = waiting.findIndex((one) => mayStart(one.host))
      const [next] = index < 0 ? [] : waiting.splice(index, 1)
      if (next === undefined) return
      count(next.host, 1)
      next.start()
    },
  }
}
