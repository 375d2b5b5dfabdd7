/**
 * What agents tell the leading replica of changes of their gateways: one of each GatewaySync at a time becomes a commit, equal ones become
 * one, and the next pass writes what became of them. Agents look when a request in the annotations or `on: Drift` makes them.
 */
import { deadline, pause, timestamp } from '../../clock.ts'
import type { TakenEdit } from '../../capture/accept.ts'
import { takeChanges } from '../../capture/take.ts'
import type { CaptureAnswer, CaptureOffer } from '../../delivery/protocol.ts'
import { asFault, Fault } from '../../fault.ts'
import { answers, captureBranch, isTooSoon } from '../../gatewaysync/decide/capture.ts'
import type { CaptureEntry } from '../../gatewaysync/schema/capture-spec.ts'
import type { GatewaySyncSpec } from '../../gatewaysync/schema/spec.ts'
import type { Log } from '../../log.ts'
import type { Store } from '../../reconcile/store.ts'
import { type GatewaySyncRecord, syncKey, type SyncKey } from '../../reconcile/records.ts'
import type { OpenHostApi } from '../../source/host-api.ts'
import { acceptOffer, type Asked, askedBy, isOver, waitingFor, type WorkDeps, workOf } from './asked-captures.ts'
import { type CaptureEntries, createCaptureEntries, failedForMs } from './capture-entries.ts'
import { createPullRequests, type PullRequests, type Pushed } from './pull-requests.ts'
import { specOf } from '../../reconcile/spec-of.ts'

/** One for each replica. */
export type Captures = {
  /** Undefined while this replica does not lead. Throws PayloadMalformed where the pod follows another profile than the offer tells. */
  offered(sync: { namespace: string; name: string }, pod: string, offer: CaptureOffer): CaptureAnswer | undefined
  /** What became of the changes of each gateway, of those that are not in the status yet. */
  known(key: SyncKey): readonly CaptureEntry[]
  /** Takes offers until the signal, which ends what is under way. `changed`: something new is known. */
  lead(changed: (key: SyncKey) => void, signal: AbortSignal): Promise<void>
}

type Deps = WorkDeps & {
  store: Store
  /** For pull requests. */
  hostApi: OpenHostApi
  /** Called with how each capture has ended. */
  captured(state: CaptureEntry['state']): void
  log: Log
}

/** `work`: the captures that are under way, one of a GatewaySync at most. */
type Term = { changed: (key: SyncKey) => void; signal: AbortSignal; work: Map<SyncKey, Promise<void>>; pullRequests: PullRequests }

const timeoutMs = 300_000
/** Captures under way at once, each of another GatewaySync; each may hold 3 MiB of contents and a process of git. */
const mostAtOnce = 3

/** Holds the changes of three gateways at most. */
export function createCaptures(deps: Deps): Captures {
  const { store, clock, log } = deps
  const entries = createCaptureEntries(clock, store, (key) => term?.changed(key))
  let term: Term | undefined

  const keep = ({ record }: Asked, told: CaptureEntry): void => {
    entries.note(record, told)
    deps.captured(told.state)
    const key = syncKey(record.namespace, record.name)
    if (term !== undefined) openWaiting(deps, term, key, entries.known(key))
  }
  const base = (asked: Asked, offer: CaptureOffer) => baseOf(asked, offer, timestamp(clock.now()))
  const fail = (asked: Asked, offer: CaptureOffer, error: unknown, branch?: string): CaptureEntry['state'] => {
    const { state, reason, message } = failureOf(asked, error, log)
    keep(asked, { ...base(asked, offer), changes: offer.digest, state, reason, message, ...(branch === undefined ? {} : { branch }) })
    return state
  }
  const take = async (asked: Asked, offer: CaptureOffer, edits: TakenEdit[], ending: AbortSignal): Promise<void> => {
    const signal = deadline(timeoutMs, ending)
    const { record, gateway } = asked
    const { namespace, name } = record
    const branch = captureBranch(asked.capture, gateway)
    try {
      if (branch === undefined || branch === asked.spec.git.ref)
        throw new Fault('PushRefused', `the name of gateway "${gateway}" makes no branch that spec.capture.branch could mean`)
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
      let edits: TakenEdit[] | undefined
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

/** Has the pull requests opened that entries wait for: of those that share a branch, that of the newest commit at the end, which counts. */
function openWaiting(deps: Deps, { pullRequests }: Term, key: SyncKey, entries: readonly CaptureEntry[]): void {
  const record = recordOf(deps.store, key)
  const spec = record === undefined ? undefined : specOf(record)
  if (record === undefined || spec?.capture === undefined) return
  const waiting = entries
    .filter(({ pullRequest }) => pullRequest?.state === 'Waiting')
    .toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at))
  for (const entry of waiting) pullRequests.open(key, pushedOf(deps, record, spec, entry))
}

/** Equal changes of several gateways have one branch, and one pull request. */
function openPullRequests(deps: Deps, entries: CaptureEntries, signal: AbortSignal): PullRequests {
  const ended = (key: SyncKey, { branch, commit }: CaptureEntry, pullRequest: NonNullable<CaptureEntry['pullRequest']>): void => {
    const record = recordOf(deps.store, key)
    if (record === undefined) return
    for (const entry of entries.of(key, record))
      if (entry.branch === branch && entry.commit === commit && entry.pullRequest !== undefined)
        entries.note(record, { ...entry, pullRequest })
  }
  const told = ({ namespace, name, entry }: Pushed, pullRequest: NonNullable<CaptureEntry['pullRequest']>): void =>
    ended(syncKey(namespace, name), entry, pullRequest)
  return createPullRequests({ ...deps, ended: told, waits: told }, signal)
}

function isBusy({ work }: Term, key: SyncKey): boolean {
  return work.has(key) || work.size >= mostAtOnce
}

/** What an entry tells of an offer, whatever becomes of it. */
function baseOf({ pod, gateway }: Asked, { request, files, commit: on, leftOut, leftOutFiles }: CaptureOffer, at: string) {
  return { pod, gateway, request, files, on, ...(leftOutFiles === 0 ? {} : { leftOut, leftOutFiles }), at }
}

/** What an entry tells of an error, which is logged. */
function failureOf({ record: { namespace, name }, pod }: Asked, error: unknown, log: Log) {
  const fault = asFault(error)
  const { reason, message } = fault
  if (reason === 'Unexpected') log.error({ namespace, name, pod, err: error }, 'a capture met a bug')
  else log.warn({ namespace, name, pod, reason, message }, 'local changes were not pushed')
  return { state: fault.retry === 'on-change' ? ('Refused' as const) : ('Failed' as const), reason, message }
}

function pushedOf(deps: Deps, record: GatewaySyncRecord, spec: GatewaySyncSpec, entry: CaptureEntry): Pushed {
  const { namespace, name } = record
  return { namespace, name, spec, entry, work: (signal) => workOf(deps, { record, spec }, signal) }
}
