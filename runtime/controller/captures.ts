/**
 * What agents tell the leading replica of changes of their gateways: one of each GatewaySync at a time becomes a commit, equal ones become
 * one, and the next pass writes what became of them. Only a request in the annotations makes anybody look.
 */
import { type Clock, deadline, pause, timestamp } from '../clock.ts'
import { acceptChanges, type TakenEdit } from '../capture/accept.ts'
import { takeChanges } from '../capture/take.ts'
import type { CaptureAnswer, CaptureOffer } from '../delivery/protocol.ts'
import { requirePublished } from '../delivery/published.ts'
import { asFault, Fault } from '../fault.ts'
import type { IsolatedGate } from '../gate/isolate.ts'
import { captureBranch, captureRequest, concerns, gatewayNameOf } from '../gatewaysync/decide/capture.ts'
import { resolveProfile } from '../gatewaysync/decide/profile.ts'
import { podAnnotations } from '../gatewaysync/names.ts'
import { type CaptureEntry, cutToFit } from '../gatewaysync/schema/capture-spec.ts'
import type { GatewaySyncSpec } from '../gatewaysync/schema/spec.ts'
import type { CommitHash } from '../gatewaysync/values.ts'
import type { Log } from '../log.ts'
import type { SyncMirrors } from '../reconcile/mirrors-of-syncs.ts'
import { publishedCommits } from '../reconcile/needed-commits.ts'
import type { Store } from '../reconcile/store.ts'
import { type GatewaySyncRecord, syncKey, type SyncKey } from '../reconcile/records.ts'
import type { RemoteOf } from '../source/remotes.ts'
import { specOf } from './spec-of.ts'

/** One for each replica. */
export type Captures = {
  /** Undefined while this replica does not lead. Throws PayloadMalformed where the pod follows another profile than the offer tells. */
  offered(sync: { namespace: string; name: string }, pod: string, offer: CaptureOffer): CaptureAnswer | undefined
  /** What became of the changes of each gateway, of those that are not in the status yet. */
  known(key: SyncKey): readonly CaptureEntry[]
  /** Takes offers until the signal, which ends what is under way. `changed`: something new is known. */
  lead(changed: (key: SyncKey) => void, signal: AbortSignal): Promise<void>
}

type Deps = {
  store: Store
  mirrors: SyncMirrors
  remoteOf: RemoteOf
  gate: Pick<IsolatedGate, 'check'>
  /** Called with how each capture has ended. */
  captured(state: CaptureEntry['state']): void
  clock: Clock
  log: Log
}

type Asked = {
  record: GatewaySyncRecord
  spec: GatewaySyncSpec
  capture: NonNullable<GatewaySyncSpec['capture']>
  pod: string
  gateway: string
}
/** `work`: the captures that are under way, one of a GatewaySync at most. */
type Term = { changed: (key: SyncKey) => void; signal: AbortSignal; work: Map<SyncKey, Promise<void>> }

/** A capture that failed for a passing reason is tried again after this long. */
const failedForMs = 60_000
const timeoutMs = 300_000
/** So long after a request was first seen a gateway may begin to answer it. */
const answeredWithinMs = 3_600_000
/** Captures under way at once, each of another GatewaySync; each may hold 3 MiB of contents and a process of git. */
const mostAtOnce = 3
const plainCredential = 'plain-credential'

/** Holds the changes of three gateways at most. */
export function createCaptures(deps: Deps): Captures {
  const { store, clock, log } = deps
  /** By GatewaySync and pod. `untilMs`: until then a failure is not tried again. */
  const results = new Map<SyncKey, Map<string, { entry: CaptureEntry; untilMs: number }>>()
  let term: Term | undefined

  const keep = (key: SyncKey, told: CaptureEntry): void => {
    const entry = cutToFit(told)
    const own = results.get(key) ?? new Map<string, { entry: CaptureEntry; untilMs: number }>()
    results.set(key, own)
    own.set(entry.pod, { entry, untilMs: entry.state === 'Failed' ? clock.monotonicMs() + failedForMs : Infinity })
    deps.captured(entry.state)
    term?.changed(key)
  }
  const base = (asked: Asked, offer: CaptureOffer) => baseOf(asked, offer, timestamp(clock.now()))
  const entriesOf = (key: SyncKey, { status }: GatewaySyncRecord): CaptureEntry[] => {
    const fresh = [...(results.get(key)?.values() ?? [])].map(({ entry }) => entry)
    const pods = new Set(fresh.map(({ pod }) => pod))
    return [...fresh, ...(status.capture?.gateways ?? []).filter(({ pod }) => !pods.has(pod))]
  }
  const fail = (key: SyncKey, asked: Asked, offer: CaptureOffer, error: unknown, branch?: string): CaptureEntry['state'] => {
    const { state, reason, message } = failureOf(asked, error, log)
    keep(key, { ...base(asked, offer), changes: offer.digest, state, reason, message, ...(branch === undefined ? {} : { branch }) })
    return state
  }
  const take = async (key: SyncKey, asked: Asked, offer: CaptureOffer, edits: TakenEdit[], ending: AbortSignal): Promise<void> => {
    const signal = deadline(timeoutMs, ending)
    const { record, gateway } = asked
    const { namespace, name } = record
    const branch = captureBranch(asked.capture, gateway)
    try {
      if (branch === undefined || branch === asked.spec.git.ref)
        throw new Fault('PushRefused', `the name of gateway "${gateway}" makes no branch that spec.capture.branch could mean`)
      const origin = { gateway, mode: offer.mode, commit: offer.commit, owner: `${namespace}/${name}/${asked.pod}` }
      const taken = await takeChanges(await workOf(deps, asked, signal), { ...origin, branch, edits }, signal)
      keep(key, { ...base(asked, offer), changes: offer.digest, state: 'Pushed', ...taken })
      log.info({ namespace, name, pod: asked.pod, commit: taken.commit, ref: taken.branch }, 'local changes were pushed')
    } catch (error) {
      if (!ending.aborted) fail(key, asked, offer, error, branch)
    }
  }

  return {
    known: (key) => [...(results.get(key)?.values() ?? [])].map(({ entry }) => entry),
    offered({ namespace, name }, pod, offer) {
      if (term === undefined) return undefined
      const key = syncKey(namespace, name)
      const asked = askedBy(store, { namespace, name }, pod, offer)
      if (asked === undefined) return { answer: 'done' }
      const entries = entriesOf(key, asked.record)
      const own = entries.find((entry) => entry.pod === pod && entry.request === offer.request)
      const failed = results.get(key)?.get(pod)
      if (own !== undefined && own.state !== 'Failed') return { answer: 'done' }
      if (own !== undefined && (failed?.untilMs ?? 0) > clock.monotonicMs()) return { answer: 'later' }
      if (own === undefined && isOver(asked.record, offer.request, clock.now())) return { answer: 'done' }
      if (offer.files === 0) {
        keep(key, { ...base(asked, offer), state: 'Nothing' })
        return { answer: 'done' }
      }
      const same = entries.find(
        ({ state, request, changes, on }) =>
          state === 'Pushed' && request === offer.request && changes === offer.digest && on === offer.commit,
      )
      if (same?.branch !== undefined && same.commit !== undefined) {
        keep(key, { ...base(asked, offer), changes: offer.digest, state: 'Pushed', branch: same.branch, commit: same.commit })
        return { answer: 'done' }
      }
      let edits: TakenEdit[] | undefined
      try {
        edits = acceptOffer(asked, offer)
      } catch (error) {
        return { answer: fail(key, asked, offer, error) === 'Refused' ? 'done' : 'later' }
      }
      if (isBusy(term, key)) return { answer: 'later' }
      if (edits === undefined) return { answer: 'send' }
      const { work, signal } = term
      work.set(
        key,
        take(key, asked, { ...offer, changes: undefined }, edits, signal).finally(() => work.delete(key)),
      )
      return { answer: 'later' }
    },
    async lead(changed, signal) {
      const own: Term = { changed, signal, work: new Map() }
      term = own
      results.clear()
      while (!signal.aborted) {
        await pause(clock, failedForMs, signal)
        for (const key of results.keys()) {
          const [namespace = '', name = ''] = key.split('/')
          if (store.sync(namespace, name) === undefined) results.delete(key)
        }
      }
      term = undefined
      await Promise.all(own.work.values())
    },
  }
}

function isBusy({ work }: Term, key: SyncKey): boolean {
  return work.has(key) || work.size >= mostAtOnce
}

/**
 * The edits that an offer holds; undefined where it holds none yet. Throws CommitNotPublished, UnknownProfile, PayloadMalformed and
 * PayloadTooLarge.
 */
function acceptOffer({ record, spec }: Asked, { commit, profile, changes, digest }: CaptureOffer): TakenEdit[] | undefined {
  const commits = new Set<string>(publishedCommits(record.status))
  requirePublished({ commits, hasProfile: (named) => Object.hasOwn(spec.sync.profiles, named) }, commit, profile)
  return changes === undefined ? undefined : acceptChanges(changes, digest, resolveProfile(spec.sync, profile))
}

/** Whether a request is so old that whoever asked no longer waits for gateways that have not answered: a pod may come weeks later. */
function isOver({ status: { capture } }: GatewaySyncRecord, request: string, now: Temporal.Instant): boolean {
  if (capture?.request !== request || capture.at === undefined) return false
  return now.epochMilliseconds - Date.parse(capture.at) > answeredWithinMs
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

/** Whose changes are asked for; undefined: nobody asks this gateway for them now. */
function askedBy(
  store: Store,
  { namespace, name }: { namespace: string; name: string },
  pod: string,
  offer: CaptureOffer,
): Asked | undefined {
  const record = store.sync(namespace, name)
  const spec = record === undefined ? undefined : specOf(record)
  const capture = spec?.capture
  if (record === undefined || spec === undefined || capture === undefined || !capture.enabled) return undefined
  const request = captureRequest(record.annotations)
  const annotations = store.pod(namespace, pod)?.annotations ?? {}
  const gateway = gatewayNameOf({ name: pod, annotations })
  if (request === undefined || request.id !== offer.request || !concerns(request, { pod, gateway })) return undefined
  if ((annotations[podAnnotations.profile] ?? 'default') !== offer.profile)
    throw new Fault('PayloadMalformed', `pod "${pod}" does not follow profile "${offer.profile}"`)
  return { record, spec, capture, pod, gateway }
}

/** What a commit is made, checked and pushed with. */
async function workOf({ mirrors, remoteOf, gate, clock }: Deps, { record, spec, capture }: Asked, signal: AbortSignal) {
  const { namespace, name } = record
  const mirror = await mirrors.of({ namespace, name, spec }, signal)
  return {
    mirror,
    clock,
    pushAs: (own: AbortSignal) => remoteOf(namespace, { ...spec.git, auth: capture.auth }, own),
    check: (commit: CommitHash, own: AbortSignal) => {
      const { policy, rules } = spec.validation
      const request = {
        profiles: Object.keys(spec.sync.profiles).map((profile) => resolveProfile(spec.sync, profile)),
        // A credential in a branch stays in the history of the repository, whatever the policy says of commits that people made.
        validation: { policy: policy === 'Off' ? ('Warn' as const) : policy, rules: { ...rules, [plainCredential]: 'error' as const } },
        modesInUse: undefined,
        commit,
        line: `${spec.git.repo} ${spec.git.ref}`,
      }
      return mirror.readBy(commit, (repository) => gate.check(repository, request, false, own), own)
    },
  }
}
