/**
 * Determines the desired ref: the spec's, or the one that a push requested. A request is in effect until spec.git.ref differs from the one
 * it saw or its annotations are removed; a refused request changes nothing. No clocks are compared. Pure.
 */
import { createHash } from 'node:crypto'
import {
  type FollowedMembers,
  type FollowedRef,
  followedRef,
  isFollowedRef,
  isTagSelector,
  newestTag,
  selects,
} from '../../api/followed-ref.ts'
import { requestAnnotations, tagEvents } from '../../api/names.ts'
import type { GatewaySyncStatus, RequestOutcome } from '../../api/schema/status.ts'
import { type FullRef, isFullRef, shortRef } from '../../api/values.ts'
import { isFinal, type Move, outcomeOf, type SupersededRequest, type SyncRequest } from './request-outcomes.ts'

/** The parsed request annotations. */
export type ParsedRequest =
  /** No request. `withdrawn`: requests whose annotation was removed before they were answered; their callers are waiting. */
  | { kind: 'none'; withdrawn: readonly SupersededRequest[] }
  | ({ kind: 'request'; request: SyncRequest } & Seen)
  /** Invalid annotations; they get an outcome too. */
  | ({ kind: 'malformed'; id: string; message: string } & Seen)

/** `digest` identifies these request annotations; `isDecided`: they were handled already. */
type Seen = { digest: string; isDecided: boolean }

/** Annotations of an object, by their full names. */
export type Annotations = Readonly<Record<string, string>>

/**
 * The desired ref: the requested one, or the spec's selector when a pushed tag triggers a new resolution. `request` is set when a push
 * requested it; `undecided` while that request has no outcome.
 */
export type DesiredRef = { ref: FollowedRef; request: SyncRequest | undefined; undecided: boolean }
/** Maximum number of superseded requests in the annotation: fewer, so that they and the request itself fit among the outcomes. */
const keptSuperseded = 16
const maxIdLength = 128

/**
 * Reads the request annotations. Any change of them is a new request; `status.requestDigest` identifies the ones handled last. The receiver
 * writes an id and binds it to the ref by an entry among the earlier requests. This distinguishes the request's own id from one left behind
 * when another ref was annotated by hand.
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
  if (!isFollowedRef(ref)) {
    const message = `annotation ${requestAnnotations.ref} is not a ref that git accepts`
    return { kind: 'malformed', id: known, message, digest, isDecided }
  }
  const superseded = entries.filter((entry) => entry.id !== id || !isBound)
  // A manual request ignores the other annotations that an earlier request left behind.
  const [specRef = '', by, at] = isOwn
    ? [annotations[requestAnnotations.specRef], annotations[requestAnnotations.by], annotations[requestAnnotations.at]]
    : []
  const move = isOwn ? parseMove(annotations[requestAnnotations.move]) : undefined
  return {
    kind: 'request',
    request: {
      id: known,
      ref,
      specRef,
      by,
      at,
      ...(move === undefined ? {} : { move }),
      ...(superseded.length > 0 ? { superseded } : {}),
    },
    digest,
    isDecided,
  }
}

function parseMove(text = ''): Move | undefined {
  const [, before, after] = /^([0-9a-f]{40,64})\.\.([0-9a-f]{40,64})$/.exec(text) ?? []
  return before === undefined || after === undefined ? undefined : { before, after }
}

/** Returns the annotation value that `parseMove` reads; undefined if the move is unknown. */
export function moveText({ before, after }: Move = { before: '', after: '' }): string | undefined {
  const text = `${before}..${after}`
  return parseMove(text) === undefined ? undefined : text
}

/** A git host's answer: the full ref name and the objects it points at. */
type HostRef = { name: string; commit: string; tag: string | undefined }

/**
 * Whether the git host does not serve an announced push yet: the ref still has its value from before the push or one that this GatewaySync
 * already knows (earlier pushes may be unknown too), or the pushed tag would be newer than the newest one.
 */
export function isBehind(desired: DesiredRef, { name, commit, tag }: HostRef, status: GatewaySyncStatus): boolean {
  if (desired.request === undefined || !desired.undecided) return false
  const { ref, move } = desired.request
  // A call without a tag requests the selector itself, so nothing can be missing on the host.
  if (isTagSelector(desired.ref)) return !isTagSelector(ref) && name !== ref && newestTag(desired.ref, [name, ref]) === ref
  const found = [commit, tag]
  if (move === undefined || found.includes(move.after)) return false
  const { source } = status
  return found.includes(move.before) || (source?.commit !== undefined && isSameRef(source.ref, ref) && found.includes(source.commit))
}

function digestOf(annotations: Annotations): string {
  const { ref, id, at, by, specRef } = requestAnnotations
  const parts = [ref, id, at, by, specRef].map((name) => annotations[name] ?? null)
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32)
}

/** The id of a request without one: the first of `hand:<ref>`, `hand:<ref>.2`, … without an outcome. */
function idByHand(ref: string, status: GatewaySyncStatus): string {
  const base = `hand:${ref.replace(/[^\w.-]/g, '-')}`.slice(0, maxIdLength - 4)
  for (let count = 1; ; count += 1) {
    const id = count === 1 ? base : `${base}.${count}`
    if (outcomeOf(status, id) === undefined) return id
  }
}

/**
 * Returns the `earlier-requests` annotation for a new request (`written`). It names, oldest first, every open request on the object, then
 * those superseded before they were written (the new request replaces the previous annotations, and every caller waits for an outcome), and
 * last the new request itself, which binds its id to its ref.
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

/** How many more requests the annotation can name besides the open ones; with more, the oldest would never get an outcome. */
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
    .filter(({ id, ref }) => isCarried(id) && isFollowedRef(ref))
    .slice(-keptSuperseded - 1)
}

/**
 * Whether an id can be named in the annotation. The receiver's ids, which are UUIDs, can; authors of other ids are responsible for theirs.
 */
function isCarried(id: string): boolean {
  return /^[\w.:-]{1,128}$/.test(id)
}

/** Returns the desired ref, given the spec's, the annotations and earlier decisions. */
export function desiredRef(specRef: FollowedRef, annotations: Annotations, status: GatewaySyncStatus): DesiredRef {
  const parsed = parseRequest(annotations, status)
  if (parsed.kind === 'none') return { ref: specRef, request: undefined, undecided: false }
  if (parsed.kind === 'request' && !parsed.isDecided && isOpen(parsed.request.specRef, specRef)) {
    return { ref: followedBy(parsed.request, specRef), request: parsed.request, undecided: true }
  }
  // A request that was refused, or ended by a spec change, does not revive when the spec returns to the ref it saw.
  return standingRef(specRef, status)
}

/** Returns the desired ref without the open request: that of the request the status follows, else the spec's. */
export function standingRef(specRef: FollowedRef, status: GatewaySyncStatus): DesiredRef {
  const before = status.source?.requested
  if (before === undefined || !isOpen(before.specRef, specRef) || !isFollowedRef(before.ref)) {
    return { ref: specRef, request: undefined, undecided: false }
  }
  const request = { id: before.id, ref: before.ref, specRef: before.specRef, by: before.by, at: before.at }
  return { ref: followedBy(request, specRef), request, undecided: false }
}

/** A pushed or released tag that matches the spec's selector triggers a new resolution; any other request is for its own ref. */
function followedBy({ ref, by }: SyncRequest, specRef: FollowedRef): FollowedRef {
  return isTagEvent(by) && isTagSelector(specRef) && selects(specRef, ref) ? specRef : ref
}

/** Whether a request or event is about a pushed or released tag. */
export function isTagEvent(event: string | undefined): boolean {
  return (tagEvents as readonly (string | undefined)[]).includes(event)
}

/**
 * Whether a request names the ref that is desired already. Then the source follows the result, good or bad, whereas a refused request for
 * another ref changes nothing.
 */
export function isRecheck({ ref }: DesiredRef, standing: DesiredRef, status: GatewaySyncStatus): boolean {
  return ref === standing.ref || isSameRef(ref, resolvedRefOf(standing.ref, status) ?? standing.ref)
}

/** Returns the full name of the branch or tag that `ref` resolved to; undefined while unknown, and for a hash. */
export function resolvedRefOf(ref: FollowedRef, { source }: GatewaySyncStatus): FullRef | undefined {
  if (isFullRef(ref)) return ref
  const { resolvedRef } = source?.ref === ref ? source : {}
  return resolvedRef !== undefined && isFullRef(resolvedRef) ? resolvedRef : undefined
}

/**
 * Whether the published commit answers the present spec: it comes from the spec's repository, and from its ref or the request that the
 * status follows. A changed spec has no answer yet; an open request changes nothing. After a rollback the rolled-back commit counts: the
 * rollback is the answer to its ref.
 */
export function answersSpec(git: { repo: string } & FollowedMembers, annotations: Annotations, status: GatewaySyncStatus): boolean {
  const published = status.rollout?.state === 'RolledBack' ? (status.rollout.refused ?? status.published) : status.published
  if (published === undefined || (published.repo !== undefined && published.repo !== git.repo)) return false
  const specRef = followedRef(git)
  const desired = desiredRef(specRef, annotations, status)
  return isSameRef(published.specRef ?? published.ref, (desired.undecided ? standingRef(specRef, status) : desired).ref)
}

/** Whether a request names `spec.git.ref`, by that name or by the full name it resolved to. */
export function isSpecRef(ref: FollowedRef, specRef: FollowedRef, status: GatewaySyncStatus): boolean {
  return ref === specRef || (isSameRef(ref, specRef) && ref === (resolvedRefOf(specRef, status) ?? status.source?.ref))
}

/** Whether two names may mean the same ref: `main` may mean `refs/heads/main`; two full names must be equal. */
export function isSameRef(a: string, b: string): boolean {
  return a === b || shortRef(a) === b || a === shortRef(b)
}

/** Returns the digest to store: that of the present annotations once they have an outcome, until then the previous one. */
export function digestAfter(annotations: Annotations, before: GatewaySyncStatus, requests: readonly RequestOutcome[]): string | undefined {
  const parsed = parseRequest(annotations, before)
  if (parsed.kind === 'none') return undefined
  const id = parsed.kind === 'request' ? parsed.request.id : parsed.id
  return requests.some((outcome) => outcome.id === id && isFinal(outcome)) ? parsed.digest : before.requestDigest
}

/**
 * Whether the spec's ref is still the one the request saw. A manual request may omit it; then it lasts until its annotations are removed.
 */
function isOpen(seenSpecRef: string, specRef: string): boolean {
  return seenSpecRef === '' || seenSpecRef === specRef
}
