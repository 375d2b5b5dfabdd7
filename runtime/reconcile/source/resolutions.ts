/**
 * Runs source resolutions concurrently with reconciles, so that a slow host delays only its own GatewaySyncs. At most one runs per
 * GatewaySync; its result is kept until a reconcile has used it.
 */
import { type Clock, unlessAborted } from '../../platform/clock.ts'
import { asFault, Fault, isAbort } from '../../platform/fault.ts'
import type { SourceObservation } from '../decide/observation.ts'
import type { Due, LastResolution, ResolvedCommit, SharedResolution } from '../decide/source-resolution.ts'
import type { DesiredRef } from '../decide/request.ts'
import type { FairLimiter } from '../../platform/async/fair-limiter.ts'
import type { LimiterRequest } from '../../platform/async/limiter-options.ts'
import { createSharedResults, type HostAnswer, sharedResolution, type SharedResult } from './shared-results.ts'
import { parseSyncKey, type SyncKey } from '../store/records.ts'

/** One source resolution. */
export type Resolution = {
  /** Digest of the parts of the spec, besides the ref, on which the result depends. */
  specKey: string
  /** Ref and `specKey`: equal keys are equal resolutions. */
  resolutionKey: string
  /** Repository, ref and credentials: resolutions with equal keys share the git host's answer. */
  sharingKey: string
  /** The git host. Within its namespace, a slow host leaves slots to the others. */
  host: string
  /** URL of the repository, as git gets it. */
  repository: string
  desired: DesiredRef
  why: Extract<Due, { kind: 'now' }>['why']
  /** Queries the git host through `share`, and validates the commit. */
  run(share: QueryThroughShare, signal: AbortSignal): Promise<SourceObservation>
}

/** Returns another resolution's answer, or calls `query` and shares its answer. */
export type QueryThroughShare = (query: (signal: AbortSignal) => Promise<ResolvedCommit>) => Promise<ResolvedCommit>

/** The result of a finished resolution, with its input. */
export type ResolutionResult = { specKey: string; desired: DesiredRef; source: SourceObservation }

type Entry = {
  running: { resolutionKey: string; repository: string; requestId: string | undefined; cancel: AbortController } | undefined
  result: ResolutionResult | undefined
  last: LastResolution | undefined
}

type Options = {
  clock: Clock
  /** Limits concurrent queries to git hosts. */
  hosts: FairLimiter
  /** Called outside any reconcile when a result is ready, or when a git host gave a new answer for this GatewaySync. Must not throw. */
  ready(key: SyncKey): void
  signal: AbortSignal
}

/**
 * Concurrent resolutions of a controller; each may run a git process. Allowing for remote hosts, a query over 5 s is slow. Each waiting
 * host of a namespace makes choosing the next one slower, so their number is bounded.
 */
export const hostSlots = { total: 8, reserve: 2, perTenant: 4, slowAfterMs: 5_000, maxWaiting: 1_000 } as const

/** The source resolutions of one leader. */
export class Resolutions {
  readonly #options: Options
  readonly #entries = new Map<SyncKey, Entry>()
  readonly #underWay = new Set<Promise<void>>()
  readonly #results = createSharedResults()
  /** Running queries to hosts, by namespace and sharing key. */
  readonly #runningQueries = new Map<string, Promise<unknown>>()

  constructor(options: Options) {
    this.#options = options
  }

  /** Returns the last finished resolution. */
  last(key: SyncKey): LastResolution | undefined {
    return this.#entries.get(key)?.last
  }

  /** Returns the git host's latest answer for a sharing key; from now on the GatewaySync is notified of new ones. */
  shared(key: SyncKey, sharingKey: string): SharedResolution | undefined {
    this.#results.follow(key, sharingKey)
    const result = this.#results.of(sharingKey, key)
    return result === undefined ? undefined : sharedResolution(result)
  }

  /**
   * Whether the running resolution will also answer this one: same ref and spec. One started by a poll is replaced when a request comes,
   * because it may have read the ref before the push; one started by a request never is, or a stream of pushes would never be answered.
   */
  isRunning(key: SyncKey, { resolutionKey, desired }: Pick<Resolution, 'resolutionKey' | 'desired'>): boolean {
    const running = this.#entries.get(key)?.running
    if (running === undefined || running.resolutionKey !== resolutionKey) return false
    return !desired.undecided || running.requestId !== undefined
  }

  /** Starts a resolution and cancels the one running for the key. */
  start(key: SyncKey, resolution: Resolution): void {
    const entry = this.#entries.get(key) ?? { running: undefined, result: undefined, last: undefined }
    this.#entries.set(key, entry)
    entry.running?.cancel.abort()
    const cancel = new AbortController()
    const { resolutionKey, repository, desired } = resolution
    entry.running = { resolutionKey, repository, requestId: requestIdOf(desired), cancel }
    const own = AbortSignal.any([this.#options.signal, cancel.signal])
    const work: Promise<void> = this.#run(key, entry, resolution, own).finally(() => this.#underWay.delete(work))
    this.#underWay.add(work)
  }

  /** Returns the unused result; it stays until a reconcile has used it. */
  result(key: SyncKey): ResolutionResult | undefined {
    return this.#entries.get(key)?.result
  }

  /** Drops a result that has been used or is obsolete. */
  done(key: SyncKey, result: ResolutionResult): void {
    const entry = this.#entries.get(key)
    // A newer result may have arrived meanwhile.
    if (entry?.result === result) entry.result = undefined
  }

  forget(key: SyncKey): void {
    this.#entries.get(key)?.running?.cancel.abort()
    this.#entries.delete(key)
    this.#results.forget(key)
  }

  /** Returns the GatewaySyncs of a namespace with a running resolution of a repository. */
  resolving(namespace: string, repository: string): SyncKey[] {
    return [...this.#entries].flatMap(([key, { running }]) =>
      running?.repository === repository && key.startsWith(`${namespace}/`) ? [key] : [],
    )
  }

  /** Settles when no resolution is running anymore; call after `signal` was aborted. */
  async settled(): Promise<void> {
    await Promise.all(this.#underWay)
  }

  async #run(key: SyncKey, entry: Entry, resolution: Resolution, own: AbortSignal): Promise<void> {
    let source: SourceObservation
    let hostAnswer: string | undefined
    try {
      const queryThroughShare = this.#queryHost(key, resolution, own)
      own.throwIfAborted()
      source = await resolution.run(async (query) => {
        try {
          const resolved = await queryThroughShare(query)
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
    }
    // A replaced resolution is obsolete.
    if (own.aborted || this.#entries.get(key) !== entry) return
    const { specKey, desired, sharingKey } = resolution
    entry.running = undefined
    entry.result = { specKey, desired, source }
    const sharedFailures = this.#results.of(sharingKey, key)?.failures ?? 0
    const ended = { source, hostAnswer, sharedFailures, atMs: this.#options.clock.monotonicMs() }
    entry.last = lastResolutionOf(resolution, ended, entry.last)
    this.#options.ready(key)
  }

  /** Returns the function that queries the git host, in a slot of the namespace, or uses another resolution's answer. */
  #queryHost(key: SyncKey, resolution: Resolution, own: AbortSignal): QueryThroughShare {
    const { clock, hosts, ready } = this.#options
    const results = this.#results
    const notify = (result: HostAnswer): void => {
      const how = { last: (listener: SyncKey) => this.last(listener), isChanged: resolution.why === 'changed' }
      const listeners = results.add(resolution.sharingKey, key, result, how)
      for (const listener of listeners) if (listener !== key) ready(listener)
    }
    const { namespace: tenant, name: owner } = parseSyncKey(key)
    const known = (): SharedResult | undefined => results.of(resolution.sharingKey, key)
    const share = shareThrough(
      { clock, known, runningQueries: this.#runningQueries, notify },
      resolution,
      `${tenant} ${resolution.sharingKey}`,
    )
    const request = { tenant, owner, key: resolution.host, urgent: resolution.why === 'request' }
    return async (query) => {
      const shared = (signal: AbortSignal): Promise<ResolvedCommit> => share(() => query(signal), signal)
      // A shared answer needs no slot.
      return await (resolution.why === 'shared' ? shared(own) : inTurn(hosts, request, shared, own))
    }
  }
}

/** Queries the git host in a slot of the namespace. Throws TooManyRequests, and what `query` throws. */
async function inTurn(
  hosts: FairLimiter,
  request: LimiterRequest,
  query: (signal: AbortSignal) => Promise<ResolvedCommit>,
  signal: AbortSignal,
): Promise<ResolvedCommit> {
  const done = await hosts.run(request, signal, query)
  if (done === undefined) throw new Fault('TooManyRequests', `too many GatewaySyncs of namespace "${request.tenant}" wait for a git host`)
  return done.result
}

/** `runningQueries`: running queries to hosts, by namespace and sharing key. */
type Sharing = {
  clock: Clock
  known(): SharedResult | undefined
  runningQueries: Map<string, Promise<unknown>>
  notify(result: HostAnswer): void
}

/**
 * Shares the host's answers. For a push, an earlier answer counts only if the query started after the push arrived; a poll joins any
 * query of its namespace that is running. It does not wait for another namespace's, which may wait for that namespace's share of memory.
 */
function shareThrough({ clock, known: latest, runningQueries, notify }: Sharing, { why }: Resolution, queryKey: string) {
  const startedMs = clock.monotonicMs()
  return async (query: () => Promise<ResolvedCommit>, signal: AbortSignal): Promise<ResolvedCommit> => {
    for (;;) {
      const known = latest()
      if (known !== undefined && mayShare(known, why, startedMs)) {
        if (known.kind === 'fault') throw known.fault
        return known.resolved
      }
      const underWay = isPush(why) ? undefined : runningQueries.get(queryKey)
      if (underWay === undefined) break
      // The running query may be aborted before it answers; then the next caller starts one.
      await unlessAborted(underWay, signal)
    }
    const queriedAtMs = clock.monotonicMs()
    const ended = Promise.withResolvers<void>()
    runningQueries.set(queryKey, ended.promise)
    try {
      const resolved = await query()
      notify({ kind: 'resolved', resolved, startedMs: queriedAtMs, atMs: clock.monotonicMs() })
      return resolved
    } catch (error) {
      if (!signal.aborted) notify({ kind: 'fault', fault: asFault(error), startedMs: queriedAtMs, atMs: clock.monotonicMs() })
      throw error
    } finally {
      if (runningQueries.get(queryKey) === ended.promise) runningQueries.delete(queryKey)
      ended.resolve()
    }
  }
}

/** Whether a resolution that began at `startedMs` may use another one's answer. */
function mayShare(known: SharedResult, why: Resolution['why'], startedMs: number): boolean {
  if (why === 'shared') return true
  return (isPush(why) ? known.startedMs : known.atMs) >= startedMs
}

function isPush(why: Resolution['why']): boolean {
  return why === 'first' || why === 'changed' || why === 'request'
}

function requestIdOf({ request, undecided }: DesiredRef): string | undefined {
  return undecided ? request?.id : undefined
}

type Ended = { source: SourceObservation; hostAnswer: string | undefined; sharedFailures: number; atMs: number }

/** Returns the record of a finished resolution. */
function lastResolutionOf(
  resolution: Resolution,
  { source, hostAnswer, sharedFailures, atMs }: Ended,
  before: LastResolution | undefined,
): LastResolution {
  const { specKey, resolutionKey, desired } = resolution
  const fault = 'fault' in source ? source.fault : undefined
  const requestId = requestIdOf(desired)
  // Failures with another host or other credentials, or from before a request, do not count.
  const counted = before?.resolutionKey === resolutionKey && before.requestId === requestId ? before : undefined
  const isAwaited = requestId !== undefined || before?.commit === undefined
  const earlierFailures = isAwaited ? (counted?.earlierFailures ?? Math.max(0, sharedFailures - 1)) : 0
  return {
    specKey,
    resolutionKey,
    ref: desired.ref,
    requestId,
    atMs,
    commit: 'commit' in source ? source.commit : before?.commit,
    hostAnswer,
    // A GatewaySync that rarely polls counts shared failures too, and so backs off as long.
    failures: fault === undefined ? 0 : Math.max(1 + (counted?.failures ?? 0), sharedFailures - earlierFailures),
    earlierFailures,
    fault,
  }
}
