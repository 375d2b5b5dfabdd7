/**
 * Which ref is wanted: the spec's, or the one that a push asked for. The rules of design section 3, "Wanted ref": a request wins until
 * spec.git.ref differs from the one it saw or its annotations are removed; a refused request changes nothing. No clocks are compared. Pure.
 */
import { type Reason } from '../fault.ts'
import { requestAnnotations } from './names.ts'
import type { GatewaySyncStatus, RequestOutcome } from './status.ts'
import { isRefName, type RefName } from './values.ts'

/** A push's request as it stands in the annotations of a GatewaySync. */
export type SyncRequest = { id: string; ref: RefName; specRef: string; by: string | undefined; at: string | undefined }

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
  return {
    kind: 'request',
    request: { id: known, ref, specRef: specRef ?? '', by: annotations[requestAnnotations.by], at: annotations[requestAnnotations.at] },
  }
}

/** The ref that is wanted, given the spec's, the annotations and what was decided before. */
export function wantedRef(specRef: RefName, annotations: Annotations, status: GatewaySyncStatus): Wanted {
  const parsed = parseRequest(annotations)
  const bySpec: Wanted = { ref: specRef, request: undefined, undecided: false }
  if (parsed.kind === 'none') return bySpec
  if (parsed.kind === 'request' && isOpen(parsed.request.specRef, specRef) && outcomeOf(status, parsed.request.id) === undefined) {
    return { ref: parsed.request.ref, request: parsed.request, undecided: true }
  }
  // Decided already: it holds as long as the status follows it. One that was refused, or that a change of the spec has ended, does not
  // come back when the spec returns to what the request saw; what was wanted before it stays wanted.
  const before = status.source?.requested
  if (before === undefined || !isOpen(before.specRef, specRef) || !isRefName(before.ref)) return bySpec
  return {
    ref: before.ref,
    request: { id: before.id, ref: before.ref, specRef: before.specRef, by: before.by, at: before.at },
    undecided: false,
  }
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

/** A request by hand may omit the spec's ref; then it stays open until its annotations go. */
function isOpen(seenSpecRef: string, specRef: string): boolean {
  return seenSpecRef === '' || seenSpecRef === specRef
}

function outcomeOf(status: GatewaySyncStatus, id: string): RequestOutcome['outcome'] | undefined {
  return status.requests?.find((request) => request.id === id)?.outcome
}
