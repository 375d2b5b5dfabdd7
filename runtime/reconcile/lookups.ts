/**
 * Asks git hosts apart from the reconcile passes, so that a host that hangs holds up nothing but its own GatewaySyncs. One question per
 * GatewaySync is under way at most; its answer waits here until a pass has acted on it.
 */
import { type Clock } from '../clock.ts'
import { asFault, isAbort } from '../fault.ts'
import type { SourceObservation } from '../gatewaysync/decide/decide.ts'
import type { Due, LastLookup, SharedLookup } from '../gatewaysync/decide/lookup.ts'
import type { Wanted } from '../gatewaysync/decide/request.ts'
import type { ResolvedCommit } from './resolved-commit.ts'
import { createSharedAnswers, type SharedAnswers, sharedLookup } from './shared-answers.ts'
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
  /** What the host is asked about: a ref of a repository, and by whose credentials. Whoever asks about the same place shares answers. */
  place: string
  why: Extract<Due, { kind: 'now' }>['why']
  /** Asks, by `share`, and checks what it is told. */
  ask(share: Share, signal: AbortSignal): Promise<SourceObservation>
}

/** The answer that was shared already, or that of the host, which is shared then. */
export type Share = (ask: () => Promise<ResolvedCommit>) => Promise<ResolvedCommit>

export type Answer = { subject: string; wanted: Wanted; source: SourceObservation }

export type Lookups = {
  /** What is known of the last answered question. */
  last(key: SyncKey): LastLookup | undefined
  /** What anybody was told last about a place; a GatewaySync hears of it from now on. */
  shared(key: SyncKey, place: string): SharedLookup | undefined
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
  const answers = createSharedAnswers()

  const entryOf = (key: SyncKey): Entry => {
    const known = entries.get(key)
    if (known !== undefined) return known
    const fresh: Entry = { asking: undefined, answer: undefined, last: undefined }
    entries.set(key, fresh)
    return fresh
  }

  /** Shares what the host says; a shared answer counts for a push only where its question began after the push was heard of. */
  const shareFor = (asker: SyncKey, question: Question, askedMs: number, own: AbortSignal): Share => {
    const { place, why } = question
    const tell = (answer: Parameters<SharedAnswers['add']>[1]): void => {
      const hearers = answers.add(place, answer, (key) => entries.get(key)?.last, why === 'changed')
      for (const key of hearers) if (key !== asker) answered(key)
    }
    return async (ask) => {
      const known = answers.of(place)
      const isPush = why === 'first' || why === 'changed' || why === 'request'
      if (known !== undefined && (why === 'news' || (isPush ? known.startedMs : known.atMs) >= askedMs)) {
        if (known.kind === 'fault') throw known.fault
        return known.resolved
      }
      const startedMs = clock.monotonicMs()
      try {
        const resolved = await ask()
        tell({ kind: 'resolved', resolved, startedMs, atMs: clock.monotonicMs() })
        return resolved
      } catch (error) {
        if (!own.aborted) tell({ kind: 'fault', fault: asFault(error), startedMs, atMs: clock.monotonicMs() })
        throw error
      }
    }
  }

  const run = async (key: SyncKey, entry: Entry, question: Question, own: AbortSignal): Promise<void> => {
    const share = shareFor(key, question, clock.monotonicMs(), own)
    // What was told already costs the host nothing.
    const asksHost = question.why !== 'news'
    if (asksHost) await places.take(question.host, question.why === 'request')
    let source: SourceObservation
    let told: string | undefined
    try {
      own.throwIfAborted()
      source = await question.ask(async (ask) => {
        try {
          const resolved = await share(ask)
          told = resolved.commit
          return resolved
        } catch (error) {
          told = asFault(error).reason
          throw error
        }
      }, own)
    } catch (error) {
      if (isAbort(error, own) || own.aborted) return
      source = { kind: 'fault', fault: asFault(error) }
    } finally {
      if (asksHost) places.giveBack(question.host)
    }
    // A question that was replaced meanwhile no longer matters.
    if (own.aborted || entries.get(key) !== entry) return
    const fault = 'fault' in source ? source.fault : undefined
    // Who asks seldom has not met what the others have, and waits as long as they do.
    const sharedFailures = answers.of(question.place)?.failures ?? 0
    entry.asking = undefined
    entry.answer = { subject: question.subject, wanted: question.wanted, source }
    entry.last = {
      subject: question.subject,
      question: question.text,
      ref: question.wanted.ref,
      requestId: question.wanted.undecided ? question.wanted.request?.id : undefined,
      atMs: clock.monotonicMs(),
      commit: 'commit' in source ? source.commit : entry.last?.commit,
      told,
      // What another host did, or this one to other credentials, says nothing about this question.
      failures: fault === undefined ? 0 : Math.max(1 + (entry.last?.question === question.text ? entry.last.failures : 0), sharedFailures),
      fault,
    }
    answered(key)
  }

  return {
    last: (key) => entries.get(key)?.last,
    shared(key, place) {
      answers.follow(key, place)
      const answer = answers.of(place)
      return answer === undefined ? undefined : sharedLookup(answer)
    },
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
      answers.forget(key)
    },
    async settled() {
      await Promise.all(underWay)
    },
  }
}

/** So many may have a place at once, and so many of one host; the urgent come first, then whoever has waited longest. */
function createPlaces(
  all: number,
  ofOneHost: number,
): { take(host: string, urgent: boolean): Promise<void>; giveBack(host: string): void } {
  const taken = new Map<string, number>()
  const waiting: { host: string; urgent: boolean; start(): void }[] = []
  let free = all
  const count = (host: string, change: 1 | -1): void => {
    const left = (taken.get(host) ?? 0) + change
    if (left === 0) taken.delete(host)
    else taken.set(host, left)
    free -= change
  }
  const mayStart = (host: string): boolean => free > 0 && (taken.get(host) ?? 0) < ofOneHost
  return {
    async take(host, urgent) {
      if (mayStart(host)) count(host, 1)
      else await new Promise<void>((start) => waiting.push({ host, urgent, start }))
    },
    giveBack(host) {
      count(host, -1)
      const first = waiting.findIndex((one) => one.urgent && mayStart(one.host))
      const index = first >= 0 ? first : waiting.findIndex((one) => mayStart(one.host))
      const [next] = index < 0 ? [] : waiting.splice(index, 1)
      if (next === undefined) return
      count(next.host, 1)
      next.start()
    },
  }
}
