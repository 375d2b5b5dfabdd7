/**
 * Runs lookups at git hosts beside the reconcile passes, so that a host that hangs holds up nothing but its own GatewaySyncs. One lookup per
 * GatewaySync runs at most; its result waits here until a pass has acted on it.
 */
import { type Clock } from '../clock.ts'
import { asFault, isAbort } from '../fault.ts'
import type { SourceObservation } from '../gatewaysync/decide/decide.ts'
import type { Due, LastLookup, SharedLookup } from '../gatewaysync/decide/lookup.ts'
import type { WantedRef } from '../gatewaysync/decide/request.ts'
import { createHostPlaces } from './host-places.ts'
import type { ResolvedCommit } from './resolved-commit.ts'
import { createSharedResults, type HostAnswer, sharedLookup, type SharedResult, type SharedResults } from './shared-results.ts'
import type { SyncKey } from './store.ts'

/** One lookup: what it is about, and how it is done. */
export type Lookup = {
  /** What of the spec the result depends on, besides the ref. */
  specKey: string
  /** Ref and `specKey`: equal keys are equal lookups. */
  lookupKey: string
  /** A ref of a repository, and by whose credentials it is read: lookups of one key share what the git host says. */
  sharingKey: string
  /** A host gets at most three quarters of the places. */
  host: string
  wanted: WantedRef
  why: Extract<Due, { kind: 'now' }>['why']
  /** Asks the git host, by `share`, and checks the commit that it names. */
  run(share: Share, signal: AbortSignal): Promise<SourceObservation>
}

/** What the git host said already, or what it says now, which is shared then. */
export type Share = (ask: () => Promise<ResolvedCommit>) => Promise<ResolvedCommit>

export type LookupResult = { specKey: string; wanted: WantedRef; source: SourceObservation }

export type Lookups = {
  /** What is known of the last lookup that ended. */
  last(key: SyncKey): LastLookup | undefined
  /** What a git host said last to any lookup of a sharing key; the GatewaySync hears of it from now on. */
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
  /** A result has been acted on, or no longer matters. */
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
  /** A result lies ready, or a git host said something new that concerns this GatewaySync. */
  ready(key: SyncKey): void
  signal: AbortSignal
}

/** `ready` is called outside of any pass and must not throw. */
export function createLookups({ clock, concurrency, ready, signal }: Options): Lookups {
  const entries = new Map<SyncKey, Entry>()
  const underWay = new Set<Promise<void>>()
  const places = createHostPlaces(concurrency, Math.ceil(concurrency * 0.75))
  const results = createSharedResults()

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
    const share = shareThrough({ clock, results, tell }, lookup, own)
    // What was said already costs the host nothing.
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
      // Another may have come meanwhile.
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

type Sharing = { clock: Clock; results: SharedResults; tell(result: HostAnswer): void }

/** Shares what the host says. What it said before counts for a push only where the host was asked after the push was heard of. */
function shareThrough({ clock, results, tell }: Sharing, { sharingKey, why }: Lookup, signal: AbortSignal): Share {
  const startedMs = clock.monotonicMs()
  return async (ask) => {
    const known = results.of(sharingKey)
    if (known !== undefined && mayShare(known, why, startedMs)) {
      if (known.kind === 'fault') throw known.fault
      return known.resolved
    }
    const askedMs = clock.monotonicMs()
    try {
      const resolved = await ask()
      tell({ kind: 'resolved', resolved, startedMs: askedMs, atMs: clock.monotonicMs() })
      return resolved
    } catch (error) {
      if (!signal.aborted) tell({ kind: 'fault', fault: asFault(error), startedMs: askedMs, atMs: clock.monotonicMs() })
      throw error
    }
  }
}

/** Whether a lookup that began at `startedMs` may take what the host said to another one. */
function mayShare(known: SharedResult, why: Lookup['why'], startedMs: number): boolean {
  if (why === 'news') return true
  const isPush = why === 'first' || why === 'changed' || why === 'request'
  return (isPush ? known.startedMs : known.atMs) >= startedMs
}

function requestIdOf({ request, undecided }: WantedRef): string | undefined {
  return undecided ? request?.id : undefined
}

type Ended = { source: SourceObservation; hostAnswer: string | undefined; sharedFailures: number; atMs: number }

/** What is remembered of a lookup that ended. */
function lastLookupOf(lookup: Lookup, { source, hostAnswer, sharedFailures, atMs }: Ended, before: LastLookup | undefined): LastLookup {
  const { specKey, lookupKey, wanted } = lookup
  const fault = 'fault' in source ? source.fault : undefined
  // What another host did, or this one to other credentials, says nothing about this lookup.
  const failuresBefore = before?.lookupKey === lookupKey ? before.failures : 0
  return {
    specKey,
    lookupKey,
    ref: wanted.ref,
    requestId: requestIdOf(wanted),
    atMs,
    commit: 'commit' in source ? source.commit : before?.commit,
    hostAnswer,
    // A GatewaySync that asks seldom has not met the failures that the others have, and waits as long as they do.
    failures: fault === undefined ? 0 : Math.max(1 + failuresBefore, sharedFailures),
    fault,
  }
}
