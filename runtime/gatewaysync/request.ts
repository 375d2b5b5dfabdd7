/**
 * Which ref is wanted: the spec's, or the one that a push asked for. The rules of design section 3, "Wanted ref": a request wins until
 * spec.git.ref differs from the one it saw or its annotations are removed; a refused request changes nothing. No clocks are compared. Pure.
 */
import { type Reason } from '../fault.ts'
import { requestAnnotations } from './names.ts'
import type { GatewaySyncStatus, RequestOutcome } from './status.ts'
import { isRefName, type RefName, shortRef } from './values.ts'

/** A push's request as it stands in the annotations of a GatewaySync. */
export type SyncRequest = {
  id: string
  ref: RefName
  specRef: string
  by: string | undefined
  at: string | undefined
  /** Those that it overtook before anyone answered them: their callers wait too. */
  earlier?: readonly EarlierRequest[]
}

export type EarlierRequest = { id: string; ref: string }

export type ParsedRequest =
  | { kind: 'none' }
  | { kind: 'request'; request: SyncRequest }
  /** Annotations that nobody could act on; `id` is given where there is one to acknowledge. */
  | { kind: 'malformed'; id: string | undefined; message: string }

export type Annotations = Readonly<Record<string, string>>

/** What is wanted now. `request` is set when a push asked for it; `undecided` when that request has no outcome yet. */
export type Wanted = { ref: RefName; request: SyncRequest | undefined; undecided: boolean }

/** At most this many outcomes are kept in `status.requests`. */
export const keptRequests = 20
/** Fewer, so that all of them and the request itself find room among the outcomes. */
const keptEarlier = 16

/** Reads the request annotations; a request without id or with an impossible ref is malformed. */
export function parseRequest(annotations: Annotations): ParsedRequest {
  const ref = annotations[requestAnnotations.ref]
  const id = annotations[requestAnnotations.id]
  if (ref === undefined) return { kind: 'none' }
  // People annotate by hand too: without an id the ref itself tells two requests apart.
  const known = id === undefined || id === '' ? `ref:${ref}`.slice(0, 128) : id.slice(0, 128)
  if (!isRefName(ref))
    return { kind: 'malformed', id: known, message: `annotation ${requestAnnotations.ref} is not a ref that git accepts` }
  const specRef = annotations[requestAnnotations.specRef]
  const earlier = parseEarlier(annotations[requestAnnotations.earlier] ?? '')
  return {
    kind: 'request',
    request: {
      id: known,
      ref,
      specRef: specRef ?? '',
      by: annotations[requestAnnotations.by],
      at: annotations[requestAnnotations.at],
      ...(earlier.length > 0 ? { earlier } : {}),
    },
  }
}

/**
 * What a new request writes into the annotation of earlier ones: each that was asked for and has no outcome yet, `more` last. The new one
 * replaces the annotations of the one before it, whose caller waits all the same. Null: there is none.
 */
export function carriedOver(annotations: Annotations, status: GatewaySyncStatus, more: readonly EarlierRequest[]): string | null {
  const open = [...openRequests(annotations, status), ...more].filter(({ id }) => isCarried(id))
  return open.length === 0 ? null : open.slice(-keptEarlier).map(entryOf).join(' ')
}

/** How many requests can be carried on besides those that have no outcome yet; with more, the oldest would never get one. */
export function roomForRequests(annotations: Annotations, status: GatewaySyncStatus): number {
  return Math.max(0, keptEarlier - openRequests(annotations, status).length)
}

/** Those without an outcome, oldest first. */
function openRequests(annotations: Annotations, status: GatewaySyncStatus): EarlierRequest[] {
  const parsed = parseRequest(annotations)
  if (parsed.kind !== 'request') return []
  return [...(parsed.request.earlier ?? []), parsed.request].filter(({ id }) => outcomeOf(status, id) === undefined)
}

function entryOf({ id, ref }: EarlierRequest): string {
  return `${id}=${ref}`
}

function parseEarlier(text: string): EarlierRequest[] {
  return text
    .split(' ')
    .map((entry) => ({ id: entry.slice(0, Math.max(0, entry.indexOf('='))), ref: entry.slice(entry.indexOf('=') + 1) }))
    .filter(({ id, ref }) => isCarried(id) && isRefName(ref))
    .slice(-keptEarlier)
}

/** Ids of ours are UUIDs; one that was made up by hand is its maker's to look after. */
function isCarried(id: string): boolean {
  return /^[\w.:-]{1,128}$/.test(id)
}

/** The ref that is wanted, given the spec's, the annotations and what was decided before. */
export function wantedRef(specRef: RefName, annotations: Annotations, status: GatewaySyncStatus): Wanted {
  const parsed = parseRequest(annotations)
  if (parsed.kind === 'none') return { ref: specRef, request: undefined, undecided: false }
  if (parsed.kind === 'request' && isOpen(parsed.request.specRef, specRef) && outcomeOf(status, parsed.request.id) === undefined) {
    return { ref: parsed.request.ref, request: parsed.request, undecided: true }
  }
  // One that was refused, or that a change of the spec has ended, does not come back when the spec returns to what the request saw.
  return standingRef(specRef, status)
}

/** What is wanted apart from a request that has no outcome yet: the request that the status follows, as long as it lasts, else the spec's. */
function standingRef(specRef: RefName, status: GatewaySyncStatus): Wanted {
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
export function isLook(ref: RefName, specRef: RefName, status: GatewaySyncStatus): boolean {
  return isSameRef(ref, standingRef(specRef, status).ref)
}

/** `main` may stand for `refs/heads/main`; two full names are the same only when they are equal. */
export function isSameRef(a: string, b: string): boolean {
  return a === b || shortRef(a) === b || a === shortRef(b)
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
 * Records what became of a request and of those that it overtook: for the same ref the same, for another that a later one came first.
 */
export function recordAnswer(requests: readonly RequestOutcome[], request: SyncRequest, answer: Answer, at: string): RequestOutcome[] {
  const overtaken: Answer = { outcome: 'Superseded', message: 'a later request came before this one was looked at' }
  const earlier = (request.earlier ?? []).reduce<readonly RequestOutcome[]>(
    (known, one) => recordOutcome(known, one, one.ref === request.ref ? answer : overtaken, at),
    requests,
  )
  return recordOutcome(earlier, request, answer, at)
}

/** A request by hand may omit the spec's ref; then it stays open until its annotations go. */
function isOpen(seenSpecRef: string, specRef: string): boolean {
  return seenSpecRef === '' || seenSpecRef === specRef
}

function outcomeOf(status: GatewaySyncStatus, id: string): RequestOutcome['outcome'] | undefined {
  return status.requests?.find((request) => request.id === id)?.outcome
}
