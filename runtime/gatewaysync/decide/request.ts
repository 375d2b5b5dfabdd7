/**
 * Which ref is wanted: the spec's, or the one that a push asked for. The rules of design section 3, "WantedRef ref": a request wins until
 * spec.git.ref differs from the one it saw or its annotations are removed; a refused request changes nothing. No clocks are compared. Pure.
 */
import { createHash } from 'node:crypto'
import { type Reason } from '../../fault.ts'
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
  /** Those that it superseded before anyone answered them: their callers wait too. */
  superseded?: readonly SupersededRequest[]
}

export type SupersededRequest = { id: string; ref: string }

export type ParsedRequest =
  /** Nothing is asked for. `withdrawn`: somebody took the ref away before these were answered, and their callers wait. */
  | { kind: 'none'; withdrawn: readonly SupersededRequest[] }
  | ({ kind: 'request'; request: SyncRequest } & Seen)
  /** Annotations that nobody could act on; they are answered all the same. */
  | ({ kind: 'malformed'; id: string; message: string } & Seen)

/** `digest` tells these request annotations from any others; `isDecided`: they are those that were acted on last. */
type Seen = { digest: string; isDecided: boolean }

export type Annotations = Readonly<Record<string, string>>

/** What is wanted now. `request` is set when a push asked for it; `undecided` when that request has no outcome yet. */
export type WantedRef = { ref: RefName; request: SyncRequest | undefined; undecided: boolean }

/** At most this many outcomes are kept in `status.requests`. */
export const keptRequests = 20
/** Fewer, so that all of them and the request itself find room among the outcomes. */
const keptSuperseded = 16
/** So many wait for the git host beside the newest; the others make room for those to come. */
const mostWaiting = 8
const maxIdLength = 128

/**
 * Reads the request annotations. Any change of them is a new request, whoever made it: `status.requestDigest` remembers which ones were
 * acted on last. The receiver writes an id of its own and binds it to the ref by an entry among the earlier requests, so that an id that
 * was left behind when somebody annotated another ref by hand is told from one that belongs to the request.
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
  // What else a former request has left behind says nothing about one by hand.
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

/** A name for a request that brings none of its own: the first of `hand:<ref>`, `hand:<ref>.2`, … that has no outcome yet. */
function idByHand(ref: string, status: GatewaySyncStatus): string {
  const base = `hand:${ref.replace(/[^\w.-]/g, '-')}`.slice(0, maxIdLength - 4)
  for (let count = 1; ; count += 1) {
    const id = count === 1 ? base : `${base}.${count}`
    if (outcomeOf(status, id) === undefined) return id
  }
}

/**
 * The value of the `earlier-requests` annotation that a new request (`written`) is written with: each request that the object still names
 * without an outcome, then those that were superseded before they were written, oldest first, because the new request replaces the
 * annotations of the one before it and every caller waits for an outcome; and last the new request itself, which binds its id to its ref.
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

/** How many more requests the annotation can name beside those without an outcome; beyond that the oldest would never get one. */
export function freeRequestSlots(annotations: Annotations, status: GatewaySyncStatus): number {
  return Math.max(0, keptSuperseded - openRequests(annotations, status).length)
}

/** Those without an outcome, oldest first. */
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

/** Ids of ours are UUIDs; one that was made up by hand is its maker's to look after. */
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
  // One that was refused, or that a change of the spec has ended, does not come back when the spec returns to what the request saw.
  return standingRef(specRef, status)
}

/** What is wanted apart from a request that has no outcome yet: the request that the status follows, as long as it lasts, else the spec's. */
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
 * Whether a request asks for what is wanted already. Such a request is a look at it: the source follows what is found, be it good or bad,
 * whereas a request for another ref that is refused changes nothing.
 */
export function isLook({ ref }: WantedRef, standing: WantedRef): boolean {
  return isSameRef(ref, standing.ref)
}

/**
 * Whether the published commit answers what is asked for now: it is of the spec's repository, and of its ref or of the request that the
 * status follows. A spec that has just changed has no answer yet, and a request without an outcome changes nothing.
 */
export function answersSpec(git: { repo: string; ref: string }, annotations: Annotations, status: GatewaySyncStatus): boolean {
  const { published } = status
  if (published === undefined || (published.repo !== undefined && published.repo !== git.repo)) return false
  const specRef = git.ref as RefName
  const wanted = wantedRef(specRef, annotations, status)
  return isSameRef(published.ref, (wanted.undecided ? standingRef(specRef, status) : wanted).ref)
}

/** `main` may stand for `refs/heads/main`; two full names are the same only when they are equal. */
export function isSameRef(a: string, b: string): boolean {
  return a === b || shortRef(a) === b || a === shortRef(b)
}

/** The digest to remember: of the present request annotations once they have an outcome. */
export function digestAfter(annotations: Annotations, before: GatewaySyncStatus, requests: readonly RequestOutcome[]): string | undefined {
  const parsed = parseRequest(annotations, before)
  if (parsed.kind === 'none') return undefined
  const id = parsed.kind === 'request' ? parsed.request.id : parsed.id
  return requests.some((outcome) => outcome.id === id) ? parsed.digest : before.requestDigest
}

export type Answer = { outcome: RequestOutcome['outcome']; reason?: Reason; message?: string }

/** Adds an outcome to the list of the last requests, newest last; a request is answered once. */
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
 * Records what became of a request and of those that it superseded: the same outcome for the same ref, `Superseded` for any other.
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
 * Answers the oldest of more requests than may wait for the git host as superseded by those that came after them: a slow host, or a stream
 * that always asks for another ref, must not push any of them out before it has an outcome.
 */
export function recordOverfull(requests: readonly RequestOutcome[], { superseded = [] }: SyncRequest, at: string): RequestOutcome[] {
  const open = superseded.filter(({ id }) => !requests.some((request) => request.id === id))
  const answer: Answer = { outcome: 'Superseded', message: 'later requests came before the git host answered' }
  return open.slice(0, -mostWaiting).reduce<RequestOutcome[]>((known, one) => recordOutcome(known, one, answer, at), [...requests])
}

/** A request by hand may omit the spec's ref; then it stays open until its annotations go. */
function isOpen(seenSpecRef: string, specRef: string): boolean {
  return seenSpecRef === '' || seenSpecRef === specRef
}

function outcomeOf(status: GatewaySyncStatus, id: string): RequestOutcome['outcome'] | undefined {
  return status.requests?.find((request) => request.id === id)?.outcome
}
