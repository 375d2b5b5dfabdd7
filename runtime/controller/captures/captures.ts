/**
 * Turns the capture offers of agents into commits on the leading replica: one at a time per GatewaySync, with equal offers combined; the
 * next reconcile writes the results. Agents make offers on a request in the annotations or with `trigger: Drift`.
 */
import { type Clock, deadline, pause, timestamp } from '../../platform/clock.ts'
import type { AcceptedEdit } from '../../capture/submit/accept.ts'
import { takeChanges } from '../../capture/submit/take.ts'
import type { CaptureAnswer, CaptureOffer } from '../../content/protocol/protocol.ts'
import { asFault, Fault } from '../../platform/fault.ts'
import { answers, captureBranch, isTooSoon, ofRepository } from '../../reconcile/decide/capture.ts'
import { type CaptureEntry, cutToFit } from '../../api/schema/capture-spec.ts'
import type { GatewaySyncSpec } from '../../api/schema/spec.ts'
import type { Log } from '../../platform/log/log.ts'
import type { Store } from '../../reconcile/store/store.ts'
import { type GatewaySyncRecord, syncKey, type SyncKey } from '../../reconcile/store/records.ts'
import type { OpenHostApi } from '../../git/api/host-api.ts'
import { acceptOffer, type Asked, askedBy, followedBranch, isOver, waitingFor, type WorkDeps, workOf } from './asked-captures.ts'
import { createPullRequests, type PullRequests, type Pushed } from './pull-requests.ts'
import { specOf } from '../../reconcile/store/spec-of.ts'

/** One per replica. */
export type Captures = {
  /** Undefined while this replica does not lead. Throws PayloadMalformed if the pod follows another profile than the offer names. */
  offered(sync: { namespace: string; name: string }, pod: string, offer: CaptureOffer): CaptureAnswer | undefined
  /** Returns the capture results that are not in the status yet. */
  known(key: SyncKey): readonly CaptureEntry[]
  /** Accepts offers until `signal` aborts, which also cancels running captures. `changed`: a result is new. */
  lead(changed: (key: SyncKey) => void, signal: AbortSignal): Promise<void>
}

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
/** Concurrent captures, each of another GatewaySync; each may hold 3 MiB of contents and a git process. */
const maxAtOnce = 3
/** The rest is left to other namespaces, because a slow git host holds a capture for minutes. */
const maxAtOnceOfNamespace = 2

/** Holds the changes of at most three gateways. */
export function createCaptures(deps: Deps): Captures {
  const { store, clock, log } = deps
  const entries = createCaptureEntries(clock, store, (key) => term?.changed(key))
  let term: Term | undefined

  const keep = ({ record }: Asked, reported: CaptureEntry): void => {
    entries.note(record, reported)
    deps.captured(reported.state)
    const key = syncKey(record.namespace, record.name)
    if (term !== undefined) openWaiting(deps, term, key, entries.known(key))
  }
  const base = (asked: Asked, offer: CaptureOffer) => baseOf(asked, offer, timestamp(clock.now()))
  const fail = (asked: Asked, offer: CaptureOffer, error: unknown, branch?: string): CaptureEntry['state'] => {
    const { state, reason, message } = failureOf(asked, error, log)
    keep(asked, { ...base(asked, offer), changes: offer.digest, state, reason, message, ...(branch === undefined ? {} : { branch }) })
    return state
  }
  const take = async (asked: Asked, offer: CaptureOffer, edits: AcceptedEdit[], ending: AbortSignal): Promise<void> => {
    const signal = deadline(timeoutMs, ending)
    const { record, gateway } = asked
    const { namespace, name } = record
    const branch = captureBranch(asked.capture, gateway)
    try {
      if (branch === undefined || branch === followedBranch(asked.record, asked.spec))
        throw new Fault('PushRefused', `the name of gateway "${gateway}" gives no valid name of a branch for spec.capture.branch`)
      const origin = { gateway, mode: offer.mode, commit: offer.commit, owner: `${namespace}/${name}/${asked.pod}` }
      const taken = await takeChanges(await workOf(deps, asked, signal), { ...origin, branch, edits }, signal)
      keep(asked, { ...base(asked, offer), changes: offer.digest, state: 'Pushed', ...taken, ...waitingFor(asked) })
      log.info({ namespace, name, pod: asked.pod, commit: taken.commit, ref: taken.branch }, 'local changes were pushed')
    } catch (error) {
      if (!ending.aborted) fail(asked, offer, error, branch)
    }
  }

  return {
    known: entries.known,
    offered({ namespace, name }, pod, offer) {
      if (term === undefined) return undefined
      const key = syncKey(namespace, name)
      const asked = askedBy(store, { namespace, name }, pod, offer)
      if (asked === undefined) return { answer: 'done' }
      const known = entries.of(key, asked.record)
      const last = known.find((entry) => entry.pod === pod)
      const own = last !== undefined && answers(last, offer) ? last : undefined
      if (own !== undefined && own.state !== 'Failed') return { answer: 'done' }
      if (own !== undefined && entries.isResting(key, pod)) return { answer: 'later' }
      if (own === undefined && last !== undefined && isTooSoon(last, offer, asked.capture, clock.now().epochMilliseconds))
        return { answer: 'later' }
      if (own === undefined && isOver(asked.record, offer.request, clock.now())) return { answer: 'done' }
      if (offer.files === 0) {
        keep(asked, { ...base(asked, offer), state: 'Nothing' })
        return { answer: 'done' }
      }
      const isSame = ({ state, request, changes, on }: CaptureEntry): boolean =>
        state === 'Pushed' && request === offer.request && changes === offer.digest && on === offer.commit
      const { branch, commit } = known.find(isSame) ?? {}
      if (branch !== undefined && commit !== undefined) {
        keep(asked, { ...base(asked, offer), changes: offer.digest, state: 'Pushed', branch, commit, ...waitingFor(asked) })
        return { answer: 'done' }
      }
      let edits: AcceptedEdit[] | undefined
      try {
        edits = acceptOffer(asked, offer)
      } catch (error) {
        return { answer: fail(asked, offer, error) === 'Refused' ? 'done' : 'later' }
      }
      if (isBusy(term, key)) return { answer: 'later' }
      if (edits === undefined) return { answer: 'send' }
      const { work, signal } = term
      work.set(
        key,
        take(asked, { ...offer, changes: undefined }, edits, signal).finally(() => work.delete(key)),
      )
      return { answer: 'later' }
    },
    async lead(changed, signal) {
      const own: Term = { changed, signal, work: new Map(), pullRequests: openPullRequests(deps, entries, signal) }
      term = own
      entries.clear()
      while (!signal.aborted) {
        for (const record of store.syncs()) {
          const key = syncKey(record.namespace, record.name)
          openWaiting(deps, own, key, entries.of(key, record))
        }
        await pause(clock, failedForMs, signal)
        entries.prune()
      }
      term = undefined
      await Promise.all([...own.work.values(), own.pullRequests.settled()])
    },
  }
}

function recordOf(store: Store, key: SyncKey): GatewaySyncRecord | undefined {
  const [namespace = '', name = ''] = key.split('/')
  return store.sync(namespace, name)
}

/** Requests the pull requests that entries wait for. Of those that share a branch, the newest commit comes last and wins. */
function openWaiting(deps: Deps, { pullRequests }: Term, key: SyncKey, entries: readonly CaptureEntry[]): void {
  const record = recordOf(deps.store, key)
  const spec = record === undefined ? undefined : specOf(record)
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

function isBusy({ work }: Term, key: SyncKey): boolean {
  const namespaceOf = (one: SyncKey): string | undefined => one.split('/')[0]
  const own = [...work.keys()].filter((one) => namespaceOf(one) === namespaceOf(key))
  return work.has(key) || work.size >= maxAtOnce || own.length >= maxAtOnceOfNamespace
}

/** Returns the fields common to all results of an offer. */
function baseOf({ pod, gateway }: Asked, { request, files, commit: on, leftOut, leftOutFiles }: CaptureOffer, at: string) {
  return { pod, gateway, request, files, on, ...(leftOutFiles === 0 ? {} : { leftOut, leftOutFiles }), at }
}

/** Logs an error and returns the failure for the entry. */
function failureOf({ record: { namespace, name }, pod }: Asked, error: unknown, log: Log) {
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

/** By GatewaySync and pod. A recreated GatewaySync, or one with another repository, does not inherit entries. */
type CaptureEntries = {
  /** Replaces the entry of the pod. `about`: the GatewaySync as it was when the entry was created. */
  note(about: GatewaySyncRecord, reported: CaptureEntry): void
  /** In the order in which the commits were recorded. */
  known(key: SyncKey): readonly CaptureEntry[]
  /** Returns the status entries of other pods, followed by the known ones. */
  of(key: SyncKey, record: GatewaySyncRecord): CaptureEntry[]
  /** Whether a failure of this pod is too recent to try again. */
  isResting(key: SyncKey, pod: string): boolean
  clear(): void
  /** Drops the entries of deleted GatewaySyncs. */
  prune(): void
}

/** Retry delay after a temporary failure. */
const failedForMs = 60_000

/** `changed`: the status of the GatewaySync must be written. */
function createCaptureEntries(clock: Clock, store: Pick<Store, 'sync'>, changed: (key: SyncKey) => void): CaptureEntries {
  const results = new Map<SyncKey, Known>()
  const present = (key: SyncKey): Known | undefined => {
    const known = results.get(key)
    return known !== undefined && known.subject === subjectOf(store.sync(known.namespace, known.name)) ? known : undefined
  }
  const known = (key: SyncKey): CaptureEntry[] => [...(present(key)?.pods.values() ?? [])].map(({ entry }) => entry)
  return {
    known,
    note(about, reported) {
      const { namespace, name } = about
      const subject = subjectOf(about)
      if (subject !== subjectOf(store.sync(namespace, name))) return
      const key = syncKey(namespace, name)
      const entry = cutToFit(reported)
      const own: Known = present(key) ?? { namespace, name, subject, pods: new Map() }
      results.set(key, own)
      if (own.pods.get(entry.pod)?.entry.commit !== entry.commit) own.pods.delete(entry.pod)
      own.pods.set(entry.pod, { entry, untilMs: entry.state === 'Failed' ? clock.monotonicMs() + failedForMs : Infinity })
      changed(key)
    },
    of(key, record) {
      const fresh = known(key)
      const pods = new Set(fresh.map(({ pod }) => pod))
      const reported = ofRepository(record.status.capture, specOf(record)?.git.repo)
      return [...(reported?.gateways ?? []).filter(({ pod }) => !pods.has(pod)), ...fresh]
    },
    isResting: (key, pod) => (present(key)?.pods.get(pod)?.untilMs ?? 0) > clock.monotonicMs(),
    clear: () => results.clear(),
    prune() {
      for (const key of results.keys()) if (present(key) === undefined) results.delete(key)
    },
  }
}

/** The entries of one GatewaySync. `untilMs`: when a failure may be retried. */
type Known = { namespace: string; name: string; subject: string | undefined; pods: Map<string, { entry: CaptureEntry; untilMs: number }> }

/** Distinguishes a GatewaySync from a later one of its name, and from itself with another repository. */
function subjectOf(record: GatewaySyncRecord | undefined): string | undefined {
  return record === undefined ? undefined : `${record.uid} ${specOf(record)?.git.repo ?? ''}`
}
