/**
 * Turns the capture offers of agents into commits on the leading replica: one at a time per GatewaySync, with equal offers combined; the
 * next reconcile writes the results. Agents make offers on a request in the annotations or with `trigger: Drift`.
 */
import { deadline, pause, timestamp } from '../../platform/clock.ts'
import type { AcceptedEdit } from '../../capture/submit/accept.ts'
import { takeChanges } from '../../capture/submit/take.ts'
import type { CaptureAnswer, CaptureOffer } from '../../content/protocol/protocol.ts'
import { FairLimiter } from '../../platform/async/fair-limiter.ts'
import { asFault, Fault } from '../../platform/fault.ts'
import { answers, captureBranch, isTooSoon } from '../../reconcile/decide/capture.ts'
import type { CaptureEntry } from '../../api/schema/capture-spec.ts'
import type { GatewaySyncSpec } from '../../api/schema/spec.ts'
import type { Log } from '../../platform/log/log.ts'
import type { Store } from '../../reconcile/store/store.ts'
import { type GatewaySyncRecord, parseSyncKey, syncKey, type SyncKey } from '../../reconcile/store/records.ts'
import type { OpenHostApi } from '../../git/api/host-api.ts'
import {
  acceptOffer,
  type RequestedCapture,
  requestOf,
  followedBranch,
  isOver,
  waitingFor,
  type WorkDeps,
  workOf,
} from './requested-captures.ts'
import { CaptureEntries, failedForMs } from './capture-entries.ts'
import { createPullRequests, type PullRequests, type Pushed } from './pull-requests.ts'
import { specOf } from '../../api/schema/spec-of.ts'

type Deps = WorkDeps & {
  store: Store
  /** For pull requests. */
  hostApi: OpenHostApi
  /** Called with the result of each capture. */
  captured(state: CaptureEntry['state']): void
  log: Log
}

/** `work`: running captures, at most one per GatewaySync. */
type Term = { changed: (key: SyncKey) => void; signal: AbortSignal; work: Map<SyncKey, Promise<void>>; pullRequests: PullRequests }

const timeoutMs = 300_000
/** A capture in the reserve that takes this long fails, and is repeated outside it. */
const slowAfterMs = 30_000
/**
 * Concurrent captures, each of another GatewaySync; each may hold 3 MiB of contents and a git process. A slow git host holds one for minutes:
 * namespaces whose last capture was slow get one slot each, two in total, and leave two to the others.
 */
export const captureSlots = { total: 4, reserve: 1, perKey: 2, slowAfterMs } as const

/** The captures of one replica. Holds the changes of at most four gateways. */
export class Captures {
  readonly #deps: Deps
  readonly #entries: CaptureEntries
  readonly #slots: FairLimiter
  #term: Term | undefined

  constructor(deps: Deps) {
    this.#deps = deps
    this.#slots = new FairLimiter({ ...captureSlots, clock: deps.clock })
    this.#entries = new CaptureEntries(deps, (key) => this.#term?.changed(key))
  }

  /** Answers an offer; undefined while this replica does not lead. Throws PayloadMalformed if the pod follows another profile than the offer names. */
  offered({ namespace, name }: { namespace: string; name: string }, pod: string, offer: CaptureOffer): CaptureAnswer | undefined {
    const term = this.#term
    if (term === undefined) return undefined
    const requested = requestOf(this.#deps.store, { namespace, name }, pod, offer)
    if (requested === undefined) return { answer: 'done' }
    const key = syncKey(namespace, name)
    const known = this.#entries.of(key, requested.record)
    const answer = this.#answerOf(known, key, requested, offer) ?? this.#answerWithout(known, requested, offer)
    if (answer !== undefined) return { answer }
    let edits: AcceptedEdit[] | undefined
    try {
      edits = acceptOffer(requested, offer)
    } catch (error) {
      return { answer: this.#fail(requested, offer, error) === 'Refused' ? 'done' : 'later' }
    }
    const { work, signal } = term
    if (work.has(key) || !this.#slots.isFree({ tenant: namespace })) return { answer: 'later' }
    if (edits === undefined) return { answer: 'send' }
    const slot = this.#slots.tryAcquire({ tenant: namespace })
    if (slot === undefined) return { answer: 'later' }
    const own = deadline(slot.isReserve ? slowAfterMs : timeoutMs, signal)
    const captured = this.#capture(requested, { ...offer, changes: undefined }, edits, { signal: own, ending: signal })
    const end = (): void => {
      slot.release()
      work.delete(key)
    }
    work.set(key, captured.finally(end))
    return { answer: 'later' }
  }

  /** Returns the capture results that are not in the status yet. */
  known(key: SyncKey): readonly CaptureEntry[] {
    return this.#entries.known(key)
  }

  /** Accepts offers until `signal` aborts, which also cancels running captures. `changed`: a result is new. */
  async lead(changed: (key: SyncKey) => void, signal: AbortSignal): Promise<void> {
    const { store, clock } = this.#deps
    const own: Term = { changed, signal, work: new Map(), pullRequests: openPullRequests(this.#deps, this.#entries, signal) }
    this.#term = own
    this.#entries.clear()
    while (!signal.aborted) {
      for (const record of store.syncs()) {
        const key = syncKey(record.namespace, record.name)
        openWaiting(this.#deps, own, key, this.#entries.of(key, record))
      }
      await pause(clock, failedForMs, signal)
      this.#entries.prune()
    }
    this.#term = undefined
    await Promise.all([...own.work.values(), own.pullRequests.settled()])
  }

  /** Returns the answer that the gateway's last entry, or its age, gives; undefined: the offer is new. */
  #answerOf(known: readonly CaptureEntry[], key: SyncKey, requested: RequestedCapture, offer: CaptureOffer): 'done' | 'later' | undefined {
    const now = this.#deps.clock.now()
    const last = known.find((entry) => entry.pod === requested.pod)
    if (last !== undefined && answers(last, offer)) {
      if (last.state !== 'Failed') return 'done'
      return this.#entries.isResting(key, requested.pod) ? 'later' : undefined
    }
    if (last !== undefined && isTooSoon(last, offer, requested.capture, now.epochMilliseconds)) return 'later'
    return isOver(requested.record, offer.request, now) ? 'done' : undefined
  }

  /** Answers an offer that does not need its own commit: one without files, or with changes that another gateway has pushed. */
  #answerWithout(known: readonly CaptureEntry[], requested: RequestedCapture, offer: CaptureOffer): 'done' | undefined {
    if (offer.files === 0) {
      this.#keep(requested, { ...this.#base(requested, offer), state: 'Nothing' })
      return 'done'
    }
    const isSame = ({ state, request, changesDigest, baseCommit }: CaptureEntry): boolean =>
      state === 'Pushed' && request === offer.request && changesDigest === offer.digest && baseCommit === offer.commit
    const { branch, commit } = known.find(isSame) ?? {}
    if (branch === undefined || commit === undefined) return undefined
    this.#keep(requested, {
      ...this.#base(requested, offer),
      changesDigest: offer.digest,
      state: 'Pushed',
      branch,
      commit,
      ...waitingFor(requested),
    })
    return 'done'
  }

  async #capture(
    requested: RequestedCapture,
    offer: CaptureOffer,
    edits: AcceptedEdit[],
    { signal, ending }: { signal: AbortSignal; ending: AbortSignal },
  ): Promise<void> {
    const { record, gateway } = requested
    const { namespace, name } = record
    const branch = captureBranch(requested.capture, gateway)
    try {
      if (branch === undefined || branch === followedBranch(requested.record, requested.spec))
        throw new Fault('PushRefused', `spec.capture.branch does not give a valid branch name for gateway "${gateway}"`)
      const origin = { gateway, mode: offer.mode, commit: offer.commit, owner: `${namespace}/${name}/${requested.pod}` }
      const taken = await takeChanges(await workOf(this.#deps, requested, signal), { ...origin, branch, edits }, signal)
      this.#keep(requested, {
        ...this.#base(requested, offer),
        changesDigest: offer.digest,
        state: 'Pushed',
        ...taken,
        ...waitingFor(requested),
      })
      this.#deps.log.info({ namespace, name, pod: requested.pod, commit: taken.commit, ref: taken.branch }, 'local changes were pushed')
    } catch (error) {
      if (!ending.aborted) this.#fail(requested, offer, error, branch)
    }
  }

  #fail(requested: RequestedCapture, offer: CaptureOffer, error: unknown, branch?: string): CaptureEntry['state'] {
    const { state, reason, message } = failureOf(requested, error, this.#deps.log)
    const failed = { ...this.#base(requested, offer), changesDigest: offer.digest, state, reason, message }
    this.#keep(requested, { ...failed, ...(branch === undefined ? {} : { branch }) })
    return state
  }

  /** Returns the fields common to all results of an offer. */
  #base({ pod, gateway }: RequestedCapture, { request, files, commit: baseCommit, skipped, skippedFiles }: CaptureOffer) {
    const at = timestamp(this.#deps.clock.now())
    return { pod, gateway, request, files, baseCommit, ...(skippedFiles === 0 ? {} : { skipped, skippedFiles }), at }
  }

  #keep({ record }: RequestedCapture, reported: CaptureEntry): void {
    this.#entries.note(record, reported)
    this.#deps.captured(reported.state)
    const key = syncKey(record.namespace, record.name)
    if (this.#term !== undefined) openWaiting(this.#deps, this.#term, key, this.#entries.known(key))
  }
}

function recordOf(store: Store, key: SyncKey): GatewaySyncRecord | undefined {
  const { namespace, name } = parseSyncKey(key)
  return store.sync(namespace, name)
}

/** Requests the pull requests that entries wait for. Of those that share a branch, the newest commit comes last and wins. */
function openWaiting(deps: Deps, { pullRequests }: Term, key: SyncKey, entries: readonly CaptureEntry[]): void {
  const record = recordOf(deps.store, key)
  const spec = specOf(record)
  if (record === undefined || spec?.capture === undefined) return
  const waiting = entries
    .filter(({ pullRequest }) => pullRequest?.state === 'Waiting')
    .toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at))
  for (const entry of waiting) pullRequests.open(key, pushedOf(deps, record, spec, entry))
}

/** Equal changes of several gateways share a branch and a pull request. */
function openPullRequests(deps: Deps, entries: CaptureEntries, signal: AbortSignal): PullRequests {
  const ended = (key: SyncKey, { branch, commit }: CaptureEntry, pullRequest: NonNullable<CaptureEntry['pullRequest']>): void => {
    const record = recordOf(deps.store, key)
    if (record === undefined) return
    for (const entry of entries.of(key, record))
      if (entry.branch === branch && entry.commit === commit && entry.pullRequest !== undefined)
        entries.note(record, { ...entry, pullRequest })
  }
  const reported = ({ namespace, name, entry }: Pushed, pullRequest: NonNullable<CaptureEntry['pullRequest']>): void =>
    ended(syncKey(namespace, name), entry, pullRequest)
  return createPullRequests({ ...deps, ended: reported, waits: reported }, signal)
}

/** Logs an error and returns the failure for the entry. */
function failureOf({ record: { namespace, name }, pod }: RequestedCapture, error: unknown, log: Log) {
  const fault = asFault(error)
  const { reason, message } = fault
  if (reason === 'Unexpected') log.error({ namespace, name, pod, err: error }, 'capture failed unexpectedly')
  else log.warn({ namespace, name, pod, reason, message }, 'local changes were not pushed')
  return { state: fault.retry === 'on-change' ? ('Refused' as const) : ('Failed' as const), reason, message }
}

function pushedOf(deps: Deps, record: GatewaySyncRecord, spec: GatewaySyncSpec, entry: CaptureEntry): Pushed {
  const { namespace, name } = record
  return { namespace, name, spec, base: followedBranch(record, spec), entry, work: (signal) => workOf(deps, { record, spec }, signal) }
}
