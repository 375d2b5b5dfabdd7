/**
 * Runs lookups at git hosts beside the reconcile passes, so that a host that hangs delays only its own GatewaySyncs. At most one lookup runs for
 * each GatewaySync; its result waits here until a pass has acted on it.
 */
import { type Clock, unlessAborted } from '../clock.ts'
import { asFault, isAbort } from '../fault.ts'
import type { SourceObservation } from '../gatewaysync/decide/observation.ts'
import type { Due, LastLookup, SharedLookup } from '../gatewaysync/decide/lookup.ts'
import type { WantedRef } from '../gatewaysync/decide/request.ts'
import { createHostPlaces } from './host-places.ts'
import type { ResolvedCommit } from './resolved-commit.ts'
import { createSharedResults, type HostAnswer, sharedLookup, type SharedResult, type SharedResults } from './shared-results.ts'
import type { SyncKey } from './records.ts'

/** One lookup: what it is about, and how it is done. */
export type Lookup = {
  /** The parts of the spec, besides the ref, on which the result depends. */
  specKey: string
  /** Ref and `specKey`: equal keys are equal lookups. */
  lookupKey: string
  /** Repository, ref and credentials: lookups with equal keys share the git host's answer. */
  sharingKey: string
  /** A host gets at most three quarters of the places. */
  host: string
  wanted: WantedRef
  why: Extract<Due, { kind: 'now' }>['why']
  /** Asks the git host, by `share`, and checks the commit that it names. */
  run(share: Share, signal: AbortSignal): Promise<SourceObservation>
}

/** Returns an answer that another lookup got, or calls `ask` and shares its answer. */
export type Share = (ask: () => Promise<ResolvedCommit>) => Promise<ResolvedCommit>

/** The result of a lookup that has ended, and what it was about. */
export type LookupResult = { specKey: string; wanted: WantedRef; source: SourceObservation }

/** The lookups of one leader. */
export type Lookups = {
  /** What is remembered of the last lookup that ended. */
  last(key: SyncKey): LastLookup | undefined
  /** The git host's latest answer for a sharing key; from now on the GatewaySync is told of new ones. */
  shared(key: SyncKey, sharingKey: string): SharedLookup | undefined
  /**
   * Whether the running lookup will also answer this one: same ref and spec. A lookup that a poll started is replaced when a request comes,
   * for it may have read the ref before the push; one that a request started never is, or a stream of pushes would never be answered.
   */
  isRunning(key: SyncKey, lookup: Pick<Lookup, 'lookupKey' | 'wanted'>): boolean
  /** Starts a lookup; another one that runs for the key is cancelled first. */
  start(key: SyncKey, lookup: Lookup): void
  /** The result that no pass has acted on yet; it stays until one has. */
  result(key: SyncKey): LookupResult | undefined
  /** Drops a result that has been acted on, or no longer matters. */
  done(key: SyncKey, result: LookupResult): void
  forget(key: SyncKey): void
  /** Settles when no lookup runs any more; call after `signal` was aborted. */
  settled(): Promise<void>
}

type Entry = {
  running: { lookupKey: string; requestId: string | undefined; cancel: AbortController } | undefined
  result: LookupResult | undefined
  last: LastLookup | undefined
}

type Options = {
  clock: Clock
  /** How many lookups may run at once. */
  concurrency: number
  /** Called when a result is ready, or when a git host gave a new answer that concerns this GatewaySync. */
  ready(key: SyncKey): void
  signal: AbortSignal
}

/** `ready` is called outside of any pass and must not throw. */
export function createLookups({ clock, concurrency, ready, signal }: Options): Lookups {
  const entries = new Map<SyncKey, Entry>()
  const underWay = new Set<Promise<void>>()
  const places = createHostPlaces(concurrency, Math.ceil(concurrency * 0.75))
  const results = createSharedResults()
  const asking = new Map<string, Promise<unknown>>()

  const entryOf = (key: SyncKey): Entry => {
    const known = entries.get(key)
    if (known !== undefined) return known
    const fresh: Entry = { running: undefined, result: undefined, last: undefined }
    entries.set(key, fresh)
    return fresh
  }

  const run = async (key: SyncKey, entry: Entry, lookup: Lookup, own: AbortSignal): Promise<void> => {
    const tell = (result: HostAnswer): void => {
      const hearers = results.add(lookup.sharingKey, result, (hearer) => entries.get(hearer)?.last, lookup.why === 'changed')
      for (const hearer of hearers) if (hearer !== key) ready(hearer)
    }
    const share = shareThrough({ clock, results, asking, tell }, lookup, own)
    // An answer that another lookup got needs no place at the host.
    const asksHost = lookup.why !== 'news'
    if (asksHost) await places.take(lookup.host, lookup.why === 'request')
    let source: SourceObservation
    let hostAnswer: string | undefined
    try {
      own.throwIfAborted()
      source = await lookup.run(async (ask) => {
        try {
          const resolved = await share(ask)
          hostAnswer = resolved.commit
          return resolved
        } catch (error) {
          hostAnswer = asFault(error).reason
          throw error
        }
      }, own)
    } catch (error) {
      if (isAbort(error, own) || own.aborted) return
      source = { kind: 'fault', fault: asFault(error) }
    } finally {
      if (asksHost) places.giveBack(lookup.host)
    }
    // A lookup that was replaced meanwhile no longer matters.
    if (own.aborted || entries.get(key) !== entry) return
    const { specKey, wanted, sharingKey } = lookup
    entry.running = undefined
    entry.result = { specKey, wanted, source }
    const ended = { source, hostAnswer, sharedFailures: results.of(sharingKey)?.failures ?? 0, atMs: clock.monotonicMs() }
    entry.last = lastLookupOf(lookup, ended, entry.last)
    ready(key)
  }

  return {
    last: (key) => entries.get(key)?.last,
    shared(key, sharingKey) {
      results.follow(key, sharingKey)
      const result = results.of(sharingKey)
      return result === undefined ? undefined : sharedLookup(result)
    },
    isRunning(key, { lookupKey, wanted }) {
      const running = entries.get(key)?.running
      if (running === undefined || running.lookupKey !== lookupKey) return false
      return !wanted.undecided || running.requestId !== undefined
    },
    start(key, lookup) {
      const entry = entryOf(key)
      entry.running?.cancel.abort()
      const cancel = new AbortController()
      entry.running = { lookupKey: lookup.lookupKey, requestId: requestIdOf(lookup.wanted), cancel }
      const own = AbortSignal.any([signal, cancel.signal])
      const work: Promise<void> = run(key, entry, lookup, own).finally(() => underWay.delete(work))
      underWay.add(work)
    },
    result: (key) => entries.get(key)?.result,
    done(key, result) {
      const entry = entries.get(key)
      // A newer result may have arrived meanwhile.
      if (entry?.result === result) entry.result = undefined
    },
    forget(key) {
      entries.get(key)?.running?.cancel.abort()
      entries.delete(key)
      results.forget(key)
    },
    async settled() {
      await Promise.all(underWay)
    },
  }
}

/** `asking`: the questions that hosts are answering now, by sharing key. */
type Sharing = { clock: Clock; results: SharedResults; asking: Map<string, Promise<unknown>>; tell(result: HostAnswer): void }

/**
 * Shares the host's answers. For a push an earlier answer counts only if the host was asked after the push had arrived; a poll takes the answer
 * that somebody else is just waiting for.
 */
function shareThrough({ clock, results, asking, tell }: Sharing, { sharingKey, why }: Lookup, signal: AbortSignal): Share {
  const startedMs = clock.monotonicMs()
  return async (ask) => {
    for (;;) {
      const known = results.of(sharingKey)
      if (known !== undefined && mayShare(known, why, startedMs)) {
        if (known.kind === 'fault') throw known.fault
        return known.resolved
      }
      const underWay = isPush(why) ? undefined : asking.get(sharingKey)
      if (underWay === undefined) break
      // Whoever asked may be stopped before there is an answer; then the next one asks.
      await unlessAborted(underWay, signal)
    }
    const askedMs = clock.monotonicMs()
    const ended = Promise.withResolvers<void>()
    asking.set(sharingKey, ended.promise)
    try {
      const resolved = await ask()
      tell({ kind: 'resolved', resolved, startedMs: askedMs, atMs: clock.monotonicMs() })
      return resolved
    } catch (error) {
      if (!signal.aborted) tell({ kind: 'fault', fault: asFault(error), startedMs: askedMs, atMs: clock.monotonicMs() })
      throw error
    } finally {
      if (asking.get(sharingKey) === ended.promise) asking.delete(sharingKey)
      ended.resolve()
    }
  }
}

/** Whether a lookup that began at `startedMs` may use the answer to another one. */
function mayShare(known: SharedResult, why: Lookup['why'], startedMs: number): boolean {
  if (why === 'news') return true
  return (isPush(why) ? known.startedMs : known.atMs) >= startedMs
}

function isPush(why: Lookup['why']): boolean {
  return why === 'first' || why === 'changed' || why === 'request'
}

function requestIdOf({ request, undecided }: WantedRef): string | undefined {
  return undecided ? request?.id : undefined
}

type Ended = { source: SourceObservation; hostAnswer: string | undefined; sharedFailures: number; atMs: number }

/** What is remembered of a lookup that has ended. */
function lastLookupOf(lookup: Lookup, { source, hostAnswer, sharedFailures, atMs }: Ended, before: LastLookup | undefined): LastLookup {
  const { specKey, lookupKey, wanted } = lookup
  const fault = 'fault' in source ? source.fault : undefined
  const requestId = requestIdOf(wanted)
  // Failures with another host, with other credentials, or from before a request came, do not count for this lookup.
  const counted = before?.lookupKey === lookupKey && before.requestId === requestId ? before : undefined
  const isAwaited = requestId !== undefined || before?.commit === undefined
  const earlierFailures = isAwaited ? (counted?.earlierFailures ?? Math.max(0, sharedFailures - 1)) : 0
  return {
    specKey,
    lookupKey,
    ref: wanted.ref,
    requestId,
    atMs,
    commit: 'commit' in source ? source.commit : before?.commit,
    hostAnswer,
    // A GatewaySync that polls seldom counts the failures that others met, and so waits as long as they do.
    failures: fault === undefined ? 0 : Math.max(1 + (counted?.failures ?? 0), sharedFailures - earlierFailures),
    earlierFailures,
    fault,
  }
}
