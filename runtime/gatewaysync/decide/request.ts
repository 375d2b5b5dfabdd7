/**
 * Which ref is wanted: the spec's, or the one that a push asked for. A request wins until spec.git.ref differs from the one that it saw or its
 * annotations are removed; a refused request changes nothing. No clocks are compared. Pure.
 */
import { createHash } from 'node:crypto'
import type { Reason } from '../../fault.ts'
import { requestAnnotations } from '../names.ts'
import type { GatewaySyncStatus, RequestOutcome } from '../schema/status.ts'
import { isRefName, type RefName, shortRef } from '../values.ts'

/** A push's request as it stands in the annotations of a GatewaySync. */
export type SyncRequest = {
  id: string
  ref: RefName
  specRef: string
  by: string | undefined
  at: string | undefined
  /** Requests that this one superseded before they were answered; their callers are waiting too. */
  superseded?: readonly SupersededRequest[]
}

/** A request that another overtook; it still gets an outcome. */
export type SupersededRequest = { id: string; ref: string }

/** What the request annotations say. */
export type ParsedRequest =
  /** No request. `withdrawn`: requests whose annotation was removed before they were answered; their callers are waiting. */
  | { kind: 'none'; withdrawn: readonly SupersededRequest[] }
  | ({ kind: 'request'; request: SyncRequest } & Seen)
  /** Annotations that cannot be acted on; they get an outcome all the same. */
  | ({ kind: 'malformed'; id: string; message: string } & Seen)

/** `digest` identifies these request annotations; `isDecided`: they are the ones that were acted on last. */
type Seen = { digest: string; isDecided: boolean }

/** Annotations of an object, by their full names. */
export type Annotations = Readonly<Record<string, string>>

/** What is wanted now. `request` is set when a push asked for it; `undecided` when that request has no outcome yet. */
export type WantedRef = { ref: RefName; request: SyncRequest | undefined; undecided: boolean }

/** At most this many outcomes are kept in `status.requests`. */
export const keptRequests = 20
/** How many superseded requests the annotation names: fewer, so that all of them and the request itself fit among the outcomes. */
const keptSuperseded = 16
/** How many superseded requests may wait for the git host besides the newest; older ones are answered to make room for more. */
const mostWaiting = 8
const maxIdLength = 128

/**
 * Reads the request annotations. Any change of them is a new request, whoever made it: `status.requestDigest` remembers which ones were acted
 * on last. The receiver writes an id and binds it to the ref by an entry among the earlier requests. So an id that was left behind when
 * somebody annotated another ref by hand can be told from one that belongs to the request.
 */
export function parseRequest(annotations: Annotations, status: GatewaySyncStatus): ParsedRequest {
  const ref = annotations[requestAnnotations.ref]
  const entries = parseSuperseded(annotations[requestAnnotations.superseded] ?? '')
  if (ref === undefined) return { kind: 'none', withdrawn: entries.filter((entry) => outcomeOf(status, entry.id) === undefined) }
  const digest = digestOf(annotations)
  const isDecided = status.requestDigest === digest
  const id = (annotations[requestAnnotations.id] ?? '').slice(0, maxIdLength)
  const bound = entries.find((entry) => entry.id === id)
  const isBound = id !== '' && (bound === undefined || bound.ref === ref)
  const isOwn = isBound && (isDecided || outcomeOf(status, id) === undefined)
  const known = isOwn ? id : idByHand(ref, status)
  if (!isRefName(ref)) {
    const message = `annotation ${requestAnnotations.ref} is not a ref that git accepts`
    return { kind: 'malformed', id: known, message, digest, isDecided }
  }
  const superseded = entries.filter((entry) => entry.id !== id || !isBound)
  // The other annotations that an earlier request left behind do not belong to one by hand.
  const [specRef = '', by, at] = isOwn
    ? [annotations[requestAnnotations.specRef], annotations[requestAnnotations.by], annotations[requestAnnotations.at]]
    : []
  return {
    kind: 'request',
    request: { id: known, ref, specRef, by, at, ...(superseded.length > 0 ? { superseded } : {}) },
    digest,
    isDecided,
  }
}

function digestOf(annotations: Annotations): string {
  const { ref, id, at, by, specRef } = requestAnnotations
  const told = [ref, id, at, by, specRef].map((name) => annotations[name] ?? null)
  return createHash('sha256').update(JSON.stringify(told)).digest('hex').slice(0, 32)
}

/** The id of a request that has none: the first of `hand:<ref>`, `hand:<ref>.2`, … without an outcome. */
function idByHand(ref: string, status: GatewaySyncStatus): string {
  const base = `hand:${ref.replace(/[^\w.-]/g, '-')}`.slice(0, maxIdLength - 4)
  for (let count = 1; ; count += 1) {
    const id = count === 1 ? base : `${base}.${count}`
    if (outcomeOf(status, id) === undefined) return id
  }
}

/**
 * The value of the `earlier-requests` annotation for a new request (`written`). It names, oldest first, every request on the object without
 * an outcome, then those that were superseded before they were written, because the new request replaces the annotations of the previous one
 * and every caller waits for an outcome; last the new request itself, which binds its id to its ref.
 */
export function supersededBy(
  written: Annotations,
  annotations: Annotations,
  status: GatewaySyncStatus,
  superseded: readonly SupersededRequest[],
): string {
  const open = [...openRequests(annotations, status), ...superseded].filter(({ id }) => isCarried(id))
  const own = { id: written[requestAnnotations.id] ?? '', ref: written[requestAnnotations.ref] ?? '' }
  return [...open.slice(-keptSuperseded), own].map(entryOf).join(' ')
}

/** How many more requests the annotation can name besides those without an outcome; with more the oldest would never get one. */
export function freeRequestSlots(annotations: Annotations, status: GatewaySyncStatus): number {
  return Math.max(0, keptSuperseded - openRequests(annotations, status).length)
}

/** The requests without an outcome, oldest first. */
function openRequests(annotations: Annotations, status: GatewaySyncStatus): SupersededRequest[] {
  const parsed = parseRequest(annotations, status)
  if (parsed.kind === 'none') return [...parsed.withdrawn]
  if (parsed.kind !== 'request' || parsed.isDecided) return []
  return [...(parsed.request.superseded ?? []), parsed.request].filter(({ id }) => outcomeOf(status, id) === undefined)
}

function entryOf({ id, ref }: SupersededRequest): string {
  return `${id}=${ref}`
}

function parseSuperseded(text: string): SupersededRequest[] {
  return text
    .split(' ')
    .map((entry) => ({ id: entry.slice(0, Math.max(0, entry.indexOf('='))), ref: entry.slice(entry.indexOf('=') + 1) }))
    .filter(({ id, ref }) => isCarried(id) && isRefName(ref))
    .slice(-keptSuperseded - 1)
}

/** Whether an id can be named in the annotation. Ours, which are UUIDs, can; for other ids their authors are responsible. */
function isCarried(id: string): boolean {
  return /^[\w.:-]{1,128}$/.test(id)
}

/** The ref that is wanted, given the spec's, the annotations and what was decided before. */
export function wantedRef(specRef: RefName, annotations: Annotations, status: GatewaySyncStatus): WantedRef {
  const parsed = parseRequest(annotations, status)
  if (parsed.kind === 'none') return { ref: specRef, request: undefined, undecided: false }
  if (parsed.kind === 'request' && !parsed.isDecided && isOpen(parsed.request.specRef, specRef)) {
    return { ref: parsed.request.ref, request: parsed.request, undecided: true }
  }
  // A request that was refused, or ended by a change of the spec, does not revive when the spec returns to the ref that it saw.
  return standingRef(specRef, status)
}

/** What is wanted regardless of a request without an outcome: the ref of the request that the status follows while it lasts, else the spec's. */
export function standingRef(specRef: RefName, status: GatewaySyncStatus): WantedRef {
  const before = status.source?.requested
  if (before === undefined || !isOpen(before.specRef, specRef) || !isRefName(before.ref)) {
    return { ref: specRef, request: undefined, undecided: false }
  }
  return {
    ref: before.ref,
    request: { id: before.id, ref: before.ref, specRef: before.specRef, by: before.by, at: before.at },
    undecided: false,
  }
}

/**
 * Whether a request asks for the ref that is wanted already. Then the source follows the result, good or bad, whereas a refused request for
 * another ref changes nothing.
 */
export function isLook({ ref }: WantedRef, standing: WantedRef): boolean {
  return isSameRef(ref, standing.ref)
}

/**
 * Whether the published commit is an answer to the present spec: it comes from the spec's repository, and from its ref or the request that the
 * status follows. A spec that has just changed has no answer yet; a request without an outcome changes nothing. After a rollback the commit that
 * was rolled back counts: to go back from it is the answer to its ref.
 */
export function answersSpec(git: { repo: string; ref: string }, annotations: Annotations, status: GatewaySyncStatus): boolean {
  const published = status.rollout?.state === 'RolledBack' ? (status.rollout.refused ?? status.published) : status.published
  if (published === undefined || (published.repo !== undefined && published.repo !== git.repo)) return false
  const specRef = git.ref as RefName
  const wanted = wantedRef(specRef, annotations, status)
  return isSameRef(published.ref, (wanted.undecided ? standingRef(specRef, status) : wanted).ref)
}

/** `main` may stand for `refs/heads/main`; two full names are the same only when they are equal. */
export function isSameRef(a: string, b: string): boolean {
  return a === b || shortRef(a) === b || a === shortRef(b)
}

/** The digest to remember: that of the present request annotations once they have an outcome, until then the previous one. */
export function digestAfter(annotations: Annotations, before: GatewaySyncStatus, requests: readonly RequestOutcome[]): string | undefined {
  const parsed = parseRequest(annotations, before)
  if (parsed.kind === 'none') return undefined
  const id = parsed.kind === 'request' ? parsed.request.id : parsed.id
  return requests.some((outcome) => outcome.id === id) ? parsed.digest : before.requestDigest
}

/** How a request ended; `message` is cut to 1,024 characters. */
export type Answer = { outcome: RequestOutcome['outcome']; reason?: Reason; message?: string }

/** Adds an outcome to the last 20, newest last; a request that has one keeps it. */
export function recordOutcome(
  requests: readonly RequestOutcome[],
  request: { id: string; ref: string },
  answer: Answer,
  at: string,
): RequestOutcome[] {
  if (requests.some(({ id }) => id === request.id)) return [...requests]
  const outcome: RequestOutcome = { id: request.id, ref: request.ref, outcome: answer.outcome, at }
  if (answer.reason !== undefined) outcome.reason = answer.reason
  if (answer.message !== undefined) outcome.message = answer.message.slice(0, 1024)
  return [...requests, outcome].slice(-keptRequests)
}

/**
 * Records the outcome of a request and of those that it superseded: the same for the same ref, `Superseded` for any other.
 */
export function recordAnswer(requests: readonly RequestOutcome[], request: SyncRequest, answer: Answer, at: string): RequestOutcome[] {
  const superseded: Answer = { outcome: 'Superseded', message: 'a later request came before this one was looked at' }
  const before = (request.superseded ?? []).reduce<readonly RequestOutcome[]>(
    (known, one) => recordOutcome(known, one, one.ref === request.ref ? answer : superseded, at),
    requests,
  )
  return recordOutcome(before, request, answer, at)
}

/**
 * When more requests wait for the git host than may, answers the oldest as superseded: a slow host, or a stream of requests for ever new refs,
 * must not push any of them out of the annotation before it has an outcome.
 */
export function recordOverfull(requests: readonly RequestOutcome[], { superseded = [] }: SyncRequest, at: string): RequestOutcome[] {
  const open = superseded.filter(({ id }) => !requests.some((request) => request.id === id))
  const answer: Answer = { outcome: 'Superseded', message: 'later requests came before the git host answered' }
  return open.slice(0, -mostWaiting).reduce<RequestOutcome[]>((known, one) => recordOutcome(known, one, answer, at), [...requests])
}

/** Whether the spec's ref is still the one that the request saw. A request by hand may omit that; then it lasts until its annotations go. */
function isOpen(seenSpecRef: string, specRef: string): boolean {
  return seenSpecRef === '' || seenSpecRef === specRef
}

function outcomeOf(status: GatewaySyncStatus, id: string): RequestOutcome['outcome'] | undefined {
  return status.requests?.find((request) => request.id === id)?.outcome
}
