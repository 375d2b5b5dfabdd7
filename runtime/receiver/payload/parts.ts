/**
 * What the calls of git hosts have in common: headers with delivery ids, and bodies with pushes, refs and repositories. Pure.
 */
import type { Move as RefMove } from '../../reconcile/decide/request-outcomes.ts'
import type { requestingEvents } from '../../api/names.ts'
import type { FollowedRef } from '../../api/followed-ref.ts'
import { isFullRef, isRefName, shortRef } from '../../api/values.ts'
import { isObject } from '../../platform/text/json.ts'

/** The kind of an event: a push matters only for the desired ref, every other event requests its own ref. */
export type Event = (typeof requestingEvents)[number]

/** A repository named in a body. */
export type NamedRepository = {
  /** Clone URLs and web addresses; one match is enough. */
  urls: readonly string[]
  /** `owner/name`, for a body without a URL; for Bitbucket Data Center the project key and repository slug. */
  path: string | undefined
  /** Whether its path is case-insensitive, as for every host with its own event format. */
  ignoresCase: boolean
  /** Its default branch, short or full; undefined if the body does not name it. */
  defaultBranch?: string
}

/**
 * One ref that a call names: a `FullRef` if a git host sends it; a generic call or notification may give a short name; HEAD if it names
 * none and means the followed ref. `move`: the hashes before and after a push, as the host writes them. `repository`: its repository.
 */
export type NamedRef = { ref: FollowedRef; event: Event; move?: RefMove; repository?: NamedRepository }

/** What the body of a call requests. */
export type Payload =
  /** `others`: further refs that the same call moved, in order. */
  | ({ kind: 'ref'; others?: readonly NamedRef[] } & NamedRef)
  | { kind: 'ping' }
  /** A recognized call that requests nothing. */
  | { kind: 'ignored'; reason: 'Deletion' | 'Draft' | 'OtherAction' | 'OtherEvent' | 'UnusableRef' }
  | { kind: 'invalidRef'; ref: string }
  | { kind: 'unrecognized' }

/** A JSON object. */
export type Members = Readonly<Record<string, unknown>>

/** A family of git hosts with the same format. */
export type Host = {
  name: string
  /** For docs/how-to/webhooks, in Markdown: the header that authenticates, the one that names the event, what is read. */
  shown: { authentication: string; event: string; read: string }
  /** The event as the host names it, in lower case; undefined: the call is from another host. */
  event(headers: Headers, body: Members): string | undefined
  read(event: string, body: Members): Payload
}

/** An event without a ref to follow. */
export const otherEvent: Payload = { kind: 'ignored', reason: 'OtherEvent' }

/** Reads the format that GitHub introduced and most hosts copied: `ref`, `before`, `after`. */
export function pushed(body: Members): Payload {
  const { ref } = body
  if (typeof ref !== 'string' || ref === '') return { kind: 'unrecognized' }
  if (isDeletion(body)) return { kind: 'ignored', reason: 'Deletion' }
  const named = refOf(ref, pushOf(ref))
  return named.kind === 'ref' ? { ...named, ...moveOf({ before: textAt(body, ['before']), after: textAt(body, ['after']) }) } : named
}

function moveOf({ before, after }: { before?: string | undefined; after?: string | undefined }): Pick<NamedRef, 'move'> {
  return before === undefined || after === undefined ? {} : { move: { before, after } }
}

/** A release requests its tag when it is published: no draft, edit or deletion. `published` is the host's term for it. */
export function released({ action, release, tag }: Members, published = 'published'): Payload {
  const name = isObject(release) ? release['tag_name'] : tag
  if (isObject(release) && release['draft'] === true) return { kind: 'ignored', reason: 'Draft' }
  if (action !== undefined && action !== published) return { kind: 'ignored', reason: 'OtherAction' }
  return typeof name === 'string' && name !== '' ? refOf(name, 'release') : { kind: 'unrecognized' }
}

/** One ref that a call with a list moved, with the hashes before and after. */
export type Move = { ref: string; event: 'push' | 'tag-push'; deleted: boolean; before?: string | undefined; after?: string | undefined }

/** Returns each ref of a list that is not deleted. Undefined entries name no ref; hosts send empty lists too. */
export function movesOf(moves: readonly (Move | undefined)[]): Payload {
  const known = moves.filter((move) => move !== undefined)
  const kept = known.filter(({ deleted, ref }) => !deleted && !isHead(ref))
  const refs = kept.flatMap(({ ref, event, ...hashes }) => {
    const named = namedRefOrUndefined(ref, event)
    return named === undefined ? [] : [{ ...named, ...moveOf(hashes) }]
  })
  const [first, ...others] = refs
  if (first !== undefined) return { kind: 'ref', ...first, ...(others.length > 0 ? { others } : {}) }
  if (kept[0] !== undefined) return { kind: 'invalidRef', ref: kept[0].ref }
  return known.some(({ deleted }) => deleted) ? { kind: 'ignored', reason: 'Deletion' } : otherEvent
}

/** Requests the ref that a text names; `invalidRef` if git would reject it, `ignored` for HEAD. */
export function refOf(text: string, event: Event): Payload {
  if (isHead(text)) return { kind: 'ignored', reason: 'UnusableRef' }
  const named = namedRefOrUndefined(text, event)
  return named === undefined ? { kind: 'invalidRef', ref: text } : { kind: 'ref', ...named }
}

/** HEAD moves with the default branch, which the call names too. */
function isHead(ref: string): boolean {
  return shortRef(ref) === 'HEAD'
}

/** Whether a body reports that its ref was deleted, with or without hashes. */
export function isDeletion({ after, deleted }: Members): boolean {
  return deleted === true || isZero(after)
}

/** Returns the event kind of a push to a full ref. */
export function pushOf(ref: string): 'push' | 'tag-push' {
  return ref.startsWith('refs/tags/') ? 'tag-push' : 'push'
}

/** Whether a hash is git's null object name. */
export function isZero(hash: unknown): boolean {
  return typeof hash === 'string' && /^0+$/.test(hash)
}

/** Returns the text at a path of members; undefined if absent or empty. */
export function textAt(value: unknown, path: readonly string[]): string | undefined {
  const found = valueAt(value, path)
  return typeof found === 'string' && found !== '' ? found : undefined
}

/** Returns the list at a path of members; empty if there is none. */
export function listAt(value: unknown, path: readonly string[]): readonly unknown[] {
  const found = valueAt(value, path)
  return Array.isArray(found) ? found : []
}

/** Returns the value at a path of members; undefined if absent. */
export function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((at, name) => (isObject(at) && Object.hasOwn(at, name) ? at[name] : undefined), value)
}

/** Some hosts omit `refs/heads/` or `refs/tags/` when the event implies it. */
const prefixes: Partial<Record<Event, string>> = { push: 'refs/heads/', 'tag-push': 'refs/tags/', release: 'refs/tags/' }

function namedRefOrUndefined(text: string, event: Event): NamedRef | undefined {
  // The short name is checked too, because people and programs use it: `-x` is not a valid branch name.
  if (!isRefName(shortRef(text))) return undefined
  const ref = isFullRef(text) ? text : `${prefixes[event] ?? ''}${text}`
  return isRefName(ref) ? { ref, event } : undefined
}

/** Headers by lower-case name. */
export type Headers = Readonly<Record<string, string | undefined>>

/** X-Gitlab-Event-UUID is not included: it does not identify calls, as events with one cause share it. */
const callIdHeaders = [
  'x-github-delivery',
  'x-gitea-delivery',
  'x-forgejo-delivery',
  'x-gogs-delivery',
  'idempotency-key',
  'x-request-uuid',
  'webhook-id',
]
const maxIdLength = 128

/** Returns the host's id of this call and its repeats, cut to 128 characters, or undefined. */
export function callId(headers: Headers): string | undefined {
  const [id] = callIdHeaders.flatMap((name) => idIn(headers[name]) ?? [])
  return id ?? cloudEventId(headers)
}

/** CloudEvents ids are unique only together with `source` (CloudEvents 1.0, `id`). */
function cloudEventId(headers: Headers): string | undefined {
  const [source, id] = [idIn(headers['ce-source']), idIn(headers['ce-id'])]
  return source === undefined || id === undefined ? undefined : JSON.stringify([source, id])
}

function idIn(value: string | undefined): string | undefined {
  return value === undefined || value === '' ? undefined : value.slice(0, maxIdLength)
}
